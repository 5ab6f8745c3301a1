"""The version of what rounds are computed by: it is a part of a run's id, and reports never mix two of them."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.report.from_store import load
from cusal.apps.bench.runner import _reuse
from cusal.apps.bench.spec import ALGORITHM, Spec
from cusal.apps.bench.store import Store
from cusal.apps.bench.worker import run
from cusal.errors import StoreError


def spec(seed: int = 0, algorithm: int = ALGORITHM, **changes: object) -> Spec:
    grid = read_grid("digits").choose(["margin"]).override({"rounds": 1, "epochs": 1, "pool": 50})
    return replace(grid.specs()[seed], algorithm=algorithm, **changes)  # type: ignore[arg-type]


def done(store: Store, one: Spec) -> None:
    """Do a run as the version of cusal did that had its algorithm."""
    store.add([one.run])
    claim = store.claim([one.id])
    assert claim is not None
    experiment = Experiment(one)
    for record in experiment.rounds(experiment.start()):
        items = [] if record.query is None else experiment.rows[record.query.indices].tolist()
        store.write_round(claim, record, items=items, labels=[str(i) for i in items], state=b"")


def test_a_new_algorithm_makes_new_ids_and_the_first_keeps_those_it_had() -> None:
    assert read_grid("digits").specs()[0].algorithm == ALGORITHM
    assert "algorithm" not in spec(algorithm=1).json
    assert len({spec(algorithm=number).id for number in (1, 2, 3)}) == 3
    assert Spec.of(spec(algorithm=2).json) == spec(algorithm=2)


def test_a_report_sets_runs_of_another_algorithm_apart_and_names_them(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        for one in (spec(), spec(1), spec(2, ALGORITHM + 1)):
            done(store, one)
        ours, theirs = load(store)
    assert ours.seeds == (0, 1)
    assert theirs.seeds == (2,)
    assert "algorithm" not in ours.experiment
    assert theirs.experiment == f"{ours.experiment} (algorithm {ALGORITHM + 1}; this cusal has {ALGORITHM})"


def test_rounds_of_another_algorithm_are_neither_reused_nor_continued(tmp_path: Path) -> None:
    other = spec(0, ALGORITHM + 1)
    with Store(tmp_path / "runs.db") as store:
        done(store, other)
        again = spec(0, experiment="the same under another name")
        store.add([again.run])
        _reuse(store, [again])
        assert {row["id"]: row["status"] for row in store.runs()} == {other.id: "done", again.id: "open"}
        store.add([spec(1, ALGORITHM + 1).run])
        claim = store.claim([spec(1, ALGORITHM + 1).id])
        assert claim is not None
        news = run(store, claim)
    assert news.kind == "failed"
    assert f"but this cusal has algorithm {ALGORITHM}" in news.text


def test_the_spec_of_a_later_version_is_refused_in_one_line() -> None:
    for text in ('{"unheard_of":1}', "[]", "3", "{", '{"strategy":"cusal"}'):
        with pytest.raises(StoreError, match="a run's spec cannot be read"):
            Spec.of(text)
