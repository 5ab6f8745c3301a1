"""The temperature that the members of an ensemble agree on."""

import math

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

import cusal
from cusal.models import Ensemble
from cusal.recalibration.ensemble_agreement import agreement_temperature
from cusal.recalibration.recalibration import Recalibration
from cusal.recalibration.temperature import LOG_BOUNDS, apply_temperature, fit_temperature

X, Y = load_digits(return_X_y=True)
X = X / 16


def members(count=2, *, noise=1.0, sharpness=3.0, items=500, seed=0):
    """Members that share scores and differ by noise; (count, items, 4)."""
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=(items, 4)) + noise * rng.normal(size=(count, items, 4))
    return softmax(sharpness * scores, axis=2)


@pytest.mark.parametrize("count", [2, 3])
def test_the_ensemble_is_then_as_confident_as_its_members_agree(count):
    said = members(count)
    confidence = apply_temperature(said.mean(axis=0), agreement_temperature(said)).max(axis=1).mean()
    answers = said.argmax(axis=2)
    pairs = [(answers[a] == answers[b]).mean() for a in range(count) for b in range(a)]
    assert confidence == pytest.approx(np.mean(pairs), abs=1e-4)


def test_members_that_disagree_more_are_trusted_less():
    told = [agreement_temperature(members(noise=noise)) for noise in (0.2, 0.5, 1.0)]
    assert told == sorted(told)
    assert told[0] < 1 < told[-1] * 2


def test_what_is_sharper_gets_a_higher_temperature():
    assert agreement_temperature(members(sharpness=4)) > 1.5 * agreement_temperature(members(sharpness=1))


def test_members_that_agree_on_everything_or_nothing_meet_the_bounds():
    same = np.tile(softmax(np.random.default_rng(0).normal(size=(50, 3)), axis=1), (2, 1, 1))
    assert agreement_temperature(same) == math.exp(LOG_BOUNDS[0])
    apart = np.stack([same[0], np.roll(same[0], 1, axis=1)])
    assert agreement_temperature(apart) == math.exp(LOG_BOUNDS[1])
    sure = np.tile(np.eye(3), (2, 1, 1))
    assert agreement_temperature(sure) == math.exp(LOG_BOUNDS[0])


def test_a_third_of_the_log_temperature_is_that_of_the_members():
    probs, labels = members()[0], np.arange(500) % 4
    told = fit_temperature(np.log(probs), labels)
    assert Recalibration(probs, labels, 5.0).temperature == told
    assert Recalibration(probs, labels, 5.0, agreed=0.5).temperature == pytest.approx(told ** (2 / 3) * 0.5 ** (1 / 3))


def begun(model, rounds=3, recalibrate="auto"):
    start = np.concatenate([np.flatnonzero(label == Y)[:2] for label in range(10)])
    session = cusal.Session(X, model, "margin", labelled=(start, Y[start]), recalibrate=recalibrate)
    for _ in range(rounds):
        query = session.ask(10)
        session.tell(query.indices, Y[query.indices])
    return session


def warm():
    return SGDClassifier(loss="log_loss", warm_start=True, random_state=0)


def test_a_session_of_a_warm_ensemble_looks_at_its_members(tmp_path):
    session = begun(Ensemble(warm(), members=2))
    made = session.recalibration
    said = [member.predict_proba(X[session.pool.open]) for member in session.model.estimators_]
    assert made.agreed == agreement_temperature(np.stack(said))
    session.save(tmp_path / "session")
    assert cusal.Session.load(tmp_path / "session", X, trusted=True).recalibration.temperature == made.temperature


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (warm(), {}),
        (Ensemble(warm(), members=1), {}),
        (Ensemble(warm(), members=2), {"rounds": 0}),
        (Ensemble(warm(), members=2), {"recalibrate": "prequential"}),
    ],
    ids=["no ensemble", "one member", "no pick yet", "another recalibration"],
)
def test_other_temperatures_are_those_of_picks_alone(model, options):
    assert begun(model, **options).recalibration.agreed is None


def test_large_pools_are_judged_by_some_of_their_items():
    items, labels = np.tile(X, (2, 1)), np.tile(Y, 2)
    session = cusal.Session(
        items, Ensemble(warm(), members=2), "random", labelled=(range(50), labels[:50]), recalibrate="auto"
    )
    query = session.ask(10)
    session.tell(query.indices, labels[query.indices])
    assert session.recalibration.agreed == session.recalibration.agreed > 0
    assert len(session._recalibrator._some_open()) == 2000 < len(session.pool.open)
