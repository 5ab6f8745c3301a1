"""What all objectives share, and what a classifier offers because of its own."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from torch import nn

from cusal.errors import CusalError, InvalidInput, UnknownName
from cusal.models import Augmented, CrossEntropy, Energy, Objective, TorchClassifier, Training, Uncalibrated, objectives
from cusal.models.networks import SmallNet

X, Y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32).reshape(-1, 1, 8, 8)
ALL = [objectives.find(name)() for name in objectives.names()]


def make(objective, **settings):
    return TorchClassifier(
        SmallNet(64, 10, hidden=8), objective=objective, **{"epochs": 1, "random_state": 0} | settings
    )


@dataclass(frozen=True)
class Smoothed(Objective):
    """An objective of a user's own: cross entropy with smoothed labels."""

    amount: float = 0.1

    def start(self, model, data):
        return SmoothedTraining(self.amount)


class SmoothedTraining(Training):
    """One fit, which counts its batches."""

    def __init__(self, amount):
        self.amount, self.batches = amount, 0

    def loss(self, module, items, labels):
        self.batches += 1
        return nn.functional.cross_entropy(module(items), labels, label_smoothing=self.amount)

    def fitted(self, model):
        return {"batches_": self.batches}


def test_a_classifier_offers_exactly_what_its_objective_offers():
    offered = {
        type(objective): [
            name for name in ("scoring_proba", "scoring_embed", "energy") if hasattr(make(objective), name)
        ]
        for objective in (CrossEntropy(), Energy(), Augmented())
    }
    assert offered == {CrossEntropy: [], Energy: ["energy"], Augmented: ["scoring_proba", "scoring_embed"]}
    assert [make(o).uses_unlabelled for o in (CrossEntropy(), Energy(), Augmented())] == [False, True, True]
    assert not hasattr(Uncalibrated(make(Energy())), "scoring_proba")
    assert hasattr(Uncalibrated(make(Augmented())), "scoring_proba")
    model = make(CrossEntropy()).set_params(objective=Augmented())
    assert hasattr(model, "scoring_proba")


@pytest.mark.parametrize("objective", ALL, ids=lambda objective: type(objective).__name__)
def test_settings_can_be_listed_changed_and_cloned(objective):
    model = make(objective)
    params = model.get_params()
    assert params["objective"] is objective
    assert {name for name in params if name.startswith("objective__")} == {
        f"objective__{name}" for name in objective.get_params()
    }
    assert clone(model).objective == objective
    assert clone(Uncalibrated(model)).model.objective == objective
    with pytest.raises(UnknownName, match="setting of"):
        model.set_params(objective__nonsense=1)


def test_changing_a_nested_setting_leaves_other_classifiers_alone():
    shared = Energy()
    one, other = make(shared), make(shared)
    one.set_params(objective__sampling_steps=7, epochs=4)
    Uncalibrated(other).set_params(model__objective__buffer_size=9)
    assert (one.objective.sampling_steps, one.epochs, shared.sampling_steps) == (7, 4, 3)
    assert other.objective == Energy(buffer_size=9)
    with pytest.raises(InvalidInput, match="sampling_steps is 0"):
        one.set_params(objective__sampling_steps=0)
    assert one.objective.sampling_steps == 7


@pytest.mark.parametrize("objective", ALL, ids=lambda objective: type(objective).__name__)
def test_an_objective_never_changes(objective):
    for name in objective.get_params():
        with pytest.raises(FrozenInstanceError):
            setattr(objective, name, 1)
    assert hash(objective) == hash(copy.deepcopy(objective))


@pytest.mark.parametrize(
    ("objective", "kept"),
    [(Energy(buffer_size=8), {"samples_"}), (Augmented(), {"strength_", "scoring_strength_", "judge_"})],
    ids=lambda objective: type(objective).__name__,
)
def test_what_is_kept_from_fit_to_fit_is_copied_and_pickled_with_the_classifier(objective, kept):
    model = make(objective).fit(X[:60], Y[:60], unlabelled=X[60:200])
    assert kept == set(vars(model)) - set(vars(make(CrossEntropy()).fit(X[:60], Y[:60])))
    again = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    results = [twin.fit(X[:90], Y[:90], unlabelled=X[90:]).predict_proba(X) for twin in (model, *again)]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    assert not kept & set(vars(clone(model)))


def test_an_objective_of_the_users_own_is_trained_on():
    model = make(Smoothed(0.5), epochs=3, batch_size=20).fit(X[:60], Y[:60])
    assert model.batches_ == 9
    plain = make(CrossEntropy(), epochs=3, batch_size=20).fit(X[:60], Y[:60])
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    with pytest.raises(InvalidInput, match="Smoothed uses no unlabelled items; leave `unlabelled` out"):
        model.fit(X[:60], Y[:60], unlabelled=X[60:])


@pytest.mark.parametrize("objective", [Energy, "energy", None, 3])
def test_something_else_than_an_objective_is_refused(objective):
    model = make(objective)
    assert not hasattr(model, "energy")
    with pytest.raises(InvalidInput, match=r"objective is .*; expected an objective with its settings"):
        model.fit(X[:20], Y[:20])


def test_an_unknown_objective_is_suggested():
    with pytest.raises(CusalError, match="no objective named 'enrgy'; did you mean 'energy'"):
        objectives.find("enrgy")
    assert objectives.CrossEntropy is CrossEntropy
    with pytest.raises(AttributeError, match="Crossentropy"):
        _ = objectives.Crossentropy
