"""What pip installs: every dependency is pinned, the oldest ones are those that pyproject.toml names."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
ALL = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
NOT_TRIED_WITH_THE_OLDEST = {
    "mcp",
    "torch",
    "openvino",
    "ray",
    "images",
    "text",
    "label",
    "dev",
}  # too large, or for no library


def parse(requirement):
    """Return the name, the sign and the version of a requirement such as `psycopg[binary]>=3.1`."""
    name, sign, version = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(==|>=)([\w.]+)", requirement).groups()
    return re.sub(r"[-_.]+", "-", name).lower(), sign, version


def pins(file):
    lines = (ROOT / "requirements" / file).read_text().splitlines()
    parsed = [parse(line) for line in lines if line and not line.startswith("#")]
    assert {sign for _, sign, _ in parsed} == {"=="}
    return {name: version for name, _, version in parsed}


@pytest.mark.parametrize("requirement", ALL)
def test_every_dependency_is_pinned_for_development(requirement):
    assert parse(requirement)[0] in pins("constraints.txt")


def test_libraries_to_compare_with_are_pinned_alike():
    constraints = pins("constraints.txt")
    assert {name: constraints[name] for name in pins("peers.txt")} == pins("peers.txt")


@pytest.mark.parametrize("file", ["peers-alone.txt", "peers-older.txt"])
def test_libraries_that_are_installed_by_themselves_are_pinned(file):
    assert pins(file)


def test_torch_is_the_version_that_installs_as_a_cpu_build():
    assert f"TORCH := torch=={pins('constraints.txt')['torch']}\n" in (ROOT / "Makefile").read_text()


def test_the_oldest_versions_are_the_lower_bounds():
    tried = [line for name, extra in EXTRAS.items() if name not in NOT_TRIED_WITH_THE_OLDEST for line in extra]
    oldest = pins("oldest.txt")
    for name, _, version in map(parse, [*PROJECT["dependencies"], *tried]):
        assert re.fullmatch(rf"{re.escape(version)}(\.0)*", oldest[name]), f"{name}: oldest.txt has {oldest[name]}"
