"""What holds for the project as a whole: layers, public names, docstrings, import cost."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cusal

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cusal"
MODULES = sorted(m.name for m in pkgutil.walk_packages([str(SOURCE)], "cusal.") if not m.name.endswith("__main__"))

# Parts in the order in which they may use each other: each only those before it.
LAYERS = [
    "errors",
    "_private",
    "calibration",
    "metrics",
    "tables",
    "persistence",
    "recalibration",
    "models",
    "features",
    "strategies",
    "session",
    "deploy",
    "audit",
    "scale",
    "adapters",
    "apps",
    "cli",
]

# Adapters import the libraries of requirements/peers.txt.
ADAPTERS = ("cusal.adapters.", "cusal.strategies._skactiveml")


def needing_peers(modules):
    """Return modules as parameters, those of the adapters with the mark `peer`."""
    return [pytest.param(name, marks=[pytest.mark.peer] if name.startswith(ADAPTERS) else []) for name in modules]


def room_of(module):
    """Return the layer of a module; modules at the top that begin with an underscore serve every room."""
    name = module.split(".")[1] if "." in module else module
    return "_private" if name.startswith("_") else name


def imports(path):
    tree = ast.parse(path.read_text())
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "cusal":
            yield from ([f"cusal.{name.name}" for name in node.names] if node.module == "cusal" else [node.module])
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == "cusal")


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.stem not in ("__init__", "__main__")],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_imports_point_up(path):
    own = room_of(f"cusal.{path.relative_to(SOURCE).parts[0].removesuffix('.py')}")
    assert own in LAYERS, f"{own} has no place among the layers"
    for module in imports(path):
        assert LAYERS.index(room_of(module)) <= LAYERS.index(own), f"{own} imports {module}"


def test_public_names_are_sorted_and_there():
    assert cusal.__all__ == sorted(cusal.__all__)
    for name in cusal.__all__:
        assert hasattr(cusal, name)


def test_the_names_of_the_contract_are_there():
    assert set(cusal.strategies.names()) >= {
        *("random", "least_confidence", "entropy", "margin", "rand_entropy", "bald", "batch_bald", "coreset", "badge"),
        *("cluster_margin", "cusal", "cluster_cusal", "least_calibrated", "weighted_cusal", "ddu"),
    }
    for name in ("pointwise_error", "canonical_error", "select_bandwidth"):
        assert callable(getattr(cusal.calibration, name))
    for name in ("ece", "accuracy", "nll", "brier", "classwise_ece"):
        assert callable(getattr(cusal.metrics, name))


@pytest.mark.parametrize("module", needing_peers(MODULES))
def test_examples_in_docstrings_run(module):
    try:
        doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE, raise_on_error=True)
    except doctest.UnexpectedException as error:
        raise error.exc_info[1] from None  # a missing package skips the test, as it does elsewhere


def test_the_stub_of_the_strategies_names_none_that_is_gone():
    from cusal.strategies.__main__ import stub  # `make format` writes it

    assert set((SOURCE / "strategies" / "__init__.pyi").read_text().splitlines()) <= set(stub().splitlines())


def test_importing_cusal_loads_nothing_heavy():
    heavy = ["torch", "sklearn", "matplotlib", "sqlalchemy", "ray", "typer", "rich", "pyarrow", "numba"]
    heavy += ["scipy.special", "scipy.optimize"]
    code = f"import sys, cusal; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def missing_extras():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("MissingExtra"):
                extra = node.args[1]
                assert isinstance(extra, ast.Constant), f"{path} names an extra that cannot be read here"
                yield from ((path.name, name) for name in extra.value.split(","))


def test_every_extra_that_an_error_names_exists_and_every_extra_is_named():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    named = set(missing_extras())
    assert named
    assert [(file, extra) for file, extra in named if extra not in extras] == []
    assert extras - {extra for _, extra in named} == {"dev", "openvino", "fast"}  # torch and NumPy do the same without


def test_a_strategy_file_of_another_name_is_suggested():
    with pytest.raises(cusal.CusalError, match="no strategy named 'margn'; did you mean 'margin'"):
        cusal.strategies.find("margn")


@pytest.mark.slow
@pytest.mark.needs("sqlalchemy")
@pytest.mark.needs("matplotlib")
def test_the_result_tables_are_what_the_committed_runs_give():
    check = subprocess.run([sys.executable, ROOT / "results" / "build.py", "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr
