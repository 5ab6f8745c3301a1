"""Exhibits of a report: a heading with a figure, tables, or both, made by functions that `contents` holds.

To add one, write a file in `contents`, or a function in one of its files:

    @exhibit(order=75)
    def confidences(curves: Curves, looks: Styles) -> Plot | None: ...
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from cusal.apps.bench.report.curves import Curves
from cusal.apps.bench.report.plot import Plot
from cusal.apps.bench.report.styles import Styles
from cusal.apps.bench.report.tables import Table


@dataclass(frozen=True)
class Exhibit:
    """A heading with a figure, tables, or both; `name` is its anchor on the page."""

    name: str
    title: str
    plot: Plot | None
    tables: tuple[Table, ...]

    @classmethod
    def of(cls, plot: Plot | None, *tables: Table | None) -> "Exhibit | None":
        """Return the exhibit of a figure and the tables below it, of what there is of them; None without any."""
        there = tuple(table for table in tables if table is not None)
        if plot is not None:
            return cls(plot.name, plot.title, plot, there)
        return cls("tables", "Tables", None, there) if there else None


Maker = Callable[[Curves, Styles], Plot | Exhibit | None]
_MAKERS: dict[str, tuple[int, Maker]] = {}


Made = TypeVar("Made", Plot, Exhibit, Plot | None, Exhibit | None)


def exhibit(order: int) -> Callable[[Callable[[Curves, Styles], Made]], Callable[[Curves, Styles], Made]]:
    """Mark a function that makes an exhibit of the report.

    Parameters
    ----------
    order : int
        The place of the exhibit among the others: 10 for the first, in steps of ten.

    Returns
    -------
    decorator
        For a function of the curves of an experiment and the looks of its strategies that returns a figure, an exhibit,
        or None where the curves have nothing to show; the function itself stays as it is.
    """

    def register(make: Callable[[Curves, Styles], Made]) -> Callable[[Curves, Styles], Made]:
        _MAKERS[f"{make.__module__}.{make.__qualname__}"] = order, make
        return make

    return register


def make_exhibits(curves: Curves, looks: Styles) -> Iterator[Exhibit]:
    """Yield the exhibits that an experiment has anything to show in, in their order."""
    from cusal.apps.bench.report import contents

    for module in pkgutil.iter_modules(contents.__path__):
        importlib.import_module(f"{contents.__name__}.{module.name}")
    for _, make in sorted(_MAKERS.values(), key=lambda entry: entry[0]):
        made = make(curves, looks)
        if isinstance(made, Plot):
            made = Exhibit.of(made)
        if made is not None:
            yield made
