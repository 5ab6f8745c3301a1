"""What holds for the project as a whole: layers, public names, docstrings, import cost."""

import ast
import doctest
import functools
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
    "features",
    "models",
    "strategies",
    "session",
    "deploy",
    "audit",
    "scale",
    "adapters",
    "apps",
    "cli",
]

# What both floors stand on, and what every application may use of the packages: their public names.
GROUND = {"errors", "_types", "_checks", "_items", "_files", "_progress"}


def room_of(module):
    """Return the layer of a module; modules at the top that begin with an underscore serve every room."""
    name = module.split(".")[1] if "." in module else module
    return "_private" if name.startswith("_") else name


def is_typing_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@functools.cache
def imports(path, *, typing_too=False):
    """Return the pairs (module, name) of what a file imports from cusal, also inside its functions."""
    tree = ast.parse(path.read_text())
    blocks = [] if typing_too else [block for block in ast.walk(tree) if is_typing_only(block)]
    left_out = {node for block in blocks for node in ast.walk(block)}
    found = []
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "cusal":
            found += [(node.module, name.name) for name in node.names]
        elif isinstance(node, ast.Import):
            found += [(name.name, "") for name in node.names if name.name.split(".")[0] == "cusal"]
    return found


def source_files(*folders):
    files = SOURCE.joinpath(*folders).rglob("*.py")
    return sorted(p for p in files if p.parent != SOURCE or p.stem not in ("__init__", "__main__"))


def test_imports_point_up():
    down = []
    for path in source_files():
        own = room_of(f"cusal.{path.relative_to(SOURCE).parts[0].removesuffix('.py')}")
        assert own in LAYERS, f"{own} has no place among the layers"
        for module, name in imports(path):
            if own in ("apps", "cli") and module == "cusal" and name in cusal.__all__:
                continue  # the door
            room = room_of(f"cusal.{name}" if module == "cusal" else module)
            if LAYERS.index(room) > LAYERS.index(own):
                down.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert not down, "\n".join(down)


def is_public(module, name):
    """Return whether an application may import this: a public name of the package, of a room, or of the ground."""
    parts = module.split(".")
    if len(parts) > 2:
        return False
    if len(parts) == 2 and parts[1] in GROUND:
        return True
    if not name:
        return True  # `import cusal`
    return name in getattr(importlib.import_module(module), "__all__", ()) or (module == "cusal" and name in GROUND)


def test_applications_come_in_by_the_door():
    inside = []
    for path in source_files("apps"):
        file = path.relative_to(SOURCE / "apps")
        own = f"cusal.apps.{file.parts[0].removesuffix('.py')}"
        for module, name in imports(path, typing_too=True):
            if module.startswith((own, "cusal.apps._")) or is_public(module, name):
                continue
            if not (module == "cusal.apps.bench" and name == "datasets"):
                inside.append(f"{file} imports {module}: {name}")
    assert not inside, "\n".join(inside)


def test_every_package_lists_its_public_names():
    unlisted = []
    for name in sorted(m.name for m in pkgutil.walk_packages([str(SOURCE)], "cusal.") if m.ispkg):
        if name.startswith(("cusal.apps.", "cusal.adapters")):
            continue  # commands and pages, not a library; and what needs the libraries of requirements/peers.txt
        package = importlib.import_module(name)
        if not hasattr(package, "__all__") or list(package.__all__) != sorted(package.__all__):
            unlisted.append(f"{name} has no sorted __all__")
            continue
        unlisted += [f"{name}.{one} is not there" for one in package.__all__ if not hasattr(package, one)]
        offered = {one for one in dir(package) if not one.startswith("_")}
        files = {module.name for module in pkgutil.iter_modules(package.__path__)}
        unlisted += [f"{name}.{one} is offered" for one in sorted(offered - set(package.__all__) - files)]
    assert not unlisted, "\n".join(unlisted)


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


def modules_of(room):
    """Return the modules of a room, or those at the top; not those that need scikit-activeml."""
    return [name for name in MODULES if room_of(name) == room]


def run_examples(modules):
    missing = None
    for module in modules:
        try:
            doctest.testmod(
                importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE, raise_on_error=True
            )
        except doctest.UnexpectedException as error:
            if not isinstance(error.exc_info[1], ImportError):
                raise error.exc_info[1] from None
            missing = error.exc_info[1]
        except ImportError as error:
            missing = error
    if missing:
        raise missing  # a missing package skips the test, as it does elsewhere, when all other examples ran


@pytest.mark.parametrize("room", sorted({room_of(name) for name in MODULES} - {"adapters"}))
def test_examples_in_docstrings_run(room):
    run_examples(modules_of(room))


@pytest.mark.peer
def test_examples_in_docstrings_of_adapters_run():
    run_examples(modules_of("adapters"))


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
