"""Stores that are not what was written: what is damaged is named, and never read as numbers."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from test_store import some_rounds, some_run, write

from cusal.apps.bench.report.from_store import load
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Run, Store, digests
from cusal.apps.bench.store.schema import CHECKPOINTS, DIGESTS, METRICS, PICKS, ROUNDS, RUNS
from cusal.errors import StoreError

FLIPS = 200
NOT_MEASURED = ("updated", "lease", "owner", "traceback")


def fill(store: Store) -> None:
    """Write one run that is done and one that is under way."""
    store.add([some_run("done"), some_run("open", rounds=9, seed=1)])
    for name in ("done", "open"):
        claim = store.claim([name])
        assert claim is not None
        for record, state in list(some_rounds())[: 4 if name == "done" else 3]:  # the last one would finish it
            write(store, claim, record, state)
    store.release(claim.owner)


def read_back(store: Store) -> list[object]:
    """All that a store says about what was measured and what will be resumed."""
    kept = [{k: v for k, v in row.items() if k not in NOT_MEASURED} for row in store.runs()]
    names = [row["id"] for row in kept]
    with store._reading() as connection:
        states = connection.execute(sa.select(CHECKPOINTS)).all()
    return [kept, *(read(names) for read in (store.rounds, store.metrics, store.bins, store.picks)), states]


def test_a_store_as_it_was_written_passes(place: str) -> None:
    with Store(place) as store:
        fill(store)
        found = store.check()
        assert (found.runs, found.rounds, found.damaged, found.unchecked) == (2, 7, (), ())
        found.require()
        assert "all are as they were written" in str(found)


CHANGES = {
    "round 2 of run done": METRICS.update().where(METRICS.c.round == 2).values(value=0.5),
    "round 1 of run done": PICKS.update().where(PICKS.c.round == 1, PICKS.c.rank == 0).values(item=0),
    "round 2 of run open": ROUNDS.delete().where(ROUNDS.c.run_id == "open", ROUNDS.c.round == 2),
    "round 3 of run done": METRICS.delete().where(METRICS.c.round == 3, METRICS.c.name == "ece"),
    "the settings of run done": RUNS.update().where(RUNS.c.id == "done").values(strategy="margin"),
    "the status of run done": RUNS.update().where(RUNS.c.id == "done").values(status="dond"),
    "the session of run open": CHECKPOINTS.update().values(state=b"another"),
    "round 77 of run done": DIGESTS.update().where(DIGESTS.c.round == 0).values(round=77),
}


@pytest.mark.parametrize("named", CHANGES)
def test_what_was_changed_is_named(place: str, named: str, tmp_path: Path) -> None:
    with Store(place) as store:
        fill(store)
        with store._writing() as connection:
            connection.execute(CHANGES[named])
        assert named in store.check().damaged
        with pytest.raises(StoreError, match=r"is damaged, not as it was written: .*; restore the store from a copy"):
            store.check().require()
        with pytest.raises(StoreError, match="is damaged"):
            store.export(tmp_path / "out")


def test_a_flipped_bit_is_found_or_changes_nothing(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        whole = read_back(store)
    content = (tmp_path / "runs.db").read_bytes()
    rng = np.random.default_rng(0)
    changed = refusals = 0
    for i in range(FLIPS):
        damaged = bytearray(content)
        place = int(rng.integers(len(content)))
        damaged[place] ^= 1 << int(rng.integers(8))
        path = tmp_path / f"flipped-{i}.db"
        path.write_bytes(damaged)
        refused = same = False
        try:
            with Store(path, read_only=True) as store:
                refused = bool(store.check().damaged)
                same = read_back(store) == whole
        except StoreError:
            refused = True
        path.unlink()
        changed += not same
        refusals += refused
        assert same or refused, f"flip {i}, of byte {place}, reads back as something else"
    record_property("said", f"{FLIPS} bits of a store flipped: {changed} changed what is read, and all were found")
    assert changed > FLIPS // 10
    assert refusals >= changed


def test_a_report_refuses_a_damaged_store(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        with store._writing() as connection:
            connection.execute(METRICS.update().where(METRICS.c.round == 1).values(value=0.25))
        with pytest.raises(StoreError, match="round 1 of run done"):
            load(store)


FORGED = {
    "its value is 1e+308, which no round has": METRICS.update().where(METRICS.c.round == 1).values(value=1e308),
    "its temperature is -1e+300, which no round has": ROUNDS.update().values(temperature=-1e300),
    "its labelled is 'many', expected int": sa.text("UPDATE rounds SET labelled = 'many'"),
    "its item is 'first', expected int": sa.text("UPDATE picks SET item = 'first'"),
    "its seed is 'x', expected int": sa.text("UPDATE runs SET seed = 'x'"),
}


@pytest.mark.parametrize("named", FORGED)
def test_values_that_no_run_writes_are_refused_though_their_digests_fit(named: str, tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        with store._writing() as connection:
            connection.execute(FORGED[named])
            for run_id in ("done", "open"):
                digests.write_digests(connection, run_id)
        store.check().require()
        with pytest.raises(StoreError, match=f"was changed by hand: in its table .*{re.escape(named)}; restore it"):
            read_back(store)


def test_a_store_of_an_earlier_version_is_read_and_named_as_unchecked(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        before = read_back(store)
        with store._writing() as connection:
            connection.execute(sa.text("DROP TABLE digests"))
    with Store(tmp_path / "runs.db", read_only=True) as store:
        assert read_back(store) == before
        found = store.check()
        assert (found.damaged, found.unchecked) == ((), ("done", "open"))
        assert "2 runs have rounds of an earlier version, without digests" in str(found)
        found.require()
    with Store(tmp_path / "runs.db") as store:  # opened to be written: new rounds get digests, old ones stay unchecked
        claim = store.claim(["open"])
        assert claim is not None
        record, state = next(some_rounds())
        object.__setattr__(record, "round", 3)
        write(store, claim, record, state)
        assert store.check().unchecked == ("done", "open")
        with store._reading() as connection:
            assert set(connection.scalars(sa.select(DIGESTS.c.round))) == {3, digests.SESSION}


def test_copies_and_loaded_runs_have_digests(place: str, tmp_path: Path) -> None:
    with Store(place) as store:
        done, copied, half = (
            Spec("try", "cusal", "blobs", "cusal", seed, rounds=3, batch_size=2, warm_up=4, network={}).run
            for seed in range(3)
        )
        store.add([done, copied, half])
        for run, count in ((done, 4), (half, 3)):
            claim = store.claim([run.id])
            assert claim is not None
            for record, state in list(some_rounds())[:count]:
                write(store, claim, record, state)
        store.release(claim.owner)
        store.copy(done.id, copied.id)
        store.export(tmp_path / "out")
        assert store.check().unchecked == ()
        store.check().require()
    with Store(":memory:") as other:
        other.load(tmp_path / "out")
        assert other.check().rounds == 11
        assert other.check().unchecked == ()
        other.check().require()


def test_a_run_stays_what_it_was_added_as(place: str) -> None:
    with Store(place) as store:
        store.add([some_run()])
        store.add([Run("a", "try", "blobs", "margin", 0, 3, 2, "{}")])
        assert store.runs()[0]["strategy"] == "cusal"
        store.check().require()


def test_reading_changes_no_byte_and_leaves_no_file(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with Store(place) as store:
        fill(store)
    before = place.read_bytes()
    with Store(place, read_only=True) as store:
        store.check().require()
        with pytest.raises(StoreError, match="readonly"):
            store.add([some_run("new")])
    assert place.read_bytes() == before
    assert os.listdir(tmp_path) == ["runs.db"]


def test_an_empty_file_is_no_store_and_stays_empty(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    place.touch()
    with pytest.raises(StoreError, match="is an empty file and no store"):
        Store(place, read_only=True)
    assert place.read_bytes() == b""
    assert os.listdir(tmp_path) == ["runs.db"]
