"""A disk that is full in the middle of the work: one line, and the same command resumes when there is room again."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench.store import Store

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from cusal.cli import main; main()"]
GRID = """
extends = "digits"
strategies = ["margin"]
seeds = 2
rounds = 8
pool = 300
estimator_every = 0
model = "sklearn.linear_model:LogisticRegression"
"""
Limit = Callable[[], None] | None


class Disk:
    """A folder with little room, and what a process must do to feel it."""

    def __init__(self, folder: Path, limit: Limit) -> None:
        self.folder, self.limit = folder, limit
        self.filler = folder / "filler"

    def fill(self, *, left: int) -> None:
        """Leave some bytes free."""
        if self.limit is None:
            free = os.statvfs(self.folder)
            self.filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - left))

    def free(self) -> None:
        self.filler.unlink(missing_ok=True)
        self.limit = None


@pytest.fixture
def disk(tmp_path: Path, record_property: Callable[[str, object], None]) -> Iterator[Disk]:
    """A file system of some megabytes; where that cannot be mounted, a limit on the size of each file."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with suppress(OSError):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True)
        if mounted.returncode == 0:
            yield Disk(folder, None)
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
            return
    record_property("said", "no file system could be mounted: a limit on the size of files stood for a full disk")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))

    yield Disk(folder, limit)


def run(*arguments: str, limit: Limit) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, preexec_fn=limit, check=False)


def content(place: Path) -> list[object]:
    """All that a store holds, but for clocks."""
    with Store(place, read_only=True) as store:
        store.check().require()
        tables = [store.runs(), store.rounds(), store.metrics(), store.bins(), store.picks()]
    return [
        [{k: v for k, v in row.items() if k != "updated" and not k.startswith("seconds")} for row in rows]
        for rows in tables
    ]


def test_a_benchmark_resumes_when_there_is_room_again(disk: Disk, tmp_path: Path) -> None:
    grid, place, whole = tmp_path / "grid.toml", disk.folder / "runs.db", tmp_path / "whole.db"
    grid.write_text(GRID)
    arguments = ["bench", str(grid), "--workers", "1", "--store"]
    assert run(*arguments, str(whole), limit=None).returncode == 0
    disk.fill(left=500_000)
    refused = run(*arguments, str(place), limit=disk.limit)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr.splitlines()[-1]
    assert any(word in refused.stderr for word in ("disk is full", "disk I/O error"))
    disk.free()
    done = run(*arguments, str(place), limit=None)
    assert done.returncode == 0, done.stderr
    assert content(place) == content(whole)


def test_scoring_resumes_when_there_is_room_again(disk: Disk, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "pool").mkdir()
    for i in range(30):
        np.save(tmp_path / "pool" / f"{i:02}.npy", rng.dirichlet(np.ones(5), 4000))
    arguments = ["score", "--pool", str(tmp_path / "pool"), "-k", "3000", "--strategy", "margin", "--out"]
    assert run(*arguments, str(tmp_path / "whole.csv"), limit=None).returncode == 0
    out = disk.folder / "picks.csv"
    disk.fill(left=500_000)
    refused = run(*arguments, str(out), limit=disk.limit)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith(f"cusal: {out}.partial cannot be written (")
    assert "Traceback" not in refused.stderr
    assert not out.exists()
    disk.free()
    assert run(*arguments, str(out), limit=None).returncode == 0
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert [path.name for path in disk.folder.iterdir()] == ["picks.csv"]


def test_a_report_is_whole_or_as_it_was(disk: Disk, tmp_path: Path) -> None:
    grid, place, out = tmp_path / "grid.toml", tmp_path / "runs.db", disk.folder / "report"
    grid.write_text(GRID)
    assert (
        run("bench", str(grid), "--workers", "1", "--set", "rounds=2", "--store", str(place), limit=None).returncode
        == 0
    )
    arguments = ["report", str(place), "--out", str(out), "--format", "html,csv"]
    disk.fill(left=20_000)
    refused = run(*arguments, limit=disk.limit and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, -1))))
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith(f"cusal: {out} cannot be written (")
    assert "Traceback" not in refused.stderr
    assert not out.exists()
    disk.free()
    assert run(*arguments, limit=None).returncode == 0
    assert (out / "report.html").read_text().rstrip().endswith("</html>")
