"""Processes killed by SIGKILL at random moments: what is resumed equals what was never interrupted.

The server of `cusal label` is killed in tests/apps/label/server/test_label_command.py, workers and nodes of Ray in
tests/scale/test_ray_engine.py.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from killable import Child, Parent

import cusal
from cusal.apps.bench.store import Store
from cusal.errors import StoreError

pytestmark = pytest.mark.slow

Record = Callable[[str, object], None]
SECONDS = 240.0  # on a machine that is busy with other things
GRID = """
extends = "digits"
strategies = ["random", "margin"]
seeds = 2
rounds = 10
pool = 300
estimator_every = 0
model = "sklearn.linear_model:LogisticRegression"
"""
KILLS_OF_BENCH = {1: 5, 2: 5, 4: 4}  # by workers
KILLS_OF_SCORE = KILLS_OF_SAVE = 38
LABELLING = """
import sys
from pathlib import Path
import numpy as np
import cusal
from sklearn.linear_model import LogisticRegression

path, items = Path({path!r}), np.random.default_rng(0).normal(size=(300, 5))
labels = (items[:, 0] + items[:, 1] ** 2 > 0.5).astype(int)
if path.exists():
    session = cusal.Session.load(path, items)
else:
    session = cusal.Session(items, LogisticRegression(), "margin", labelled={{i: int(labels[i]) for i in range(20)}})
while len(session.labels) < 140:
    asked = session.ask(4).indices
    session.tell(asked, labels[asked])
    session.save(path)
"""


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parent]:
    parent = Parent(tmp_path_factory.mktemp("log") / "log")
    yield parent
    parent.close()


def finish(child: Child) -> None:
    assert child.finish() == 0, child.parent.log.read_text()[-3000:]


def test_scoring_that_is_killed_gives_the_same_picks(parent: Parent, tmp_path: Path, record_property: Record) -> None:
    rng, kills, whole = np.random.default_rng(1), 0, 0
    (tmp_path / "pool").mkdir()
    for i in range(50):
        np.save(tmp_path / "pool" / f"{i:02}.npy", rng.dirichlet(np.ones(5), 400))
    out = tmp_path / "picks.csv"
    arguments = ["score", "--pool", str(tmp_path / "pool"), "-k", "100", "--strategy", "margin", "--out", str(out)]
    started = time.monotonic()
    finish(parent.start(*arguments))
    duration, expected = time.monotonic() - started, out.read_bytes()
    out.unlink()
    while kills < KILLS_OF_SCORE:
        child = parent.start(*arguments)
        time.sleep(rng.uniform(0, duration))
        if child.kill():
            kills += 1
        if out.exists():
            assert out.read_bytes() == expected
            out.unlink()
            whole += 1
    finish(parent.start(*arguments))
    assert out.read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == ["picks.csv", "pool"]
    record_property("kills", kills)


def test_a_session_that_is_killed_while_it_is_saved_asks_for_the_same(
    parent: Parent, tmp_path: Path, record_property: Record
) -> None:
    rng, kills = np.random.default_rng(2), 0
    items = np.random.default_rng(0).normal(size=(300, 5))
    path, other = tmp_path / "session", tmp_path / "other"
    started = time.monotonic()
    finish(parent.start(code=LABELLING.format(path=str(path))))
    duration, expected = time.monotonic() - started, cusal.Session.load(path, items)
    while kills < KILLS_OF_SAVE:
        child = parent.start(code=LABELLING.format(path=str(other)))
        time.sleep(rng.uniform(0, duration / 3))
        kills += child.kill()
        if other.exists():
            found = cusal.Session.load(other, items)
            assert len(found.labels) % 4 == 0
            if len(found.labels) == 140:
                assert_same(found, expected, items)
                other.unlink()
    finish(parent.start(code=LABELLING.format(path=str(other))))
    assert_same(cusal.Session.load(other, items), expected, items)
    record_property("kills", kills)


def assert_same(one: cusal.Session, other: cusal.Session, items: np.ndarray) -> None:
    assert list(one.labels.items()) == list(other.labels.items())
    np.testing.assert_array_equal(one.predict_proba(items), other.predict_proba(items))
    np.testing.assert_array_equal(one.ask(5).indices, other.ask(5).indices)


def content(place: str | Path) -> list[object]:
    """All that a store holds, but for clocks."""

    def timeless(rows: list[dict[str, object]]) -> list[dict[str, object]]:
        return [{k: v for k, v in row.items() if k != "updated" and not k.startswith("seconds")} for row in rows]

    with Store(place, read_only=True) as store:
        store.check().require()
        return [timeless(read()) for read in (store.runs, store.rounds, store.metrics, store.bins, store.picks)]


def count_rounds(place: Path) -> int:
    with suppress(StoreError), Store(place, read_only=True) as store:
        return len(store.rounds())
    return 0


def wait_for_rounds(place: Path, count: int, child: Child) -> None:
    """Wait for some rounds, or for the end of the runner: all may be done, or under way in workers of the last one."""
    end = time.monotonic() + SECONDS
    while count_rounds(place) < count and not child.ended:
        assert time.monotonic() < end, f"no {count} rounds in {SECONDS} s"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture(scope="module")
def uninterrupted(parent: Parent, grid: Path) -> list[object]:
    place = grid.with_name("whole.db")
    finish(parent.start("bench", str(grid), "--store", str(place), "--workers", "2"))
    return content(place)


@pytest.mark.parametrize("workers", KILLS_OF_BENCH)
def test_a_benchmark_that_is_killed_equals_one_that_was_not(
    parent: Parent, grid: Path, tmp_path: Path, uninterrupted: list[object], workers: int, record_property: Record
) -> None:
    rng, kills, place = np.random.default_rng(workers), 0, tmp_path / "runs.db"
    arguments = ["bench", str(grid), "--store", str(place), "--workers", str(workers)]
    while kills < KILLS_OF_BENCH[workers]:
        child = parent.start(*arguments)
        if rng.random() < 0.3:  # while it starts
            time.sleep(rng.uniform(0, 3))
        else:
            wait_for_rounds(place, min(43, count_rounds(place) + int(rng.integers(1, 6))), child)
            time.sleep(rng.uniform(0, 0.3))
        if rng.random() < 0.3 and kills + 1 < KILLS_OF_BENCH[workers]:
            kills += kill_a_worker(place)
            time.sleep(rng.uniform(0, 0.5))
        kills += child.kill(alone=bool(rng.random() < 0.3))
        if count_rounds(place) == 44:
            await_workers(place)
            finish(parent.start(*arguments))
            assert content(place) == uninterrupted
            shutil.rmtree(tmp_path)
            tmp_path.mkdir()
    await_workers(place)
    finish(parent.start(*arguments))
    assert content(place) == uninterrupted
    record_property("kills", kills)


def kill_a_worker(place: Path) -> bool:
    """Kill one process that has a run; return whether there was one."""
    with suppress(StoreError), Store(place, read_only=True) as store:
        for run in store.runs():
            if run["status"] == "running" and run["owner"]:
                with suppress(ProcessLookupError):
                    os.kill(int(run["owner"].split("/")[1]), signal.SIGKILL)
                    return True
    return False


def await_workers(place: Path) -> None:
    """Wait until the workers of a runner that was killed alone have ended too."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with suppress(StoreError), Store(place, read_only=True) as store:
            owners = {run["owner"] for run in store.runs() if run["owner"]}
            if not any(Path(f"/proc/{owner.split('/')[1]}").exists() for owner in owners):
                return
        if not place.exists():
            return
        time.sleep(0.1)
    raise AssertionError("workers outlive their runner")
