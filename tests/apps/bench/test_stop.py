"""Runs of a grid that end as soon as their sessions recommend it."""

import pickle

import pytest

pytest.importorskip("torch")

from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.report.from_store import load
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Claim, Store
from cusal.apps.bench.worker import run
from cusal.errors import InvalidInput

CHANGES = {"seeds": 1, "rounds": 20, "batch_size": 50, "warm_up": 100, "estimator_every": 0, "stop": True}


@pytest.fixture(scope="module")
def spec() -> Spec:
    (spec,) = read_grid("digits").choose(["margin"]).override(CHANGES).specs()
    return spec


@pytest.fixture(scope="module")
def store(spec: Spec) -> Store:
    """A store with the run of the spec, done."""
    store = Store(":memory:")
    store.add([spec.run])
    assert run(store, a_claim(store, spec)).kind == "done"
    return store


def a_claim(store: Store, spec: Spec) -> Claim:
    claim = store.claim([spec.id])
    assert claim is not None
    return claim


def test_a_grid_and_a_strategy_of_it_can_ask_for_it(spec: Spec) -> None:
    assert spec.stop
    own = [{"name": "margin", "label": "margin, stopped", "stop": True}, "margin"]
    specs = read_grid("digits").override({"seeds": 1, "strategies": own}).specs()
    assert [one.stop for one in specs] == [True, False]
    assert specs[1].id == read_grid("digits").override({"seeds": 1}).choose(["margin"]).specs()[0].id
    with pytest.raises(InvalidInput, match="true or false"):
        read_grid("digits").override({"stop": "yes"})


def test_a_stopped_run_is_done_and_has_bins_at_its_end(spec: Spec, store: Store) -> None:
    (line,) = store.runs()
    last = store.rounds()[-1]
    assert line["status"] == "done"
    assert last["round"] < spec.rounds
    assert max(row["round"] for row in store.bins()) == last["round"]
    assert store.claim([spec.id]) is None  # nothing is left to do


def test_its_report_counts_it_as_stopped_early(spec: Spec, store: Store) -> None:
    (curves,) = load(store)
    assert [run.seed for run in curves.stopped] == [0]
    assert curves.unfinished == ()


def test_a_run_that_was_interrupted_stops_in_the_same_round(spec: Spec, store: Store) -> None:
    with Store(":memory:") as other:
        other.add([spec.run])
        _stop_after(other, spec, rounds=4)
        assert run(other, a_claim(other, spec)).kind == "done"
        assert [row["labelled"] for row in other.rounds()] == [row["labelled"] for row in store.rounds()]
        assert other.picks() == store.picks()


def _stop_after(store: Store, spec: Spec, rounds: int) -> None:
    """Do some rounds of the run as a runner does that is then killed."""
    claim = a_claim(store, spec)
    experiment = Experiment(spec)
    session = experiment.start()
    for record in experiment.rounds(session):
        assert record.query is not None
        items = experiment.rows[record.query.indices].tolist()
        labels = [experiment.data.classes[number] for number in experiment.data.train_labels[items]]
        state = pickle.dumps(session.checkpoint(), protocol=5)
        store.write_round(claim, record, items=items, labels=labels, state=state)
        if record.round + 1 == rounds:
            break
    store.release(claim.owner)
