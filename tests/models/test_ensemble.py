"""The mean of several copies of a model."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from cusal import Session, metrics
from cusal.errors import InvalidInput, NotReady
from cusal.models.ensemble import Ensemble
from cusal.models.networks import SmallNet
from cusal.models.objectives import Augmented
from cusal.models.torch_classifier import TorchClassifier
from cusal.recalibration.temperature_scaled import TemperatureScaled

X, Y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)
IMAGES = X.reshape(-1, 1, 8, 8)


def network(**settings):
    return TorchClassifier(SmallNet(64, 10), **{"epochs": 10, "learning_rate": 0.003} | settings)


def ensemble(members=3, seed=0, **settings):
    return Ensemble(network(**settings), members=members, random_state=seed)


@pytest.fixture(scope="module")
def model():
    return ensemble().fit(X[:100], Y[:100])


def test_the_probabilities_are_the_mean_of_different_members(model):
    each = np.stack([member.predict_proba(X) for member in model.estimators_])
    assert np.allclose(model.predict_proba(X), each.mean(axis=0), atol=1e-12)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.array_equal(model.predict(X), each.mean(axis=0).argmax(axis=1))
    assert all(not np.array_equal(each[0], other) for other in each[1:])
    assert model.classes_.tolist() == list(range(10))


def test_the_mean_has_a_lower_loss_than_its_members_have_on_average(model):
    losses = [metrics.nll(member.predict_proba(X[100:]), Y[100:]) for member in model.estimators_]
    assert metrics.nll(model.predict_proba(X[100:]), Y[100:]) < np.mean(losses)


def test_the_first_member_is_the_model_alone(model):
    alone = network(random_state=0).fit(X[:100], Y[:100])
    assert np.array_equal(alone.predict_proba(X), model.estimators_[0].predict_proba(X))
    assert np.array_equal(alone.predict_proba(X), ensemble(1).fit(X[:100], Y[:100]).predict_proba(X))


def test_the_same_seed_gives_the_same_members_and_none_gives_new_ones(model):
    assert np.array_equal(ensemble().fit(X[:100], Y[:100]).predict_proba(X), model.predict_proba(X))
    assert not np.array_equal(ensemble(seed=1).fit(X[:100], Y[:100]).predict_proba(X), model.predict_proba(X))
    fixed = Ensemble(network(random_state=0), members=2).fit(X[:100], Y[:100])  # a seed of the model is no seed of both
    one, other = (member.predict_proba(X[:9]) for member in fixed.estimators_)
    assert not np.array_equal(one, other)


def test_strategies_see_the_members_as_samples_and_all_embeddings(model):
    assert np.array_equal(model.sample_proba(X[:7], 3)[:, 1], model.estimators_[1].predict_proba(X[:7]))
    assert model.sample_proba(X[:7], 2).shape == (7, 2, 10)
    assert model.sample_proba(X[:7], 50).shape == (7, 3, 10)
    width = model.estimators_[0].embed(X[:7]).shape[1]
    assert model.embed(X[:7]).shape == (7, 3 * width)
    assert np.array_equal(model.embed(X[:7])[:, width : 2 * width], model.estimators_[1].embed(X[:7]))


def test_members_without_embeddings_leave_the_items_as_they_are():
    model = Ensemble(SGDClassifier(loss="log_loss"), random_state=0).fit(X[:100], Y[:100])
    assert np.array_equal(model.embed(X[:7]), X[:7])
    assert model.predict_proba(X[:7]).shape == (7, 10)


def test_an_ensemble_of_one_has_the_samples_of_its_member():
    model = Ensemble(TorchClassifier(SmallNet(64, 10, dropout=0.5), epochs=2), members=1, random_state=0)
    assert model.fit(X[:100], Y[:100]).sample_proba(X[:7], 4).shape == (7, 4, 10)


def test_augmented_members_are_shown_unlabelled_items_and_score_by_their_mean():
    model = ensemble(2, objective=Augmented(copies=1), epochs=2)
    assert model.uses_unlabelled
    assert not hasattr(ensemble(2), "scoring_proba")
    model.fit(IMAGES[:60], Y[:60], unlabelled=IMAGES[60:200])
    each = [member.scoring_proba(IMAGES[60:70]) for member in model.estimators_]
    assert np.allclose(model.scoring_proba(IMAGES[60:70]), np.mean(each, axis=0), atol=1e-12)
    width = model.estimators_[0].embed(IMAGES[:1]).shape[1]
    assert model.scoring_embed(IMAGES[60:70]).shape == (10, 2 * width)


def test_warm_members_continue_and_cold_ones_do_not():
    warm = ensemble(2, epochs=1, warm_start=True)
    for _ in range(30):
        warm.fit(X[:100], Y[:100])
    cold = ensemble(2, epochs=1, warm_start=False)
    once = clone(cold).fit(X[:100], Y[:100]).predict_proba(X)
    assert np.array_equal(cold.fit(X[:100], Y[:100]).fit(X[:100], Y[:100]).predict_proba(X), once)
    assert metrics.accuracy(warm.predict_proba(X[100:]), Y[100:]) > metrics.accuracy(once[100:], Y[100:]) + 0.2
    before = warm.estimators_[0].predict_proba(X)
    grown = copy.deepcopy(warm).set_params(members=3).fit(X[:100], Y[:100])
    assert len(grown.estimators_) == 3
    assert metrics.accuracy(grown.estimators_[0].predict_proba(X), Y) > 0.7
    assert np.array_equal(warm.estimators_[0].predict_proba(X), before)


def test_a_fit_that_fails_leaves_the_ensemble_as_it_was(model):
    before = model.predict_proba(X)
    with pytest.raises(InvalidInput):
        model.fit(X[:100, :5], Y[:100])
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("members", [0, 1.5, "two"])
def test_members_must_be_a_count(members):
    with pytest.raises(InvalidInput, match="members"):
        ensemble(members).fit(X[:100], Y[:100])


def test_a_model_without_random_state_is_refused():
    with pytest.raises(InvalidInput, match="GaussianNB has no random_state, so that all 2 members would be equal"):
        Ensemble(GaussianNB()).fit(X, Y)


def test_it_must_be_fitted_first():
    for ask in ("predict_proba", "embed"):
        with pytest.raises(NotReady, match="fit"):
            getattr(ensemble(), ask)(X)


def session(model, seed=0, **settings):
    labelled = dict(zip(range(30), Y[:30].tolist(), strict=True))
    return Session(X[:500], model, labelled=labelled, classes=range(10), seed=seed, **settings)


def run(s, rounds):
    picks = []
    for _ in range(rounds):
        query = s.ask(5)
        s.tell(query.indices, Y[query.indices])
        picks.append(query.indices.tolist())
    return picks


@pytest.mark.parametrize("strategy", ["diverse_margin", "badge", "bald", "cusal"])
def test_a_session_runs_with_it_and_gives_each_round_its_seeds(strategy):
    s = session(ensemble(2, seed=None), strategy=strategy)
    assert run(s, 3) == run(session(ensemble(2, seed=None), strategy=strategy), 3)
    one, other = (member.predict_proba(X[:9]) for member in s.model.estimators_)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("recalibrate", ["prequential", "cross-fit"])
def test_a_session_that_was_saved_continues_as_if_it_had_not_stopped(tmp_path, recalibrate):
    whole = session(ensemble(2, seed=None), recalibrate=recalibrate)
    stopped = session(ensemble(2, seed=None), recalibrate=recalibrate)
    assert run(whole, 2) == run(stopped, 2)
    stopped.save(tmp_path / "session")
    loaded = Session.load(tmp_path / "session", X[:500])
    resumed = Session.resume(pickle.loads(pickle.dumps(stopped.checkpoint())), X[:500])
    expected = run(whole, 2)
    assert run(loaded, 2) == run(resumed, 2) == expected
    assert np.array_equal(loaded.predict_proba(X), whole.predict_proba(X))


def test_temperature_scaling_goes_around_it():
    model = TemperatureScaled(ensemble(2), method="cross-fit", random_state=0)
    with warnings.catch_warnings(action="error"):
        assert model.fit(X[:100], Y[:100]).predict_proba(X).shape == (len(X), 10)
    assert len(model.model_.estimators_) == 2
