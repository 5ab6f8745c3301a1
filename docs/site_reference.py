"""A hook of mkdocs: `<!-- every cusal.strategies -->` stands for every public name of a room, from its `__all__`.

So a new strategy, metric or error is in the reference without a list being edited; `<!-- every cusal but Audit -->`
leaves out what another page describes. Nothing is imported: the names are read from the source.
"""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
EVERY = re.compile(r"^<!-- every ([\w.]+)(?: but ([\w ]+))? -->$", re.MULTILINE)
ENTRY = re.compile(r"^::: ([\w.]+)", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the page with an entry of the reference for every name that is meant."""
    return EVERY.sub(lambda match: "\n\n".join(f"::: {name}" for name in meant(match)), markdown)


def meant(match: re.Match[str]) -> list[str]:
    """Return the names that a mark stands for."""
    elsewhere = (match[2] or "").split()
    return [name for name in defined(match[1]) if name.rpartition(".")[2] not in elsewhere]


def entries(markdown: str) -> list[str]:
    """Return the names that a page of the reference describes."""
    return ENTRY.findall(on_page_markdown(markdown))


def defined(module: str) -> list[str]:
    """Return the full names of the public classes and functions of a module: what its stub exports, or it defines.

    The package of strategies also exports a class of each of its files: `batch_bald.py` holds `BatchBald`.
    """
    path = SOURCE.joinpath(*module.split("."))
    if not path.is_dir():
        return [f"{module}.{name}" for name in public_names(path.with_suffix(".py"))]
    names = exported(path / "__init__.pyi") or exported(path / "__init__.py")
    if names and module != "cusal.strategies":
        rooms = {found.name for found in path.iterdir() if found.is_dir()}
        return [f"{module}.{name}" for name in names if name not in rooms and not name.startswith("_")]
    names = public_names(path / "__init__.py")
    if module == "cusal.strategies":
        names = [file.stem.title().replace("_", "") for file in sorted(path.glob("[!_]*.py"))] + names
    return [f"{module}.{name}" for name in names]


def public_names(path: Path) -> list[str]:
    """Return the names of the public classes and functions of a file, in the order in which they stand there."""
    nodes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return [node.name for node in nodes if not node.name.startswith("_")]


def exported(path: Path) -> list[str]:
    """Return the names in `__all__` of a package's stub or file; none where it is computed."""
    for node in ast.parse(path.read_text()).body if path.exists() else ():
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "__all__"
            and isinstance(node.value, ast.List)
        ):
            return list(ast.literal_eval(node.value))
    return []
