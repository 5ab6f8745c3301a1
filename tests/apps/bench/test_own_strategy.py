"""Strategies of the user's own in grids: named by module and class, and run by worker processes."""

import subprocess
import sys

import pytest

from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.store import Store
from cusal.errors import CusalError

STRATEGY = '''
from dataclasses import dataclass

import cusal


@dataclass(frozen=True)
class Surest(cusal.Strategy):
    """The items that the model is surest of."""

    power: float = 1.0

    def keys(self, view):
        return view.probs.max(axis=1) ** self.power
'''
GRID = """
extends = "digits"
network = {name = "small_net", hidden = 8}
warm_up = 20
rounds = 2
batch_size = 5
epochs = 3
pool = 100
seeds = 1
estimator_every = 0
strategies = ["margin", {name = "my_rules:Surest", power = 2.0}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_rules.py").write_text(STRATEGY)
    (tmp_path / "mine.toml").write_text(GRID)
    return tmp_path


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.needs("sqlalchemy")
def test_a_grid_runs_a_strategy_of_the_users_own_in_worker_processes(folder):
    command = [sys.executable, "-c", "from cusal.cli import main; main()", "bench", "mine.toml", "--workers", "2"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with Store(folder / "runs.db") as store:
        statuses = {row["strategy"]: row["status"] for row in store.runs()}
    assert len(statuses) == 2
    assert set(statuses.values()) == {"done"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("power", "powre"), "did you mean 'power'"),
        (("Surest", "Surset"), "did you mean 'Surest'"),
        (("my_rules", "no_rules"), "there is no module 'no_rules'"),
    ],
)
def test_what_does_not_fit_is_named_before_anything_runs(folder, monkeypatch, change, message):
    monkeypatch.syspath_prepend(folder)
    (folder / "mine.toml").write_text(GRID.replace(*change))
    with pytest.raises(CusalError, match=message):
        read_grid(str(folder / "mine.toml")).specs()
