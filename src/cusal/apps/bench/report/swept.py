"""Which sweeps an experiment of a store belongs to.

Specs carry the sweep that made them. Those of earlier versions do not, and neither do experiments of one grid that were
started one by one with other settings: there the settings that the grid's name tells, `NAME key=value`, are taken
from the spec's own values.
"""

from collections.abc import Iterable
from typing import Any

from cusal.apps.bench.report.curves import Swept
from cusal.apps.bench.spec import Spec

_NO_SETTINGS = ("experiment", "label", "dataset", "strategy", "seed", "settings", "sweep", "task", "title")


def find_swept(specs: Iterable[Spec], *, suffix: str = "") -> tuple[Swept, ...]:
    """Return the sweeps that the runs of one experiment belong to, one for each setting that they go over.

    suffix: what the report adds to the experiment's name, and so to those of its sweeps.
    """
    specs = list(specs)
    kept = next((spec.sweep for spec in specs if spec.sweep), None)
    name, over = (kept["name"], kept["over"]) if kept else _told_by_name(specs)
    marks = {key: f"{key}={value}" for key, value in sorted(over.items())}
    return tuple(
        Swept(" ".join([name, *(mark for other, mark in marks.items() if other != key)]) + suffix, key, str(value))
        for key, value in over.items()
    )


def _told_by_name(specs: list[Spec]) -> tuple[str, dict[str, Any]]:
    """Return the name without, and the values of, the settings that it tells and that all specs have."""
    name, over = f"{specs[0].experiment} ", {}
    for key, value in vars(specs[0]).items():
        if key in _NO_SETTINGS or any(getattr(spec, key) != value for spec in specs):
            continue
        text = _as_told(key, value)
        if f" {key}={text} " in name:
            name = name.replace(f" {key}={text} ", " ")
            over[key] = text
    return name.strip(), over


def _as_told(key: str, value: Any) -> str:
    """Return a value of a spec as the grid wrote it."""
    if value is None:
        return "0" if key == "pool" else "none"
    return str(value["name"]) if isinstance(value, dict) and value.keys() == {"name"} else str(value)
