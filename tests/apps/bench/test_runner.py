"""The runner as people run it: real processes that are stopped, killed, started twice, and that fail."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from cusal.apps.bench.store import Store

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from cusal.cli import main; main()", "bench"]
GRID = """
extends = "digits"
strategies = ["random", "cusal"]
seeds = 1
rounds = 10
epochs = 30
"""
STARTED: list["subprocess.Popen[str]"] = []


@pytest.fixture(autouse=True)
def _end_what_was_started() -> Iterator[None]:
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def start(grid: Path, store: str | Path, *options: str) -> "subprocess.Popen[str]":
    command = [*COMMAND, str(grid), "--store", str(store), *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    STARTED.append(subprocess.Popen(command, text=True, start_new_session=True, **pipes))
    return STARTED[-1]


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, errors = process.communicate(timeout=240)
    return process.returncode, out, errors


def content(place: str | Path) -> list[object]:
    """All that a store holds, but for clocks."""

    def timeless(rows: list[dict[str, object]]) -> list[dict[str, object]]:
        return [{k: v for k, v in row.items() if k != "updated" and not k.startswith("seconds")} for row in rows]

    with Store(place) as store:
        tables = (store.runs(), store.rounds(), store.metrics(), store.bins(), store.picks())
        return [timeless(rows) for rows in tables]


def wait_for_rounds(place: Path, count: int) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        if place.exists():
            with Store(place) as store:
                if len(store.rounds()) >= count:
                    return
        time.sleep(0.05)
    raise AssertionError(f"no {count} rounds within four minutes")


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    (folder / "grid.toml").write_text(GRID)
    code, out, errors = finish(start(folder / "grid.toml", folder / "runs.db", "--workers", "1"))
    assert (code, errors) == (0, "")
    assert "2 of 2 runs are done" in out
    return content(folder / "runs.db")


def test_a_run_that_was_killed_equals_one_that_was_not(grid: Path, tmp_path: Path, uninterrupted: list[object]) -> None:
    place = tmp_path / "runs.db"
    for count in (3, 12):
        process = start(grid, place)
        wait_for_rounds(place, count)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    with Store(place) as store:
        kept = len(store.rounds())
    assert 12 <= kept < 22
    code, out, _ = finish(start(grid, place))
    assert code == 0
    assert "round 0 of" not in out
    assert content(place) == uninterrupted
    code, out, _ = finish(start(grid, place, "--seeds", "2", "--strategies", "random", "--workers", "1"))
    assert code == 0
    assert out.count("started") == out.count("random, seed 1: started") == 1


def test_workers_end_when_the_runner_is_killed(grid: Path, tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    process = start(grid, place, "--set", "rounds=100")
    wait_for_rounds(place, 2)
    process.kill()
    process.communicate()  # returns when the last process that holds the pipe has ended
    with Store(place) as store:
        before = len(store.rounds())
        time.sleep(1)
        assert len(store.rounds()) == before
        assert store.claim([run["id"] for run in store.runs()]) is not None


@pytest.mark.parametrize("ended_by", ["Ctrl-C", "SIGTERM of the whole group", "SIGTERM"])
def test_an_end_keeps_what_is_done_and_the_same_command_resumes(
    ended_by: str, grid: Path, tmp_path: Path, uninterrupted: list[object]
) -> None:
    place = tmp_path / "runs.db"
    process = start(grid, place)
    wait_for_rounds(place, 4)
    if ended_by == "SIGTERM":
        os.kill(process.pid, signal.SIGTERM)
    else:
        os.killpg(process.pid, signal.SIGINT if ended_by == "Ctrl-C" else signal.SIGTERM)
    code, _, errors = finish(process)
    assert code == 130
    assert errors.strip() == "stopped; the rounds done are kept, and the same command resumes from there."
    with Store(place) as store:
        assert "running" not in {run["status"] for run in store.runs()}
        assert len(store.rounds()) >= 4
    assert finish(start(grid, place))[0] == 0
    assert content(place) == uninterrupted


def test_two_runners_on_one_file_share_the_work(grid: Path, tmp_path: Path, uninterrupted: list[object]) -> None:
    place = tmp_path / "runs.db"
    runners = [start(grid, place, "--workers", "1") for _ in range(2)]
    results = [finish(runner) for runner in runners]
    assert [code for code, _, _ in results] == [0, 0]
    assert sum(out.count("started") for _, out, _ in results) == 2
    assert content(place) == uninterrupted


def test_a_failing_run_is_shown_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    grid, place = tmp_path / "grid.toml", tmp_path / "runs.db"
    network = '{ name = "small_net", sample_dropout = 0.0 }'
    grid.write_text(
        f'extends = "digits"\nstrategies = ["bald", "random"]\nseeds = 1\nrounds = 1\nnetwork = {network}\n'
    )
    code, out, errors = finish(start(grid, place, "--workers", "1"))
    assert code == 1
    assert "1 of 2 runs are done" in out
    assert "MissingMethod: SmallNet has no nn.Dropout layer" in errors
    assert "1 failed; the same command tries them again." in errors
    with Store(place) as store:
        assert {run["strategy"]: run["status"] for run in store.runs()} == {"bald": "failed", "random": "done"}
    code, out, _ = finish(start(grid, place, "--workers", "1"))
    assert code == 1
    assert out.count("started") == 1


def test_a_process_that_dies_fails_its_run_alone(grid: Path, tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    process = start(grid, place, "--workers", "1")
    wait_for_rounds(place, 2)
    with Store(place) as store:
        (owner,) = [run["owner"] for run in store.runs() if run["owner"]]
    os.kill(int(owner.split("/")[1]), signal.SIGKILL)
    code, out, errors = finish(process)
    assert code == 1
    assert "1 of 2 runs are done" in out
    assert "ended with code -9" in errors


def test_what_another_experiment_has_done_is_copied_and_not_repeated(tmp_path: Path) -> None:
    first, second, place = tmp_path / "first.toml", tmp_path / "second.toml", tmp_path / "runs.db"
    first.write_text('extends = "digits"\nstrategies = ["margin"]\nseeds = 1\nrounds = 2\nepochs = 5\n')
    second.write_text(
        'extends = "digits"\nseeds = 1\nrounds = 2\nepochs = 5\n'
        'strategies = [{name = "margin", label = "baseline"}, "random"]\n'
    )
    assert finish(start(first, place))[0] == 0
    code, out, _ = finish(start(second, place, "--workers", "1"))
    assert code == 0
    assert out.count("started") == 1  # random alone
    with Store(place) as store:
        ids = {run["strategy"]: run["id"] for run in store.runs()}
        for read in (store.rounds, store.metrics, store.bins, store.picks):
            ours, theirs = ([row | {"run_id": ""} for row in read([ids[name]])] for name in ("baseline", "margin"))
            assert ours == theirs != []
