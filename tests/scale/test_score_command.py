"""`cusal score`: the command is the function's twin."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pools import make_pool, write_labelled, write_part

from cusal.scale import Files, Request, score
from cusal.strategies import Cusal


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cusal.cli import main; main()", "score", *arguments]
    settings = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("score")
    pool = make_pool()
    write_part(folder, "pool", "list", pool.probs)
    write_labelled(folder, pool)
    return folder


def test_the_command_writes_what_the_function_writes(folder: Path) -> None:
    done = run(
        folder,
        "--pool",
        "pool.parquet",
        "--labelled",
        "labelled.npz",
        "-k",
        "20",
        "--strategy",
        "cusal",
        "--bandwidth",
        "0.01",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "picks.csv\n"
    assert "700 of 700 rows" in done.stderr
    files = Files(folder / "pool.parquet", folder / "expected.csv", folder / "labelled.npz")
    score(files, Request(20, Cusal(bandwidth=0.01)), quiet=True)
    assert (folder / "picks.csv").read_bytes() == (folder / "expected.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pool", "none.npy", "-k", "5"), "there is no file or folder none.npy"),
        (("--pool", "pool.parquet", "-k", "5", "--strategy", "cusal"), "needs labelled points"),
        (("--pool", "pool.parquet", "-k", "5", "--strategy", "badge"), "Badge looks at the whole pool at once"),
        (("--pool", "pool.parquet", "-k", "5", "--strategy", "margn"), "did you mean 'margin'"),
        (("--pool", "pool.parquet", "-k", "5", "--strategy", "no.such:Thing"), "there is no module 'no'"),
        (("--pool", "pool.parquet", "-k", "5", "--strategy", "os:getcwd"), "'os:getcwd' is not a strategy"),
        (
            ("--pool", "pool.parquet", "-k", "5", "--strategy", "margin", "--bandwidth", "0.1"),
            "margin has no settings, but bandwidth",
        ),
        (("--pool", "pool.parquet", "-k", "5", "--engine", "spark"), "no engine named 'spark'"),
        (("--pool", "pool.parquet", "-k", "5", "--address", "a:1"), "add --engine ray"),
    ],
)
def test_an_error_is_one_line_and_exit_code_1(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(folder, *arguments, "--out", "other.csv")
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "other.csv").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_one_line_and_exit_code_130(tmp_path: Path, number: signal.Signals) -> None:
    os.mkfifo(tmp_path / "pool.csv")  # a pool that never ends, so that the command is in the middle
    arguments = ["score", "--pool", "pool.csv", "-k", "5", "--strategy", "margin", "--out", "picks.csv"]
    command = [sys.executable, "-c", "from cusal.cli import main; main()", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        writer = os.open(tmp_path / "pool.csv", os.O_WRONLY)  # returns when the command reads
        process.send_signal(number)
        said = process.communicate()[1]
        os.close(writer)
    assert process.returncode == 130
    assert said.strip() == "stopped; what was scored is kept, and the same command resumes from there."


def test_wrong_usage_is_exit_code_2(folder: Path) -> None:
    assert run(folder, "--pool", "pool.parquet").returncode == 2


def test_help_shows_an_example(folder: Path) -> None:
    assert "cusal score --pool" in run(folder, "--help", COLUMNS="200").stdout


OWN_STRATEGY = """
from dataclasses import dataclass
from typing import ClassVar

from cusal import Strategy


@dataclass(frozen=True)
class LastClass(Strategy):
    by_row: ClassVar[bool] = True
    sign: float = 1.0

    def keys(self, view):
        return self.sign * view.probs[:, -1]
"""


def test_a_strategy_of_ones_own_scores_files(folder: Path) -> None:
    (folder / "own_strategy_of_a_test.py").write_text(OWN_STRATEGY)
    arguments = ("--pool", "pool.parquet", "-k", "5", "--strategy", "own_strategy_of_a_test:LastClass")
    done = run(
        folder, *arguments, "--out", "own.csv", PYTHONPATH=f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    )
    assert done.returncode == 0, done.stderr
    ids = [int(line.split(",")[1]) for line in (folder / "own.csv").read_text().splitlines()[1:]]
    expected = np.lexsort((np.arange(700), -make_pool().probs[:, -1]))[:5]
    assert ids == expected.tolist()


def test_columns_ids_and_text_labels_are_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("file,cat,dog\na.png,0.9,0.1\nb.png,0.6,0.4\nc.png,0.2,0.8\n")
    (tmp_path / "known.csv").write_text("file,cat,dog,truth\nd.png,0.6,0.4,dog\ne.png,0.9,0.1,cat\n")
    named = ("--columns", "cat, dog", "--id-column", "file", "--label-column", "truth")
    done = run(tmp_path, "--pool", "pool.csv", "--labelled", "known.csv", "-k", "1", "--out", "picks.jsonl", *named)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "picks.jsonl").read_text())["id"] in ("a.png", "b.png", "c.png")
    wrong = run(tmp_path, "--pool", "pool.csv", "-k", "1", "--strategy", "margin", "--columns", "cat,bird")
    assert wrong.stderr.strip() == "cusal: pool.csv has no column bird; it has file, cat, dog."
