"""Training variants as grids name them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from cusal._wrapper import Wrapper
from cusal.apps.bench import variants
from cusal.apps.bench.experiment import Experiment, build_model, try_model
from cusal.apps.bench.grid import read_grid
from cusal.errors import CusalError, UnknownName
from cusal.models import Augmented, CrossEntropy, Energy, TorchClassifier

SMALL = replace(
    next(s for s in read_grid("digits").specs() if s.label == "margin"), pool=200, rounds=1, epochs=2, estimator_every=0
)


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"name": "plain"},
        {"name": "energy", "sampling_steps": 1},
        {"name": "augmented", "copies": 1, "strengths": [0.5]},
        {"name": "uncalibrated", "spread": 3.0},
        {"name": "ensemble", "members": 2},
        {"name": "ensemble", "of": {"name": "augmented", "copies": 1, "strengths": [0.5]}},
        {"name": "temperature_scaled", "method": "cross-fit", "of": "ensemble"},
        {"name": "temperature_scaled", "method": "held-out", "of": "energy"},
        {"name": "uncalibrated", "of": {"name": "temperature_scaled", "of": {"name": "augmented", "copies": 1}}},
    ],
    ids=lambda model: model.get("name", "none"),
)
@pytest.mark.parametrize("strategy", ["badge", "cusal"])
def test_every_variant_runs_with_any_strategy(model, strategy):
    experiment = Experiment(replace(SMALL, model=model, strategy=strategy))
    records = list(experiment.rounds(experiment.start()))
    assert [record.labelled for record in records] == [20, 30]
    assert all(0 <= record.test.recalibrated["ece"] <= 1 for record in records)


def test_ddu_runs_with_its_network_and_temperature():
    spec = next(s for s in read_grid("ablation-recalibration", on="digits").specs() if s.label == "DDU")
    experiment = Experiment(replace(spec, pool=100, rounds=1, epochs=2))
    assert [record.labelled for record in experiment.rounds(experiment.start())] == [20, 30]


def test_a_setting_that_a_variant_lacks_is_named():
    with pytest.raises(UnknownName, match="did you mean 'copies'"):
        build_model(replace(SMALL, model={"name": "augmented", "copied": 1}), (1, 8, 8), 10)
    with pytest.raises(UnknownName, match="did you mean 'method'"):
        build_model(replace(SMALL, model={"name": "temperature_scaled", "methd": "held-out"}), (1, 8, 8), 10)
    with pytest.raises(UnknownName, match="epochs"):  # a setting of the grid, not of the variant
        build_model(replace(SMALL, model={"name": "energy", "epochs": 3}), (1, 8, 8), 10)


def test_settings_of_the_schedule_reach_a_wrapped_model():
    model = build_model(replace(SMALL, model={"name": "temperature_scaled", "of": "energy"}), (1, 8, 8), 10)
    assert (model.model.epochs, model.model.warm_start, model.method) == (2, True, "held-out")


def build(model):
    return build_model(replace(SMALL, model=model), (1, 8, 8), 10)


@dataclass(frozen=True)
class Smoothed(CrossEntropy):
    """An objective of a user's own."""

    amount: float = 0.1


class Twice(Wrapper):
    """A wrapper of a user's own."""

    def __init__(self, model, *, times=2):
        self.model = model
        self.times = times


class Trainer(TorchClassifier):
    """A trainer of a user's own, with the parameters of its parent."""


def test_names_mean_what_they_meant():
    assert {"augmented", "energy", "plain", "temperature_scaled", "uncalibrated"} <= set(variants.names())
    assert build("plain").objective == build("cross_entropy").objective == build({}).objective == CrossEntropy()
    energy = build({"name": "energy", "sampling_steps": 1, "pretrained": True})
    assert (energy.objective, energy.pretrained, energy.epochs) == (Energy(sampling_steps=1), True, 2)
    augmented = build({"name": "augmented", "strengths": [0.5]})
    assert augmented.objective == Augmented(strengths=(0.5,))


def test_a_grid_s_model_is_kept_in_the_spec_as_it_is_written():
    model = {"name": "temperature_scaled", "method": "held-out", "of": "energy"}
    assert '"model":{"method":"held-out","name":"temperature_scaled","of":"energy"}' in replace(SMALL, model=model).json


def test_classes_of_the_users_own_are_made_by_what_they_are():
    objective = build({"name": f"{__name__}:Smoothed", "amount": 0.3, "device": "cpu"})
    assert isinstance(objective, TorchClassifier)
    assert (objective.objective, objective.device, objective.epochs) == (Smoothed(0.3), "cpu", 2)
    wrapper = build({"name": f"{__name__}:Twice", "times": 3, "of": f"{__name__}:Trainer"})
    assert (type(wrapper), wrapper.times, type(wrapper.model), wrapper.model.epochs) == (Twice, 3, Trainer, 2)
    forest = build({"name": "sklearn.ensemble:RandomForestClassifier", "n_estimators": 7})
    assert (type(forest), forest.n_estimators) == (RandomForestClassifier, 7)
    calibrated = build({"name": "temperature_scaled", "of": {"name": "sklearn.naive_bayes:GaussianNB"}})
    assert isinstance(calibrated.model, GaussianNB)


@pytest.mark.parametrize("strategy", ["cusal", "bald"])
def test_a_scikit_learn_classifier_runs_in_a_grid_on_a_table(strategy, tmp_path):
    X, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "digits.npz", X=X[:500], y=y[:500])
    model = {"name": "sklearn.ensemble:RandomForestClassifier", "n_estimators": 5}
    spec = replace(SMALL, dataset=f"npz:{tmp_path / 'digits.npz'}", model=model, strategy=strategy)
    experiment = Experiment(replace(spec, network={"name": "small_net"}))
    try_model(experiment.spec, experiment.data)
    assert [record.labelled for record in experiment.rounds(experiment.start())] == [20, 30]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("enrgy", "no model named 'enrgy'; did you mean 'energy'"),
        ({"name": "energy", "of": "plain"}, "energy goes around no other model"),
        ({"name": "uncalibrated", "of": 3}, "of is 3"),
        ({"name": "uncalibrated", "of": "enrgy"}, "did you mean 'energy'"),
        ({"epochs": 3}, "no model named 'None'"),
        ("sklearn.ensemble:RandomForestClasifier", "RandomForestClassifier"),
        ("sklearn.linear_model:LinearRegression", "classifier with fit and predict_proba"),
        ("cusal.models.networks:SmallNet", "goes into `network`"),
        ({"name": "sklearn.naive_bayes:GaussianNB", "smoothing": 1}, "did you mean 'var_smoothing'"),
    ],
)
def test_a_name_or_setting_that_nothing_has_is_an_error(model, message):
    with pytest.raises(CusalError, match=message):
        build(model)
