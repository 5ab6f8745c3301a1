"""What is released: it builds, installs with only what it needs, says its version in one way, and is typed."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import cusal

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
NOT_NEEDED = {"torch", "pandas", "matplotlib", "sqlalchemy", "fastapi", "ray", "pyarrow"}
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"

FIRST_STEPS = """
import warnings; warnings.simplefilter("error")
import cusal, numpy as np
assert set(cusal.__all__) <= set(dir(cusal))
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3)); y = (X[:, 0] > 0).astype(int)
session = cusal.Session(X)
for _ in range(2):
    query = session.ask(10); session.tell(query.indices, y[query.indices])
assert session.evaluate(X, y).raw["accuracy"] > 0.7
assert len(cusal.query(session.predict_proba(X), batch_size=5, strategy="margin").indices) == 5
assert len(cusal.strategies.names()) > 10
"""

USERS_SCRIPT = """
import numpy as np
from numpy.typing import NDArray

import cusal

items: NDArray[np.float64] = np.zeros((20, 2))
session = cusal.Session(items, strategy=cusal.strategies.Cusal(bandwidth=0.01), labelled={0: "a", 1: "b"})
query: cusal.Query = session.ask(3)
session.tell(query.indices, ["a", "b", "a"])
probs: NDArray[np.float64] = session.predict_proba(items)
score: float = cusal.metrics.ece(probs, ["a"] * 20, classes=session.classes_)
error: NDArray[np.float64] = cusal.calibration.pointwise_error(probs, probs, [0] * 20).error
picks: cusal.Query = cusal.query(probs, batch_size=2, strategy="margin")
"""

MISTAKES = {
    'cusal.Session([1, 2], recalibrate="by magic")': "recalibrate",
    'cusal.strategies.Cusal(bandwidth="wide")': "bandwidth",
    "cusal.query([[0.5, 0.5]], batch_size=1).indicees": "indicees",
    "cusal.Sessions": "Sessions",
}


def pythons():
    """Yield a test parameter for each Python from 3.11 on that is on this machine, also where pyenv keeps it."""
    for minor in range(11, 20):
        name = f"python3.{minor}"
        there = [shutil.which(name), *sorted(PYENV.glob(f"3.{minor}.*/bin/{name}"))]
        real = [found for found in there if found and "shims" not in Path(found).parts]  # shims may lead nowhere
        if real:
            yield pytest.param(real[0], id=name)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built from it, so that nothing is missing in the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "venv", folder / "tools")
    run(folder / "tools/bin/pip", "install", "--quiet", *SETTINGS["build-system"]["requires"])
    run(folder / "tools/bin/python", "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    run(folder / "tools/bin/pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@pytest.mark.slow
def test_wheel_and_sdist_hold_the_package_and_nothing_private(built):
    sdist, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/cusal").rglob("*") if path.is_file()}
    wanted = {name for name in source if "__pycache__" not in name}
    assert wanted - set(held) == set()
    assert {name.split("/")[0] for name in held} == {"cusal", f"cusal-{cusal.__version__}.dist-info"}
    with tarfile.open(sdist) as archive:
        packed = [name.split("/", 1)[1] for name in archive.getnames() if "/" in name]
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"} <= set(packed)
    assert sdist.stat().st_size < 5e6, "the sdist holds more than the package, its tests and its documents"


@pytest.mark.slow
@pytest.mark.parametrize("python", list(pythons()))
def test_the_wheel_works_in_an_empty_environment(built, python, tmp_path):
    run(python, "-m", "venv", tmp_path / "empty")
    own = tmp_path / "empty/bin"
    pins = ["--constraint", ROOT / "requirements/constraints.txt"]
    run(own / "pip", "install", "--quiet", *pins, built[1])
    installed = {line.split("==")[0].lower() for line in run(own / "pip", "list", "--format=freeze").split()}
    assert installed & NOT_NEEDED == set()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(own / "python", "-c", FIRST_STEPS, cwd=tmp_path, env=clean)
    assert run(own / "cusal", "--version", cwd=tmp_path, env=clean) == f"cusal {cusal.__version__}\n"
    assert "margin" in run(own / "cusal", "strategies", cwd=tmp_path, env=clean)


@pytest.mark.slow
def test_a_users_script_is_type_checked(tmp_path):
    script = tmp_path / "script.py"
    wrong = [f"{line}\n" for line in MISTAKES]
    script.write_text(USERS_SCRIPT + "".join(wrong))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run([*command, script], capture_output=True, text=True, cwd=tmp_path, env=environment)
    first_wrong = USERS_SCRIPT.count("\n") + 1
    found = dict(re.findall(r"script\.py:(\d+): error: (.*)", done.stdout))
    assert [line for line in found if int(line) < first_wrong] == [], done.stdout
    for number, word in enumerate(MISTAKES.values(), start=first_wrong):
        assert word in found[str(number)], done.stdout


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "src/cusal/py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_changelog_is_dated_and_names_this_version_first():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    parsed = [re.fullmatch(r"(\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d|unreleased)", heading) for heading in headings]
    assert all(parsed), headings
    assert parsed[0][1] == cusal.__version__
    assert [match[2] for match in parsed[1:] if match[2] == "unreleased"] == []


def test_citation_and_package_have_one_version():
    assert f"version: {cusal.__version__}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("minor", [11, 12, 13])
def test_every_python_that_was_tried_is_named(minor):
    assert PROJECT["requires-python"] == ">=3.11"
    assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]
