"""Figures of what happens inside: reliability, what decided the picks, the estimator, and where the time goes."""

from typing import Any

import numpy as np

from cusal.apps.bench.report.axes import Axes
from cusal.apps.bench.report.curves import ECE, PHASES, REASONS, Curves, Key, Values, deviation, mean
from cusal.apps.bench.report.exhibits import Exhibit, exhibit
from cusal.apps.bench.report.plot import Draw, Panel, Plot
from cusal.apps.bench.report.styles import Style, Styles, faint, fixed
from cusal.apps.bench.report.tables import MISSING, SPREAD, Cell, Table, frequency_table, result_tables, stop_table
from cusal.metrics import Reliability

_SMALL = (2.3, 2.2)
_MEDIUM: dict[str, Any] = {"size": (3.3, 2.5), "columns": 3}  # for a panel of each strategy
_LEAST_ITEMS = 10
_RAW, _CORRECTED = fixed(0, marker="o", width=1.4), fixed(1, dash=(5, 1.6), marker="D", width=1.4)
_KINDS = (("raw", "the model as it is", _RAW), ("recalibrated", "recalibrated", _CORRECTED))
_PHASE_WORDS = dict(zip(PHASES, ("training", "predicting the pool", "choosing", "testing"), strict=True))


@exhibit(order=60)
def reliability_diagrams(curves: Curves, looks: Styles) -> Plot | None:
    """Return confidence against accuracy for each strategy in the last round that has bins."""
    last = max(
        (number for run in curves.runs for _, number in run.bins if run.strategy in curves.strategies), default=None
    )
    if last is None:
        return None
    panels = []
    for strategy in curves.strategies:
        found = [(curves.reliability(strategy, kind, last), look) for kind, _, look in _KINDS]
        if any(bins is not None for bins, _ in found):
            draw = _diagram([(bins, look) for bins, look in found if bins is not None])
            panels.append(Panel(strategy, draw, looks[strategy]))
    return Plot(
        name="reliability",
        title=f"Reliability at t = {last}",
        caption="Test items are sorted by the model's confidence into ten bins, all seeds together. A point "
        "on the diagonal is an honest bin: its accuracy is its confidence. Below the diagonal the model is "
        "too confident, above it too timid. The larger a point, the more items are in its "
        f"bin; bins of fewer than {_LEAST_ITEMS} items are left out.",
        panels=tuple(panels),
        legend=tuple((words, look) for _, words, look in _KINDS),
        size=_SMALL,
        columns=4,
    )


@exhibit(order=70)
def decided_by_exhibit(curves: Curves, looks: Styles) -> Exhibit | None:
    """Return what decided the picks, as a figure and a table."""
    return Exhibit.of(decided_by(curves, looks), frequency_table(curves))


def decided_by(curves: Curves, looks: Styles) -> Plot | None:
    """Return how many picks of each batch the calibration error and the uncertainty decided."""
    keys: list[Key] = [("picks", "decided_by", reason) for reason in REASONS]
    counts = [mean(curves.of_key(key), axis=1) for key in keys]  # each (strategies, rounds)
    shown = [i for i in range(len(curves.strategies)) if np.isfinite(counts[0][i]).any()]
    if not shown:
        return None
    colours = (fixed(0), fixed(1))
    return Plot(
        name="decided_by",
        title="What decided each batch",
        caption="Picks of each batch, mean over seeds. Calibration: the item's estimated calibration error "
        "alone put it first. Uncertainty: several items shared the same estimated error, and the "
        "tie-break, the model's confidence by default, chose among them.",
        panels=tuple(
            Panel(curves.strategies[i], _stack([count[i] for count in counts], colours), looks[curves.strategies[i]])
            for i in shown
        ),
        legend=tuple(zip(REASONS, colours, strict=True)),
        **_MEDIUM,
    )


@exhibit(order=90)
def seconds(curves: Curves, looks: Styles) -> Plot | None:
    """Return the mean seconds of a round by phase, a bar for each strategy, without what only the first round costs."""
    spent = {phase: curves.of_key(("seconds", "measured", phase)) for phase in PHASES}
    if not any(np.isfinite(values).any() for values in spent.values()):
        return None
    later = any(np.isfinite(values[:, :, 1:]).any() for values in spent.values())
    means = {phase: _mean_of_rounds(values[:, :, 1:] if later else values) for phase, values in spent.items()}
    colours = [fixed(i) for i in range(len(PHASES))]

    def draw(ax: Axes) -> None:
        left, places = np.zeros(len(curves.strategies)), -np.arange(len(curves.strategies), dtype=np.float64)
        for phase, look in zip(PHASES, colours, strict=True):
            right = left + np.nan_to_num(means[phase])
            ax.boxes(np.stack([left, right], axis=1), np.stack([places - 0.33, places + 0.33], axis=1), look)
            left = right
        for place, total in zip(places, left, strict=True):
            ax.words(total, place, _seconds(total))
        ax.y.named = [(float(place), name) for place, name in zip(places, curves.strategies, strict=True)]
        ax.y.grid = False
        ax.x.title, ax.x.low, ax.x.high, ax.x.whole = "seconds", 0.0, 1.2 * float(left.max()) or 1.0, False

    return Plot(
        name="seconds",
        title="Seconds of one round",
        caption="Where a round's time goes, mean over rounds and seeds: training the model, predicting the "
        f"pool, choosing the next batch, and testing. {_start_words(curves, spent) if later else ''}Times are of the "
        "machine that ran it, with as many runs beside it as it had workers.",
        panels=(Panel("Seconds per round", draw),),
        legend=tuple((_PHASE_WORDS[phase], look) for phase, look in zip(PHASES, colours, strict=True)),
        size=(4.6, 0.9 + 0.27 * len(curves.strategies)),
    )


