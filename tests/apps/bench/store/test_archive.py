"""Exports: what goes out comes back bit for bit, each run in its own file, and unfinished runs resume."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_store import some_rounds, write

from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import ExportedRuns, Run, Store, archive, process_name
from cusal.errors import DataError, StoreError

FORMER = Path(__file__).parents[1] / "before_rooms" / "half"


def some_run(*, seed: int) -> Run:
    return Spec("try", "cusal", "blobs", "cusal", seed, rounds=3, batch_size=2, warm_up=4, network={}).run


DONE, HALF, OPEN = (some_run(seed=seed).id for seed in range(3))


def fill(store: Store) -> None:
    """One run that is done, one after its second round, one that was never begun."""
    store.add([some_run(seed=seed) for seed in range(3)])
    for name, count in ((DONE, 4), (HALF, 2)):
        claim = store.claim([name])
        assert claim is not None
        for record, state in list(some_rounds())[:count]:
            write(store, claim, record, state)
    store.release(process_name())


def files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def content(store: Store | ExportedRuns) -> list[list[dict[str, Any]]]:
    return [store.runs(), store.rounds(), store.metrics(), store.bins(), store.picks()]


def test_an_export_loads_back_bit_for_bit(place: str, tmp_path: Path) -> None:
    with Store(place) as store, Store(tmp_path / "copy.db") as copy:
        fill(store)
        written = store.export(tmp_path / "out")
        assert str(written) == f"3 runs, 1 of them done; 1 resume where they stopped: {HALF}; 1 start again: {OPEN}"
        assert copy.load(tmp_path / "out") == written
        assert content(copy) == content(store)
        ours, theirs = store.claim([HALF]), copy.claim([HALF])
        assert ours is not None
        assert theirs is not None
        assert ours.state == theirs.state is not None


def test_a_compact_export_keeps_what_curves_are_made_of(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        store.export(tmp_path / "out", compact=True)
        kept = ExportedRuns(tmp_path / "out")
        assert [row["id"] for row in kept.runs()] == [DONE]
        assert kept.rounds() == store.rounds([DONE])
        assert kept.metrics() == [row for row in store.metrics([DONE]) if row["split"] == "test"]
        assert (kept.bins(), kept.picks()) == ([], [])


def test_the_same_runs_give_the_same_files(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "copy.db") as copy:
        fill(store)
        store.export(tmp_path / "one")
        copy.load(tmp_path / "one")
        copy.export(tmp_path / "two")
    first, second = (files(tmp_path / name) for name in ("one", "two"))
    names = [
        f"cusal-0-{DONE}.json.gz",
        f"cusal-1-{HALF}.json.gz",
        f"cusal-1-{HALF}.session.gz",
        f"cusal-2-{OPEN}.json.gz",
    ]
    assert list(first) == [f"try/{name}" for name in names]
    assert first == second


def test_a_run_that_is_added_changes_its_own_file_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        store.export(tmp_path / "out")
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.gz")}
        store.add([some_run(seed=3)])
        assert store.export(tmp_path / "out").runs == 4
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.gz")}
    assert after.items() - before.items() == {(path, when) for path, when in after.items() if "cusal-3-" in path.name}


def test_an_export_keeps_what_others_exported_to_the_folder(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "other.db") as other:
        fill(store)
        store.export(tmp_path / "out")
        other.add([some_run(seed=0), some_run(seed=9)])
        other.export(tmp_path / "out")
    folder = ExportedRuns(tmp_path / "out")
    assert {run["id"] for run in folder.runs()} == {DONE, HALF, OPEN, some_run(seed=9).id}
    assert len(folder.rounds([DONE])) == 4  # the other store had none of them


def test_a_session_leaves_the_folder_when_its_run_is_done(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        fill(store)
        store.export(tmp_path / "out")
        assert len(list((tmp_path / "out").rglob("*.session.gz"))) == 1
        claim = store.claim([HALF])
        assert claim is not None
        for record, state in list(some_rounds())[2:]:
            write(store, claim, record, state)
        store.export(tmp_path / "out")
    assert list((tmp_path / "out").rglob("*.session.gz")) == []


def test_a_folder_is_read_as_a_store_is(place: str, tmp_path: Path) -> None:
    with Store(place) as store:
        fill(store)
        store.export(tmp_path / "out")
        folder = ExportedRuns(tmp_path / "out")
        assert content(folder)[1:] == content(store)[1:]
        assert folder.runs() == [{k: v for k, v in run.items() if k not in ("lease", "owner")} for run in store.runs()]


def test_what_an_earlier_version_exported_is_read_and_converted(tmp_path: Path) -> None:
    shutil.copytree(FORMER, tmp_path / "out")
    before = ExportedRuns(FORMER)
    assert len(before.runs()) == 15
    with Store(tmp_path / "runs.db") as store:
        assert len(store.load(FORMER).starting_again) == 15  # nobody signed their sessions
        fill(store)
        store.export(tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.gz"))
    after, theirs = ExportedRuns(tmp_path / "out"), [run["id"] for run in before.runs()]
    assert len(after.runs()) == 18
    for ours, old in zip(content(after)[1:], content(before)[1:], strict=True):
        assert [row for row in ours if row["run_id"] in theirs] == old
    assert len(list((tmp_path / "out").rglob("*.session.gz"))) == 16


def test_an_empty_store_converts_a_former_export(tmp_path: Path) -> None:
    shutil.copytree(FORMER, tmp_path / "out")
    with Store(":memory:") as store:
        assert store.export(tmp_path / "out").runs == 0
    assert content(ExportedRuns(tmp_path / "out")) == content(ExportedRuns(FORMER))


def test_large_sessions_stay_behind_and_the_run_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL_BYTES", 10)
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "copy.db") as copy:
        fill(store)
        assert store.export(tmp_path / "out").starting_again == tuple(sorted((HALF, OPEN)))
        copy.load(tmp_path / "out")
        claim = copy.claim([HALF])
        assert claim is not None
        assert claim.state is None


def test_of_two_copies_of_a_run_the_longer_stays(place: str, tmp_path: Path) -> None:
    with Store(place) as behind, Store(tmp_path / "ahead.db") as ahead:
        fill(ahead)
        behind.add([some_run(seed=0), some_run(seed=7)])
        ahead.export(tmp_path / "ahead")
        behind.export(tmp_path / "behind")
        assert behind.load(tmp_path / "ahead").runs == 3
        assert {run["id"]: run["status"] for run in behind.runs()} == {
            DONE: "done",
            HALF: "open",
            OPEN: "open",
            some_run(seed=7).id: "open",
        }
        ahead.load(tmp_path / "behind")
        assert len(ahead.rounds([DONE])) == 4
        assert behind.load(tmp_path / "ahead").runs == 0


def test_a_run_that_somebody_is_at_is_left_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, Store(tmp_path / "ahead.db") as ahead:
        fill(ahead)
        ahead.export(tmp_path / "out")
        store.add([some_run(seed=0)])
        store.claim([DONE])
        assert store.load(tmp_path / "out").runs == 2
        assert store.rounds([DONE]) == []


def test_complains_about_files_that_no_export_wrote(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(StoreError, match=r"there is no run in .*give a folder that `cusal store export` wrote"):
            store.load(tmp_path)
        fill(store)
        store.export(tmp_path / "out")
        path = tmp_path / "out" / "try" / f"cusal-0-{DONE}.json.gz"
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        with (
            pytest.raises(StoreError, match=rf"cusal-0-{DONE}\.json\.gz is damaged"),
            Store(tmp_path / "copy.db") as copy,
        ):
            copy.load(tmp_path / "out")
        text = gzip.decompress(whole)
        for wrong in (b"[]", b"{", text.replace(b'"format":1', b'"format":9'), text.replace(b"labelled", b"lebelled")):
            path.write_bytes(gzip.compress(wrong))
            with pytest.raises(StoreError, match="is not a file that an export wrote"), Store(":memory:") as copy:
                copy.load(tmp_path / "out")
        with pytest.raises(DataError, match="cannot be written"):
            store.export(tmp_path / "runs.db")
