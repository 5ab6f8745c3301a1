"""Experiments that differ in one setting, side by side: how each strategy does as the setting changes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cusal.apps.bench.report.axes import Axes
from cusal.apps.bench.report.curves import Curves, Swept, Values, deviation, mean
from cusal.apps.bench.report.measures import MEASURES, Measure
from cusal.apps.bench.report.plot import Draw, Panel, Plot
from cusal.apps.bench.report.styles import Styles
from cusal.apps.bench.report.tables import RULE, SPREAD, Cell, Table, compared
from cusal.apps.bench.spec import Spec


@dataclass(frozen=True)
class Sweep:
    """The experiments of one sweep by the value of its setting, in ascending order."""

    name: str
    key: str
    members: dict[str, Curves]

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies that every member has."""
        first, *rest = self.members.values()
        return tuple(s for s in first.strategies if all(s in other.strategies for other in rest))


def find_sweeps(experiments: Iterable[Curves]) -> list[Sweep]:
    """Return the sweeps among some experiments, each of two values or more."""
    found: dict[tuple[str, str], dict[str, Curves]] = defaultdict(dict)
    for curves in experiments:
        for swept in curves.swept:
            found[swept.sweep, swept.key][swept.value] = curves
    sweeps = [
        Sweep(name, key, dict(sorted(members.items(), key=lambda item: _order(item[0]))))
        for (name, key), members in found.items()
        if len(members) > 1
    ]
    return [sweep for sweep in sweeps if sweep.strategies]


def sweep_plot(sweep: Sweep, looks: Styles) -> Plot:
    """Return each measure, averaged over all rounds, against the setting."""
    panels = tuple(Panel(measure.title + measure.unit, _lines(sweep, looks, measure)) for measure in _measured(sweep))
    return Plot(
        name="sweep",
        title=f"How much depends on {sweep.key}",
        caption=f"Each experiment was repeated with other values of {sweep.key}. A point is the mean over all rounds "
        "of a run, averaged over seeds; the bar is ± one standard deviation. Accuracy: higher is better. Calibration "
        "errors: lower is better, and all of them have one axis. Where lines keep their order from left to right, the "
        "comparison does not depend on the setting.",
        panels=panels,
        legend=tuple((strategy, looks[strategy]) for strategy in sweep.strategies),
    )


def sweep_tables(sweep: Sweep) -> tuple[Table, ...]:
    """Return a table for each measure: a row for each strategy, a column for each value of the setting."""
    return tuple(_table(sweep, measure) for measure in _measured(sweep))


def _table(sweep: Sweep, measure: Measure) -> Table:
    columns: list[list[Cell]] = [compared(_areas(sweep, value, measure), measure) for value in sweep.members]
    rows = tuple((strategy, tuple(column[i] for column in columns)) for i, strategy in enumerate(sweep.strategies))
    return Table(
        name=f"sweep_{measure.name}",
        title=f"{measure.title} by {sweep.key}, {measure.better}",
        caption="The mean over all rounds of the runs that came to the end.",
        note=f"{SPREAD} {RULE}",
        head="Strategy",
        columns=tuple(f"{sweep.key} = {value}" for value in sweep.members),
        rows=rows,
    )


def _measured(sweep: Sweep) -> list[Measure]:
    return [measure for measure in MEASURES if all(curves.has(measure.key) for curves in sweep.members.values())]


def _areas(sweep: Sweep, value: str, measure: Measure) -> Values:
    """Return (strategies, seeds): the mean over the rounds, NaN for runs that are not finished."""
    curves = sweep.members[value]
    rows = [curves.strategies.index(strategy) for strategy in sweep.strategies]
    areas: Values = curves.of_key(measure.key)[rows].mean(axis=2)
    return areas


def _lines(sweep: Sweep, looks: Styles, measure: Measure) -> Draw:
    areas = [_areas(sweep, value, measure) * measure.scale for value in sweep.members]
    top = None if measure.higher else 1.05 * _highest_error(sweep)
    centres = np.array([mean(area, axis=1) for area in areas])  # (values, strategies)
    spreads = np.array([deviation(area, axis=1) for area in areas])
    places = np.arange(len(areas))

    def draw(ax: Axes) -> None:
        count = len(sweep.strategies)
        for row, strategy in enumerate(sweep.strategies):
            look = looks[strategy]
            x = places + 0.05 * (row - (count - 1) / 2)  # bars side by side, not on top of each other
            thin = replace(look, dash=(), width=0.9)
            for place, middle, spread in zip(x, centres[:, row], spreads[:, row], strict=True):
                ax.line([place, place], [middle - spread, middle + spread], thin)
            ax.line(x, centres[:, row], look, marked=range(len(x)))
        ax.x.named = [(float(place), value) for place, value in zip(places, sweep.members, strict=True)]
        ax.x.title, ax.x.margin = sweep.key, 0.12
        if top is not None:
            ax.y.low, ax.y.high = 0.0, top

    return draw


def _highest_error(sweep: Sweep) -> float:
    """Return the highest mean of any calibration error with its deviation: all errors have one axis."""
    every = [_areas(sweep, value, m) for value in sweep.members for m in _measured(sweep) if not m.higher]
    reached = [mean(area, axis=1) + np.nan_to_num(deviation(area, axis=1)) for area in every]
    highest = np.nanmax(np.concatenate(reached), initial=0.0)
    return float(highest) or 1.0


def _order(value: str) -> tuple[float, str]:
    try:
        return float(value), value
    except ValueError:
        return float("inf"), value


# Which sweeps an experiment of a store belongs to.
#
# Specs carry the sweep that made them. Those of earlier versions do not, and neither do experiments of one grid that
# were started one by one with other settings: there the settings that the grid's name tells, `NAME key=value`, are
# taken from the spec's own values.


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