def _mean_of_rounds(values: Values) -> Values:
    return mean(values.reshape(len(values), -1), axis=1)


def _start_words(curves: Curves, spent: dict[str, Values]) -> str:
    """Return how long the first round took, which is left out: there libraries are loaded and code is compiled."""
    first = sum(float(np.nan_to_num(mean(values[:, :, 0].ravel()))) for values in spent.values())
    return (
        "Round 0, in which a process loads its libraries and compiles, is left out; it took "
        f"{_seconds(first)} in the mean. "
    )


def _seconds(value: float) -> str:
    """Write seconds with three digits, or as a whole number from 100 on."""
    digits = 2 - int(np.floor(np.log10(value))) if value > 0 else 0
    return f"{value:.{max(0, digits)}f} s"


def _diagram(found: list[tuple[Reliability, Style]]) -> Draw:
    def draw(ax: Axes) -> None:
        ax.line([0, 1], [0, 1], faint(0.9))
        for bins, look in found:
            full = bins.count >= _LEAST_ITEMS  # the accuracy of fewer is chance
            x, y = bins.score[full], bins.hits[full]
            ax.line(x, y, look)
            ax.points(x, y, look, radius=1.4 + 4 * bins.share[full] ** 0.25)
        ax.x.title, ax.y.title, ax.square = "confidence", "accuracy", True
        for axis in (ax.x, ax.y):
            axis.low, axis.high, axis.named = 0.0, 1.04, [(0.0, "0"), (0.5, "0.5"), (1.0, "1")]

    return draw


def _stack(counts: list[Values], looks: tuple[Style, Style]) -> Draw:
    def draw(ax: Axes) -> None:
        there = np.flatnonzero(np.isfinite(counts[0]))
        below = np.zeros(len(there))
        sides = np.stack([there + 0.57, there + 1.43], axis=1)
        for count, look in zip(counts, looks, strict=True):
            above = below + count[there]
            ax.boxes(sides, np.stack([below, above], axis=1), look)
            below = above
        ax.x.title, ax.y.title = "batch", "picks"
        ax.x.grid, ax.x.most, ax.y.low = False, 8, 0.0

    return draw


# The paper's tables: each measure at four moments, the area under the curves, and where runs stopped.


@exhibit(order=20)
def tables_exhibit(curves: Curves, looks: Styles) -> Exhibit | None:
    """Return the tables of every measure that the curves have."""
    return Exhibit.of(None, *result_tables(curves), stop_table(curves))


# Recalibrations that were measured side by side: the grid's key `recalibrations`.


PREFIX = "ece "  # of the names under which a run keeps them, such as "ece cross-fit"


@exhibit(order=25)
def recalibrations(curves: Curves, looks: Styles) -> Exhibit | None:
    """Return the calibration error that each recalibration leaves at the end; None where a run measured none."""
    keys = _measured(curves)
    if not keys:
        return None
    columns = {"none": ECE} | {key[2].removeprefix(PREFIX): key for key in keys}
    table = Table(
        name="recalibrations",
        title="Recalibrations, lower is better",
        caption=f"The calibration error (ECE) on the test set at t = {curves.rounds} with each recalibration. Picks "
        "and training are the same with all of them.",
        note=SPREAD,
        head="Strategy",
        columns=tuple(columns),
        rows=tuple(
            (strategy, tuple(_cell(curves.of_key(key)[row, :, -1]) for key in columns.values()))
            for row, strategy in enumerate(curves.strategies)
        ),
    )
    return Exhibit("recalibrations", "Recalibrations", None, (table,))


def _measured(curves: Curves) -> list[Key]:
    """Return the keys of what was measured, in the order in which runs have them."""
    return [key for key in curves.values if key[:2] == ("estimate", "measured") and key[2].startswith(PREFIX)]


def _cell(values: Values) -> Cell:
    if not np.isfinite(values).any():
        return Cell(MISSING)
    spread = deviation(values)
    return Cell(f"{mean(values):.3f}", "" if np.isnan(spread) else f"{spread:.3f}")
