"""The file formats of a pool, one file each: a module with `SUFFIXES`, `describe` and `read`.

Adding a format is adding its file here; nothing else lists them.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from cusal.scale.parts import Chunk, Column, Contents, Tile

__all__ = ["Format", "find", "is_text", "suffixes"]


class Format(Protocol):
    """A module that reads one format.

    What needs an optional dependency is imported by its functions: the module itself is imported to learn its suffixes.
    A format whose units have a name, such as "row group", says so with `UNIT_NAME`; one of text with `TEXT = True`.
    """

    SUFFIXES: tuple[str, ...]

    def describe(self, path: Path, column: Column) -> Contents:
        """Return what a file holds, from headers where it has them."""

    def read(self, chunk: Chunk) -> Iterator[Tile]:
        """Yield the rows of a chunk in order, with the part's column beside them where the file has it."""


@cache
def _formats() -> dict[str, Format]:
    names = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]
    modules = [cast(Format, importlib.import_module(f"{__name__}.{name}")) for name in names]
    return {suffix: module for module in modules for suffix in module.SUFFIXES}


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all files that can be part of a pool."""
    return tuple(_formats())


def find(path: Path) -> Format:
    """Return the format of a file, by the suffix of its name."""
    return next(known for suffix, known in _formats().items() if path.name.endswith(suffix))


def is_text(path: Path) -> bool:
    """Return whether a file is a table of text, of which a folder may hold some that are no parts."""
    return bool(getattr(find(path), "TEXT", False))


def __dir__() -> list[str]:
    return __all__
