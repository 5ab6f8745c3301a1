"""The formats of an export, one file each: a module with a class `Sink`.

Adding a format is adding its file here; nothing else lists them. All formats are fed at once, chunk by chunk, since
predictions of a large project are computed once and fit in no memory.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol, cast

from cusal.apps.label.export.contents import AnsweredItem, Overview, Predicted
from cusal.errors import UnknownName


class Sink(Protocol):
    """An export in one format, which is being written to a folder; it appears in its place when all is written."""

    takes_predictions: ClassVar[bool]

    def __init__(self, folder: Path, overview: Overview) -> None: ...

    def answered(self, items: Sequence[AnsweredItem]) -> None:
        """Add items that somebody answered."""

    def predicted(self, chunk: Predicted) -> None:
        """Add predictions of items without a label."""

    def close(self) -> list[str]:
        """Complete the files, and return what could not be written, in sentences."""


class Format(Protocol):
    """A module of a format."""

    Sink: type[Sink]


def names() -> list[str]:
    """Return the names of all formats."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def find(name: str) -> type[Sink]:
    """Return the sink of a format."""
    if name not in names():
        raise UnknownName("format", name, names())
    return cast(Format, importlib.import_module(f"{__name__}.{name}")).Sink
