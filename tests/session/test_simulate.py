"""Simulation: one record for each round."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.errors import CusalError
from cusal.session.scores import METRICS

X, Y = load_digits(return_X_y=True)
X = X / 16
TRAIN, TEST = slice(0, 1000), slice(1000, None)


def session(strategy="cusal", labelled=20):
    start = {i: int(Y[i]) for i in range(labelled)}
    return cusal.Session(
        X[TRAIN], LogisticRegression(max_iter=500), strategy, labelled=start, recalibrate="prequential"
    )


def run(s, rounds=4, **options):
    return list(cusal.simulate(s, Y[TRAIN], rounds=rounds, test=(X[TEST], Y[TEST]), **options))


def test_gives_one_record_for_each_round():
    records = run(session(), rounds=4, batch_size=5)
    assert [r.round for r in records] == [0, 1, 2, 3, 4]
    assert [r.labelled for r in records] == [20, 25, 30, 35, 40]
    assert [r.evidence for r in records] == [0, 5, 10, 15, 20]
    assert records[-1].query is None
    for record in records[:-1]:
        assert len(record.query) == 5
    for record in records:
        assert set(record.seconds) == {"fit", "predict", "select", "test"}
        assert set(record.test.raw) == set(record.pool.recalibrated) == set(METRICS)
        assert record.test.raw["accuracy"] == record.test.recalibrated["accuracy"]
        assert record.test.raw_bins.count.sum() == len(Y[TEST])


def test_metrics_are_those_of_the_fitted_model():
    s = session()
    record = run(s, rounds=0)[0]
    probs = s.model.predict_proba(X[TEST])
    assert record.test.raw["ece"] == cusal.metrics.ece(probs, Y[TEST])
    open_ = s.pool.open
    assert record.pool.raw["accuracy"] == cusal.metrics.accuracy(s.model.predict_proba(X[open_]), Y[open_])


def test_all_strategies_start_alike():
    first = [run(session(name), rounds=1)[0] for name in ("random", "margin", "cusal")]
    assert first[0].test.raw == first[1].test.raw == first[2].test.raw


def test_interrupted_and_resumed_equals_uninterrupted(tmp_path):
    whole = run(session("badge"), rounds=6)
    s = session("badge")
    records = cusal.simulate(s, Y[TRAIN], rounds=6, test=(X[TEST], Y[TEST]))
    begun = [next(records) for _ in range(3)]
    s.save(tmp_path / "s")
    rest = run(cusal.Session.load(tmp_path / "s", X[TRAIN]), rounds=3)
    for one, other in zip(whole, begun + rest, strict=True):
        assert one.round == other.round
        assert one.test.raw == other.test.raw
        assert one.test.recalibrated == other.test.recalibrated
        assert one.temperature == other.temperature
        assert (one.query is None) == (other.query is None)
        if one.query is not None:
            assert (one.query.indices == other.query.indices).all()


def test_starts_cold_and_counts_classes_that_nobody_labelled():
    s = cusal.Session(X[TRAIN], LogisticRegression(max_iter=500), "random", seed=3)
    records = run(s, rounds=2)
    assert records[0].labelled == 10
    assert records[-1].labelled == 30


def test_noisy_labels_are_wrong_for_the_given_share_and_stay_the_same():
    oracle = cusal.noisy(Y, 0.3, seed=1)
    answers = oracle(np.arange(len(Y)))
    assert np.mean(answers != Y) == pytest.approx(0.3, abs=0.05)
    assert (oracle(np.arange(len(Y))) == answers).all()
    assert (cusal.noisy(Y, 0.0)(np.arange(len(Y))) == Y).all()
    assert (cusal.noisy(Y, 1.0)(np.arange(len(Y))) != Y).all()
    records = list(cusal.simulate(session(), cusal.noisy(Y[TRAIN], 0.2), rounds=2, test=(X[TEST], Y[TEST])))
    assert records[-1].pool is None


def test_a_measure_of_ones_own_is_recorded():
    records = run(session(), rounds=2, measure=lambda s: {"classes": float(len(set(s.labels.values())))})
    assert records[0].measured == {"classes": 10.0}


def test_the_whole_pool_can_be_used_up():
    small = cusal.Session(X[:40], LogisticRegression(max_iter=500), labelled={i: int(Y[i]) for i in range(20)})
    records = list(cusal.simulate(small, Y[:40], rounds=2, batch_size=10))
    assert records[-1].labelled == 40
    assert records[-1].pool is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": -1}, "rounds is -1"),
        ({"rounds": 1, "batch_size": 0}, "batch_size"),
        ({"rounds": 2, "batch_size": 600}, "at most 1 rounds"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(CusalError, match=message):
        list(cusal.simulate(session(), Y[TRAIN], **arguments))
    with pytest.raises(CusalError, match="one for each item"):
        list(cusal.simulate(session(), Y, rounds=1))


def test_stops_where_the_session_recommends_it_and_not_before():
    advice = []
    options = {"rounds": 25, "batch_size": 25}
    whole = run(session("margin", 100), **options, measure=lambda s: advice.append(s.stopping().stop) or {})
    stopped = run(session("margin", 100), **options, stop=True)
    assert len(stopped) == advice.index(True) + 1 < len(whole)
    assert stopped[-1].query is None
    assert [r.test.raw for r in stopped] == [r.test.raw for r in whole[: len(stopped)]]


def test_an_oracle_with_the_index_of_the_items_is_put_into_their_order():
    pandas = pytest.importorskip("pandas")
    frame, truth = pandas.DataFrame(X[:300]), pandas.Series(Y[:300])
    frame.index = truth.index = range(1000, 1300)
    shuffled = truth.sample(frac=1, random_state=0)
    scores = [
        list(cusal.simulate(cusal.Session(frame, LogisticRegression()), oracle, rounds=1, test=(frame, truth)))[-1]
        for oracle in (truth, shuffled)
    ]
    assert scores[0].test.raw == scores[1].test.raw
