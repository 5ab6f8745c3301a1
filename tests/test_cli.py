"""The command line: what it prints, and its exit codes."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from cusal import __version__, cli, strategies
from cusal.apps.bench import datasets
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.store import Store

Cusal = Callable[..., tuple[int, str, str]]


def call(*arguments: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run the command line in this process; return the exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "argv", ["cusal", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def cusal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cusal:
    return lambda *arguments: call(*arguments, capsys=capsys, monkeypatch=monkeypatch)


def commands() -> list[str]:
    groups = {group.name: group.typer_instance for group in cli.app.registered_groups}
    apps = {"": cli.app, **groups}
    found = [(prefix, known) for prefix, app in apps.items() if app for known in app.registered_commands]
    return sorted(f"{prefix} {known.name or known.callback.__name__}".strip() for prefix, known in found)


@pytest.mark.parametrize("command", commands())
def test_help_of_every_command_has_an_example(cusal: Cusal, command: str) -> None:
    code, out, _ = cusal(*command.split(), "--help")
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert f"Example: cusal {command}" in " ".join(plain.replace("│", " ").split())


def test_prints_its_version(cusal: Cusal) -> None:
    assert cusal("--version") == (0, f"cusal {__version__}\n", "")


def test_runs_as_a_module_too() -> None:
    done = subprocess.run([sys.executable, "-m", "cusal", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"cusal {__version__}\n"


def test_help_says_how_to_complete_commands(cusal: Cusal) -> None:
    code, out, _ = cusal("--help")
    assert code == 0
    assert "--install-completion" in out


def test_completes_commands_in_bash() -> None:
    environment = {**os.environ, "_CUSAL_COMPLETE": "complete_bash", "COMP_WORDS": "cusal sco", "COMP_CWORD": "1"}
    program = "import sys; sys.argv[0] = 'cusal'; from cusal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["score"]


def test_the_command_line_needs_no_extra() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    core = {re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]}  # type: ignore[index]
    assert {"typer", "rich"} <= core
    others = ("sqlalchemy", "matplotlib", "pooch", "torch", "PIL", "pyarrow", "ray")
    program = f"import sys; sys.modules.update(dict.fromkeys({others})); sys.argv[1:] = ['data', 'list']\n"
    program += "from cusal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "digits" in done.stdout


def test_lists_strategies_presets_and_data_sets(cusal: Cusal) -> None:
    code, out, _ = cusal("strategies")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == strategies.names()
    for line in out.splitlines():
        assert line.endswith(f"  For {strategies.find(line.split()[0]).for_whom}.")
    assert len({line.index("  For ") for line in out.splitlines()}) == 1
    code, out, _ = cusal("bench", "--list")
    assert "mnist" in out
    code, out, _ = cusal("data", "list")
    assert [line.split()[0] for line in out.splitlines()] == datasets.names()
    assert re.search(r"digits +here +1438 \+ 359 items, 1 x 8 x 8, 10 classes", out)


def test_names_the_folder_of_a_data_set(cusal: Cusal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUSAL_DATA", str(tmp_path))
    assert cusal("data", "where", "mnist") == (0, f"{tmp_path / 'mnist'}\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("bench mnst", "there is no preset named 'mnst'; did you mean 'mnist'?"),
        ("bench mnist --strategies cusl", "did you mean 'cusal'?"),
        ("bench mnist --set epoch=3", "did you mean 'epochs'?"),
        ("bench mnist --seeds few", "--seeds is 'few'; expected a number"),
        pytest.param(
            "bench digits --store no/such/folder/runs.db",
            "in a folder that does not exist",
            marks=pytest.mark.needs("torch"),
        ),
        ("data where mnst", "did you mean 'mnist'?"),
        ("report none.db", "there is no store none.db"),
        ("store export none.db out", "there is no store none.db"),
    ],
)
def test_an_error_is_one_line_and_exit_code_1(
    cusal: Cusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, errors = cusal(*arguments.split())
    assert code == 1
    assert errors.startswith("cusal: ")
    assert errors.count("\n") == 1
    assert message in errors


def test_says_which_files_of_a_data_set_are_missing(
    cusal: Cusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("CUSAL_DATA", str(tmp_path))
    code, _, errors = cusal("bench", "mnist", "--store", str(tmp_path / "runs.db"))
    assert code == 1
    assert "train-images-idx3-ubyte" in errors
    assert not (tmp_path / "runs.db").exists()


@pytest.mark.parametrize("arguments", ["bench", "bench digits --workers 0", "bench digits --rounds many", "nothing"])
def test_wrong_usage_is_exit_code_2(cusal: Cusal, arguments: str) -> None:
    assert cusal(*arguments.split())[0] == 2


def test_exports_and_loads_a_store(cusal: Cusal, tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        run = read_grid("digits").specs()[0].run
        store.add([run])
    expected = f"1 runs, 0 of them done; 1 start again: {run.id}\n"
    assert cusal("store", "export", str(tmp_path / "runs.db"), str(tmp_path / "out")) == (0, expected, "")
    assert cusal("store", "load", str(tmp_path / "new.db"), str(tmp_path / "out")) == (0, expected, "")
    with Store(tmp_path / "new.db") as store:
        assert [row["id"] for row in store.runs()] == [run.id]


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; import cusal.cli; print([m for m in ('torch', 'sqlalchemy', 'matplotlib') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert printed == "[]\n"
