"""Experiments with names that every format can show: one line, not too long, nothing that a reader cannot see.

A name that is cut keeps its end and gets a hash, so that two that differ stay two; the settings then say the whole.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any

from cusal._plain_text import one_line, short_name, visible
from cusal.apps.bench.report.curves import Curve, Curves

LONGEST_TITLE = 160  # of an experiment: titles may fill a line or two, strategies stand beside figures


def as_shown(experiments: Iterable[Curves]) -> list[Curves]:
    """Return the experiments with every name as the report shows it; their numbers are the same."""
    return [_curves(curves) for curves in experiments]


def _curves(curves: Curves) -> Curves:
    named = {field.name: getattr(curves, field.name) for field in dataclasses.fields(curves)}
    kept = ("runs", "rounds", "seeds", "values")
    changed = {name: _shown(value) for name, value in named.items() if name not in kept}
    strategies = tuple(map(short_name, curves.strategies))
    return dataclasses.replace(curves, **changed | {"strategies": strategies, "runs": tuple(map(_run, curves.runs))})


def _run(run: Curve) -> Curve:
    settings = {one_line(name): one_line(value) for name, value in run.settings.items()}
    if short_name(run.strategy) != one_line(run.strategy):
        settings["whole name"] = one_line(run.strategy)
    traceback = None if run.traceback is None else visible(run.traceback)
    return dataclasses.replace(run, strategy=short_name(run.strategy), settings=settings, traceback=traceback)


def _shown(value: Any) -> Any:
    """Return names, and records and tuples of names, as they are shown."""
    if isinstance(value, str):
        return short_name(value, LONGEST_TITLE)
    if isinstance(value, tuple):
        return tuple(map(_shown, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **{name: _shown(getattr(value, name)) for name in names})
    return value
