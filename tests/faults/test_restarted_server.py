"""A PostgreSQL server that is restarted in the middle of a grid: the runs in flight wait for it, and lose nothing."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cusal.apps.bench.store import Store

pytestmark = pytest.mark.slow

GRID = """
extends = "digits"
strategies = ["random", "margin"]
seeds = 1
rounds = 20
pool = 400
estimator_every = 0
model = "sklearn.linear_model:LogisticRegression"
"""
SECONDS = 240.0


def start(grid: Path, place: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", "from cusal.cli import main; main()", "bench", str(grid)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, "--store", place, "--workers", "2"], text=True, **pipes)


def content(place: str) -> list[object]:
    """All that a store holds, but for clocks, in one order on every database."""
    with Store(place, read_only=True) as store:
        store.check().require()
        tables = [store.runs(), store.rounds(), store.metrics(), store.bins(), store.picks()]
    hidden = ("updated", "seconds_fit", "seconds_predict", "seconds_select", "seconds_test")
    return [sorted(str({k: v for k, v in row.items() if k not in hidden}) for row in rows) for rows in tables]


def test_a_grid_outlives_its_server(own_postgres_server: Any, tmp_path: Path) -> None:
    grid, whole = tmp_path / "grid.toml", str(tmp_path / "whole.db")
    grid.write_text(GRID)
    process = start(grid, whole)
    assert process.communicate(timeout=SECONDS)[1] == ""
    place = f"{own_postgres_server.url}/postgres"
    process = start(grid, place)
    end = time.monotonic() + SECONDS
    while (done := count_rounds(place)) < 4:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert done < 42  # it is in the middle
    own_postgres_server.stop()
    time.sleep(3)
    own_postgres_server.start()
    out, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, out + errors
    assert "2 of 2 runs are done" in out
    assert content(place) == content(whole)


def count_rounds(place: str) -> int:
    with Store(place) as store:
        return len(store.rounds())
