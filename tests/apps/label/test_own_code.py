"""Code that a project names: run if this user named it, and not because the file of somebody else does."""

import subprocess
import sys

import pytest

from cusal.apps.label import NewItem, Project, Settings
from cusal.apps.label.start import Options, start_project
from cusal.apps.label.store.trusted_imports import require_named
from cusal.apps.label.worker.heads import named_model, suited_model
from cusal.apps.label.worker.vectors import makers_of
from cusal.errors import InvalidInput, ProjectError

OWN = "features_of_somebody:lengths"
CODE = """
from pathlib import Path
Path("ran").write_text("code of the project ran")
def lengths(items):
    return [[len(item)] for item in items]
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A machine on which nothing was named yet."""
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forge(folder, **changes):
    """Return the table of a project that names code, as if somebody else had made it."""
    table = folder / "mails.csv"
    table.write_text("text\n" + "".join(f"a mail of some words, number {i}\n" for i in range(40)))
    start_project(Options(str(table), classes=("a", "b"), changes=changes)).project.close()
    (named,) = (folder / "cache").glob("own-code-*.txt")
    named.unlink()
    return table


@pytest.mark.parametrize("option", ["features", "model"])
def test_a_project_of_somebody_else_runs_no_code_of_its_own(mine, option):
    table = forge(mine, **{option: OWN})
    with pytest.raises(ProjectError, match=rf"{OWN} as its {option}.*start `cusal label` with --{option} {OWN}"):
        start_project(Options(str(table)))
    with Project(mine / "mails.cusal.db") as project, pytest.raises(ProjectError, match="which is code"):
        makers_of(project, project.settings) if option == "features" else suited_model(project.settings, 10)
    started = start_project(Options(str(table), changes={option: OWN}))  # what is named here is trusted from now on
    started.project.close()
    start_project(Options(str(table))).project.close()


def test_the_command_says_so_in_one_line(mine):
    (mine / "features_of_somebody.py").write_text(CODE)
    table = forge(mine, features=OWN)
    for command in (["label", str(table), "--no-browser", "--port", "0"], ["export", "mails.cusal.db"]):
        done = subprocess.run(
            [sys.executable, "-c", "from cusal.cli import main; main()", *command],
            capture_output=True,
            text=True,
            check=False,
        )
        if command[0] == "label":
            assert done.returncode == 1
            assert done.stderr.startswith(f"cusal: the project has {OWN} as its features, which is code")
            assert done.stderr.count("\n") == 1
        assert not (mine / "ran").exists()


def test_a_list_that_others_can_write_counts_for_nothing(mine):
    with Project.create(mine / "a.db", Settings("t", features=OWN)) as project:
        project.items.add([NewItem("0", "text")])
        require_named(project.settings)
        (named,) = (mine / "cache").glob("own-code-*.txt")
        assert named.stat().st_mode & 0o777 == 0o600
        named.chmod(0o666)
        with pytest.raises(ProjectError, match="was not named by you"):
            require_named(project.settings)


def test_only_classes_of_scikit_learn_are_anybodys(mine):
    require_named(Settings("t", model="sklearn.linear_model:LogisticRegression"))
    with pytest.raises(InvalidInput, match="no model of scikit-learn"):
        named_model("sklearn.datasets:clear_data_home")
