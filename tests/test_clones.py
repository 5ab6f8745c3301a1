"""What a stranger does first: clone into a folder of any name, and run the tests there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    "tests/fuzz/test_fuzzed_calls.py",
    "tests/test_cli.py",
    "tests/test_files.py",
    "tests/apps/label/test_export_names.py",
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="no clone of the repository"),
]


@pytest.mark.parametrize(
    ("folder", "umask", "locale"), [("cusal", 0o022, "C.UTF-8"), ("my cusal", 0o022, "C.UTF-8"), ("x", 0o077, "C")]
)
def test_the_tests_pass_in_a_clone_of_any_name(folder, umask, locale, tmp_path):
    clone = tmp_path / folder
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True, umask=umask)
    environment = os.environ | {"PYTHONPATH": str(clone / "src"), "LC_ALL": locale, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *FILES]
    done = subprocess.run(command, cwd=clone, env=environment, umask=umask, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture
def project(tmp_path):
    """A folder with what make reads, and an environment in it."""
    folder = tmp_path / "my cusal"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    make(folder)
    (folder / ".venv" / "mark").touch()
    return folder


def make(folder, target=".venv/bin/python"):
    done = subprocess.run(["make", target], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run([folder / ".venv/bin/python", "-m", "pip", "--version"], check=True, capture_output=True)


def test_an_environment_that_works_is_kept(project):
    make(project)
    assert (project / ".venv" / "mark").exists()


def test_an_environment_whose_python_is_gone_is_made_again(project):
    (project / ".venv/bin/python").unlink()
    (project / ".venv/bin/python").symlink_to("/no/such/python")
    make(project)
    assert not (project / ".venv" / "mark").exists()


def test_an_environment_of_a_folder_that_moved_is_made_again(project):
    moved = project.rename(project.with_name("elsewhere"))
    make(moved)
    assert not (moved / ".venv" / "mark").exists()
