"""A store on a disk that cannot be written: reports, exports and checks work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cusal.apps.bench import report
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.store import Store
from cusal.apps.bench.worker import run
from cusal.errors import StoreError

MODEL = "sklearn.naive_bayes:GaussianNB"


def fill(place: Path) -> None:
    changes = {"seeds": 1, "rounds": 1, "pool": 100, "model": MODEL, "estimator_every": 0}
    (spec,) = read_grid("digits").choose(["margin"]).override(changes).specs()
    with Store(place) as store:
        store.add([spec.run])
        claim = store.claim([spec.id])
        assert claim is not None
        news = run(store, claim)
        assert news.kind == "done", news.text


def test_a_store_that_cannot_be_written_is_read(open_folder: Path, tmp_path: Path, read_only) -> None:
    place = open_folder / "stores" / "runs.db"
    place.parent.mkdir()
    fill(place)
    with Store(place) as store:
        report.write(store, tmp_path / "report", ["csv", "tex"])  # imports what a user without rights cannot
        store.export(tmp_path / "export")
    (open_folder / "out").mkdir()
    (open_folder / "out").chmod(0o777)
    with read_only(place.parent):
        with Store(place, read_only=True) as store:
            store.check().require()
            written = report.write(store, open_folder / "out" / "report", ["csv", "tex"])
            assert str(store.export(open_folder / "out" / "export")) == "1 runs, 1 of them done"
        with pytest.raises(StoreError, match=r"readonly|unable to open"):
            Store(place)
    assert all(path.stat().st_size for path in written)
    assert os.listdir(place.parent) == ["runs.db"]


def test_rounds_that_are_not_yet_in_the_file_are_not_left_out(open_folder: Path, read_only) -> None:
    with Store(open_folder / "first.db") as store:
        fill(open_folder / "first.db")
        (open_folder / "copy").mkdir()
        for ending in ("", "-wal"):  # as a kill leaves them
            shutil.copy(open_folder / f"first.db{ending}", open_folder / "copy" / f"runs.db{ending}")
        assert len(store.rounds()) == 2
    with (
        read_only(open_folder / "copy"),
        pytest.raises(StoreError, match=r"a part of it is in runs\.db-wal.*copy both files"),
    ):
        Store(open_folder / "copy" / "runs.db", read_only=True)
    with Store(open_folder / "copy" / "runs.db", read_only=True) as store:
        assert len(store.rounds()) == 2


def test_the_command_says_what_it_found(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    fill(place)
    command = [sys.executable, "-c", "from cusal.cli import main; main()", "store", "check", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"{place}: 1 runs, 2 rounds; all are as they were written."
    with Store(place) as store, store._writing() as connection:
        connection.exec_driver_sql("UPDATE picks SET item = item + 1")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"cusal: {place} is damaged, not as it was written: round 0 of run ")
    assert done.stderr.count("\n") == 1
