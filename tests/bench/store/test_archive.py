"""Exports: what goes out comes back bit for bit, and unfinished runs go on."""

from pathlib import Path

import pytest
from test_store import some_rounds, some_run, write

from cusal.bench.store import Store, archive, process_name
from cusal.errors import StoreError


def fill(store: Store) -> None:
    """One run that is done, one after its second round, one that was never begun."""
    store.add([some_run("done"), some_run("half", seed=1), some_run("open", seed=2)])
    for name, count in (("done", 4), ("half", 2)):
        claim = store.claim([name])
        assert claim is not None
        for record, state in list(some_rounds())[:count]:
            write(store, claim, record, state)
    store.release(process_name())


def content(store: Store) -> list[object]:
    return [store.runs(), store.rounds(), store.metrics(), store.bins(), store.picks()]


def test_an_export_loads_back_bit_for_bit(place: str, tmp_path: Path) -> None:
    with Store(place) as store, Store(tmp_path / "copy.db") as copy:
        fill(store)
        written = store.export(tmp_path / "out")
        assert str(written) == "3 runs, 1 of them done; 1 go on where they stopped: half; 1 start again: open"
        assert copy.load(tmp_path / "out") == written
        assert content(copy) == content(store)
        ours, theirs = store.claim(["half"]), copy.claim(["half"])
        assert ours is not None
        assert theirs is not None
        assert ours.state == theirs.state is not None


def test_the_same_runs_give_the_same_files(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "copy.db") as copy:
        fill(store)
        store.export(tmp_path / "one")
        copy.load(tmp_path / "one")
        copy.export(tmp_path / "two")
    first, second = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_large_sessions_stay_behind_and_the_run_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL_BYTES", 10)
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "copy.db") as copy:
        fill(store)
        assert store.export(tmp_path / "out").starting_again == ("half", "open")
        copy.load(tmp_path / "out")
        claim = copy.claim(["half"])
        assert claim is not None
        assert claim.state is None


def test_of_two_copies_of_a_run_the_longer_stays(place: str, tmp_path: Path) -> None:
    with Store(place) as behind, Store(tmp_path / "ahead.db") as ahead:
        fill(ahead)
        behind.add([some_run("done"), some_run("other", seed=7)])
        ahead.export(tmp_path / "ahead")
        behind.export(tmp_path / "behind")
        assert behind.load(tmp_path / "ahead").runs == 3
        assert {run["id"]: run["status"] for run in behind.runs()} == {
            "done": "done",
            "half": "open",
            "open": "open",
            "other": "open",
        }
        ahead.load(tmp_path / "behind")
        assert len(ahead.rounds(["done"])) == 4
        assert behind.load(tmp_path / "ahead").runs == 0


def test_a_run_that_somebody_is_at_is_left_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "ahead.db") as ahead:
        fill(ahead)
        ahead.export(tmp_path / "out")
        store.add([some_run("done")])
        store.claim(["done"])
        assert store.load(tmp_path / "out").runs == 2
        assert store.rounds(["done"]) == []


def test_complains_about_files_that_no_export_wrote(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(StoreError, match=r"there is no .*runs\.csv\.gz"):
            store.load(tmp_path)
        fill(store)
        store.export(tmp_path / "out")
        whole = (tmp_path / "out" / "metrics.csv.gz").read_bytes()
        (tmp_path / "out" / "metrics.csv.gz").write_bytes(whole[:-20])
        with pytest.raises(StoreError, match=r"metrics\.csv\.gz is damaged"), Store(tmp_path / "copy.db") as copy:
            copy.load(tmp_path / "out")
        (tmp_path / "out" / "metrics.csv.gz").write_bytes((tmp_path / "out" / "picks.csv.gz").read_bytes())
        with pytest.raises(StoreError, match="is not a file that an export wrote"), Store(":memory:") as copy:
            copy.load(tmp_path / "out")
        with pytest.raises(StoreError, match="cannot write to"):
            store.export(tmp_path / "runs.db")
