"""A spec made real: warm-up and pool from the seed alone, the same start for all strategies."""

import dataclasses
import pickle

import numpy as np
import pytest

pytest.importorskip("torch")

from cusal import calibration
from cusal.apps.bench import datasets
from cusal.apps.bench.experiment import Experiment, build_model, measure_errors
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.loaded_data import draw_items
from cusal.apps.bench.spec import Spec
from cusal.errors import InvalidInput, UnknownName
from cusal.session import Round

LABELS = datasets.load("digits").train_labels


def a_spec(strategy: str = "random", **changes: object) -> Spec:
    (spec,) = read_grid("digits").choose([strategy]).override({"seeds": [3], "rounds": 3, "epochs": 3}).specs()
    return dataclasses.replace(spec, **changes)


def test_a_balanced_warm_up_has_every_class_equally_often() -> None:
    warm_up, rows = draw_items(a_spec(warm_up=50), LABELS, 10)
    assert np.bincount(LABELS[warm_up]).tolist() == [5] * 10
    assert rows.tolist() == list(range(len(LABELS)))


def test_the_warm_up_does_not_depend_on_the_pool() -> None:
    whole, _ = draw_items(a_spec(), LABELS, 10)
    small, rows = draw_items(a_spec(pool=100), LABELS, 10)
    assert whole.tolist() == small.tolist()
    assert len(rows) == 120
    assert set(small) <= set(rows)
    assert (np.diff(rows) > 0).all()


def test_another_seed_draws_another_warm_up() -> None:
    assert draw_items(a_spec(), LABELS, 10)[0].tolist() != draw_items(a_spec(seed=4), LABELS, 10)[0].tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"warm_up": 25}, "10 classes cannot share equally"),
        ({"warm_up": 5000}, "warm_up is 5000, but digits has 1438"),
        ({"warm_up": 1430}, "a balanced warm-up needs 143"),
        ({"pool": 1430}, "pool is 1430, but digits has 1418"),
    ],
)
def test_what_cannot_be_drawn_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        draw_items(a_spec(**changes), LABELS, 10)


def test_an_unbalanced_warm_up_need_not_share() -> None:
    warm_up, _ = draw_items(a_spec(warm_up=25, balanced=False), LABELS, 10)
    assert len(set(warm_up.tolist())) == 25


def first_round(spec: Spec) -> Round:
    experiment = Experiment(spec)
    return next(experiment.rounds(experiment.start()))


def test_round_zero_is_the_same_for_all_strategies_of_a_seed() -> None:
    labels = ["random", "margin", "bald", "coreset", "badge", "cusal", "cusal-listing"]
    first, *others = (first_round(a_spec(label)) for label in labels)
    for other in others:
        for name in ("test", "pool"):
            ours, theirs = getattr(first, name), getattr(other, name)
            assert (ours.raw, ours.recalibrated) == (theirs.raw, theirs.recalibrated)
        assert (other.labelled, other.measured) == (first.labelled, first.measured)


MEASURED = ["bound", "estimated_pool_error", "known_pool_error", "known_test_error", "labelled_error"]


def test_measures_the_estimator_when_told() -> None:
    experiment = Experiment(a_spec("cusal", estimator_every=2))
    rounds = list(experiment.rounds(experiment.start()))
    assert [sorted(record.measured) for record in rounds] == [MEASURED, [], MEASURED, []]
    silent = Experiment(a_spec("cusal", estimator_every=0))
    assert first_round(silent.spec).measured == {}


def test_the_errors_are_those_of_the_open_the_labelled_and_the_unseen_items() -> None:
    experiment = Experiment(a_spec("cusal", estimator_every=1, pool=300))
    session = experiment.start()
    for _ in range(2):
        query = session.ask(30)
        session.tell(query.indices, experiment.labels[query.indices])
    test = experiment.data.test, experiment.data.test_labels
    session.fit()
    found = measure_errors(session, experiment.labels, test, bandwidth=0.01, p=1)
    asked = np.array(sorted(session.labels))
    opened = np.setdiff1d(np.arange(len(experiment.items)), asked)
    predict = session.model.predict_proba
    labelled = predict(experiment.items[asked]), experiment.labels[asked]
    pool = predict(experiment.items[opened])
    np.testing.assert_allclose(
        [found[name] for name in ("estimated_pool_error", "known_pool_error", "labelled_error", "known_test_error")],
        [
            calibration.pointwise_error(pool, *labelled, bandwidth=0.01).error.mean(),
            calibration.canonical_error(pool, experiment.labels[opened], bandwidth=0.01),
            calibration.canonical_error(*labelled, bandwidth=0.01),
            calibration.canonical_error(predict(test[0]), test[1], bandwidth=0.01),
        ],
        rtol=1e-3,
    )
    sizes = {"labelled": len(asked), "pool": len(opened)}
    assert found["bound"] == calibration.error_bound(found["labelled_error"], **sizes)


def test_a_resumed_session_goes_on_as_if_it_had_not_stopped() -> None:
    experiment = Experiment(a_spec("cusal", pool=300))
    session = experiment.start()
    rounds = experiment.rounds(session)
    next(rounds)
    state = pickle.dumps(session.checkpoint())
    expected = list(rounds)
    actual = list(experiment.rounds(experiment.start(state)))
    assert [record.round for record in actual] == [1, 2, 3]
    for ours, theirs in zip(expected, actual, strict=True):
        assert ours.test is not None
        assert theirs.test is not None
        assert (ours.test.raw, ours.test.recalibrated) == (theirs.test.raw, theirs.test.recalibrated)
        if ours.query is not None and theirs.query is not None:
            assert ours.query.indices.tolist() == theirs.query.indices.tolist()


def test_settings_of_a_network_are_checked() -> None:
    with pytest.raises(UnknownName, match="did you mean 'dropout'"):
        build_model(a_spec(network={"name": "small_net", "dropuot": 0.1}), (1, 8, 8), 10)
    model = build_model(a_spec(network={"name": "small_net", "hidden": 7}), (1, 8, 8), 10)
    assert sum(p.numel() for p in model.module.parameters()) == 64 * 7 + 7 + 7 * 10 + 10
