"""Forged archives and stores: no code of theirs runs, nothing leaves the folder, nothing fills the memory."""

import gzip
import json
import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_store import some_rounds, write

from cusal._files import cache_folder
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import ExportedRuns, Store, process_name, run_file
from cusal.apps.bench.store.digests import MAGIC, signed, verified
from cusal.errors import StoreError
from cusal.session import Checkpoint

SPEC = Spec("try", "cusal", "blobs", "cusal", seed=0, rounds=3, batch_size=2, warm_up=4, network={})
RUN = SPEC.run


class Attack:
    """A pickle that leaves a mark when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def half_done(place: Path) -> None:
    with Store(place) as store:
        store.add([RUN])
        claim = store.claim([RUN.id])
        assert claim is not None
        for record, state in list(some_rounds())[:2]:
            write(store, claim, record, state)
        store.release(process_name())


def exported(tmp_path: Path) -> Path:
    """Export a run after its second round, and return the folder."""
    half_done(tmp_path / "runs.db")
    with Store(tmp_path / "runs.db") as store:
        store.export(tmp_path / "out")
    return tmp_path / "out"


def run_path(folder: Path) -> Path:
    return folder / f"{run_file.ExportedRun(vars(RUN), {}).path}.json.gz"


def change(path: Path, changed: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(gzip.decompress(path.read_bytes()))
    changed(content)
    path.write_bytes(gzip.compress(json.dumps(content).encode()))


def test_a_session_of_this_user_resumes_after_its_export(tmp_path: Path) -> None:
    folder = exported(tmp_path)
    with Store(":memory:") as store:
        assert store.load(folder).resuming == (RUN.id,)
        claim = store.claim([RUN.id])
    assert claim is not None
    assert not claim.refused
    assert claim.state is not None
    assert isinstance(pickle.loads(claim.state), Checkpoint)


@pytest.mark.parametrize("prefix", [b"", MAGIC + bytes(32)])
def test_a_forged_session_is_not_read_and_its_run_starts_again(tmp_path: Path, prefix: bytes) -> None:
    folder = exported(tmp_path)
    attack = prefix + pickle.dumps(Attack(tmp_path / "mark"))
    run_path(folder).with_name(run_path(folder).name.replace(".json.gz", ".session.gz")).write_bytes(
        gzip.compress(attack)
    )
    with Store(":memory:") as store:
        assert store.load(folder).starting_again == (RUN.id,)
        claim = store.claim([RUN.id])
        assert claim is not None
        assert claim.refused
        assert claim.state is None
        assert store.rounds() == []
        store.release(process_name())
        store.load(folder)
        claim = store.claim([RUN.id], trusted=True)
    assert claim is not None
    assert claim.state == attack[len(prefix) :]
    assert not (tmp_path / "mark").exists()


def test_a_session_of_one_run_is_none_of_another() -> None:
    assert verified("one", signed("one", b"state")) == b"state"
    assert verified("two", signed("one", b"state")) is None
    assert verified("one", signed("one", b"state")[:-1]) is None
    assert verified("one", None, trusted=True) is None


def test_the_key_is_for_the_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "cache"))
    stored = signed("one", b"state")
    (key,) = cache_folder().iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(0o644)
    assert verified("one", stored) is None
    assert signed("one", b"state") == b"state"  # not signed by a key that others can read
    key.chmod(0o600)
    assert verified("one", stored) == b"state"


def test_without_a_place_for_the_key_runs_are_stored_but_do_not_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "file"))
    assert signed("one", b"state") == b"state"
    assert verified("one", b"state") is None


def test_a_run_under_the_id_of_another_is_refused(tmp_path: Path) -> None:
    folder = exported(tmp_path)
    evil = Spec("try", "cusal", "blobs", "os:abort", seed=0, rounds=3, batch_size=2, warm_up=4, network={})
    change(run_path(folder), lambda content: content["run"].update(spec=evil.json))
    with pytest.raises(StoreError, match=f"its id is {RUN.id}, but its spec is that of run {evil.id}"):
        ExportedRuns(folder).runs()


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "path in the id": (lambda c: c["run"].update(id="../../x"), "its id is '../../x'"),
    "number as id": (lambda c: c["run"].update(id=7), "its id is '7'"),
    "unknown status": (lambda c: c["run"].update(status="great"), "its status is 'great'"),
    "running": (lambda c: c["run"].update(status="running"), "its status is 'running'"),
    "another seed": (lambda c: c["run"].update(seed=9), "its seed is 9, but that of its spec is 0"),
    "text as seed": (lambda c: c["run"].update(seed="0"), "its seed is '0'"),
    "huge number": (lambda c: c["rounds"].update(labelled=[2**70, 6]), "its labelled is"),
    "flag as number": (lambda c: c["rounds"].update(labelled=[True, 6]), "its labelled is 'True'"),
    "list as number": (lambda c: c["rounds"].update(temperature=[[1], 1.0]), "its temperature is"),
    "no number": (lambda c: c["rounds"].update(temperature=[float("nan"), 1.0]), "its temperature is nan"),
    "number beyond all figures": (
        lambda c: c["rounds"].update(temperature=[-1e308, 1.0]),
        r"its temperature is -1e\+308",
    ),
    "half a character": (lambda c: c["run"].update(traceback="\ud800"), "surrogates not allowed"),
    "columns of two lengths": (lambda c: c["rounds"].update(labelled=[4]), "zip"),
    "rounds out of order": (lambda c: c["rounds"].update(round=[1, 0]), "its rounds are not 0 to 3"),
    "round below zero": (lambda c: c["rounds"].update(round=[-1, 0]), "its rounds are not 0 to 3"),
    "spec that is no table": (lambda c: c["run"].update(spec="[]"), "its spec is not a table"),
    "no spec": (lambda c: c["run"].pop("spec"), "its run has"),
    "no table": (lambda c: c.update(run=[]), ""),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_no_export_writes_is_refused(forgery: str, tmp_path: Path) -> None:
    folder = exported(tmp_path)
    changed, message = FORGERIES[forgery]
    change(run_path(folder), changed)
    with Store(":memory:") as store:
        with pytest.raises(StoreError, match=f"is not a file that an export wrote: .*{message}"):
            store.load(folder)
        assert store.runs() == []


def test_deep_json_is_refused(tmp_path: Path) -> None:
    folder = exported(tmp_path)
    run_path(folder).write_bytes(gzip.compress(b"[" * 200_000))
    with pytest.raises(StoreError, match="is not a file that an export wrote"):
        ExportedRuns(folder).runs()


def test_a_small_file_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = exported(tmp_path)
    monkeypatch.setattr(run_file, "LARGEST_BYTES", 1 << 20)
    run_path(folder).write_bytes(gzip.compress(bytes(5 << 20)))
    with pytest.raises(StoreError, match="unpacks to more than 1 MB, which no export does"):
        ExportedRuns(folder).runs()


def test_a_link_out_of_the_folder_is_neither_read_nor_written(tmp_path: Path) -> None:
    folder, other = exported(tmp_path), tmp_path / "other"
    (folder / "try").rename(other)
    (folder / "try").symlink_to(other)
    with pytest.raises(StoreError, match=r"leads out of .* by a link"):
        ExportedRuns(folder).runs()
    before = sorted(other.iterdir())
    with Store(tmp_path / "runs.db") as store, pytest.raises(StoreError, match="leads out of"):
        store.export(folder)
    assert sorted(other.iterdir()) == before


def test_names_and_tracebacks_of_any_length_come_back(tmp_path: Path) -> None:
    name = "🦊 ~/../=$\n" * 60
    spec = Spec(name, "x" * 500, "blobs", "cusal", seed=0, rounds=3, batch_size=2, warm_up=4, network={})
    text = "line\n" * 100_000
    with Store(tmp_path / "runs.db") as store, Store(":memory:") as copy:
        store.add([spec.run])
        claim = store.claim([spec.id])
        assert claim is not None
        store.fail(claim, text)
        store.export(tmp_path / "out")
        copy.load(tmp_path / "out")
        (row,) = copy.runs()
    assert (row["experiment"], row["strategy"], row["traceback"]) == (name, "x" * 500, text)
    assert {path.parent.parent for path in (tmp_path / "out").rglob("*.gz")} == {tmp_path / "out"}


def test_a_store_whose_spec_was_exchanged_runs_no_code_of_it(tmp_path: Path) -> None:
    from cusal.apps.bench.worker import run

    evil = Spec("try", "cusal", "blobs", "os:abort", seed=0, rounds=3, batch_size=2, warm_up=4, network={})
    with Store(tmp_path / "runs.db") as store:
        store.add([type(RUN)(**{**vars(RUN), "spec": evil.json})])
        claim = store.claim([RUN.id])
        assert claim is not None
        news = run(store, claim)
    assert news.kind == "failed"
    assert f"run {RUN.id} has the spec of run {evil.id}" in news.text
