"""The tables of a report, as text in cells; the page, Markdown and LaTeX each set them in their own way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cusal.apps.bench.report.curves import (
    BOUND,
    EPSILON,
    ESTIMATED,
    KNOWN,
    LABELLED,
    ON_TEST,
    REASONS,
    Curves,
    Key,
    Values,
    deviation,
    mean,
)
from cusal.apps.bench.report.measures import MEASURES, TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED, Measure
from cusal.apps.bench.report.significance import LEAST_SEEDS, LEVEL, significant_best

RULE = (
    "Bold: the best, where a paired t-test over the seeds both have finds it better than every other "
    f"strategy (p < {LEVEL:g}, two-sided, Holm-corrected for the number of comparisons); never with fewer "
    f"than {LEAST_SEEDS} common seeds."
)
MISSING = "\u2013"  # an en dash
SPREAD = "Mean ± standard deviation over seeds."
CARRIED_ON = "A run that stopped early keeps its last value in the rounds after that."

_THEOREM = (
    " Theorem 2 of the paper bounds the pool's error by that of the labelled items (epsilon), and the test set's by "
    "epsilon and a term in the number of items (bound). It supposes an unbiased estimate for the labelled items; the "
    "model was trained on them, so it need not hold: the last columns say in how many of the measured rounds it does."
)


@dataclass(frozen=True)
class Cell:
    """One number: its mean, its standard deviation ("" for one seed), whether it is marked, and a note."""

    text: str
    spread: str = ""
    bold: bool = False
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A titled table; `head` is the first column's title, and each row a label and one cell for each other column.

    caption: what the numbers are. note: how they are summed up and marked, the same for several tables.
    """

    name: str
    title: str
    caption: str
    note: str
    head: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def result_tables(curves: Curves) -> list[Table]:
    """Return the paper's tables, one for each measure that the curves have, and the area under the curves."""
    measured = [measure for measure in MEASURES if curves.has(measure.key)]
    made = [milestone_table(curves, measure) for measure in measured]
    return [*made, area_table(curves, measured)] if measured else []


def milestone_table(curves: Curves, measure: Measure) -> Table:
    """Return one measure at T/4, T/2, 3T/4 and T, a row for each strategy."""
    columns = [compared(curves.of_key(measure.key)[:, :, t], measure) for t in curves.milestones]
    return Table(
        name=measure.name,
        title=f"{measure.title}, {measure.better}",
        caption=_sentence(measure.meaning),
        note=f"{spread_of(curves)} {RULE}",
        head="Strategy",
        columns=tuple(milestone_titles(curves)),
        rows=_rows(curves.strategies, columns),
    )


def area_table(curves: Curves, measured: Sequence[Measure]) -> Table:
    """Return the area under each curve, which is its mean over the rounds 0 .. T, of the runs that came to the end."""
    # A run that is not finished has no area: its mean over fewer rounds would compare unlike things.
    areas = [curves.of_key(measure.key).mean(axis=2) for measure in measured]
    return Table(
        name="area",
        title="Area under the curves",
        caption=f"The mean over all rounds from 0 to {curves.rounds}: one number for a whole curve, of the "
        "runs that came to the end. ↑ higher is better, ↓ lower is better.",
        note=f"{spread_of(curves)} {RULE}",
        head="Strategy",
        columns=tuple(f"{measure.short} {'↑' if measure.higher else '↓'}" for measure in measured),
        rows=_rows(curves.strategies, [compared(area, measure) for area, measure in zip(areas, measured, strict=True)]),
    )


def stop_table(curves: Curves) -> Table | None:
    """Return the labels that each strategy spent and the scores where its runs ended; None if no run was to stop."""
    if not curves.stopped and not any(run.settings.get("stop") == "True" for run in curves.runs):
        return None
    measured = [measure for measure in MEASURES if curves.has(measure.key)]
    ended = np.full((len(curves.strategies), len(curves.seeds)), np.nan)
    for run in curves.runs:
        if run.status == "done" and run.reached >= 0:
            place = curves.strategies.index(run.strategy), curves.seeds.index(run.seed)
            ended[place] = run.values[LABELLED][run.reached]
    rows = []
    for row, strategy in enumerate(curves.strategies):
        early = sum(run.strategy == strategy for run in curves.stopped)
        done = int(np.isfinite(ended[row]).sum())
        last = (np.where(np.isfinite(ended[row]), curves.of_key(m.key)[row, :, -1], np.nan) for m in measured)
        cells = [_cell(values, m.scale, m.decimals) for values, m in zip(last, measured, strict=True)]
        rows.append((strategy, (Cell(f"{early} of {done}"), _cell(ended[row], 1.0, 0), *cells)))
    return Table(
        name="stopping",
        title="Where runs stopped",
        caption="Runs end as soon as their session recommends it: what the last 50 labels changed of its predictions "
        f"was next to nothing, twice running. Those that never did ended at T = {curves.rounds}. The scores are those "
        "of the last round of each run.",
        note=SPREAD,
        head="Strategy",
        columns=("stopped early", "labels spent", *(measure.short for measure in measured)),
        rows=tuple(rows),
    )


def frequency_table(curves: Curves) -> Table | None:
    """Return how many picks of the batches T/4, T/2, 3T/4 and T were decided by the error and by the tie-break."""
    rows = []
    for row, strategy in enumerate(curves.strategies):
        for reason in REASONS:
            values = curves.of_key(("picks", "decided_by", reason))[row]
            if np.isfinite(values).any():
                # Batch t is asked for in round t - 1.
                cells = tuple(_cell(values[:, max(0, t - 1)], 1.0, 1) for t in curves.milestones)
                rows.append((f"{strategy}: {reason}", cells))
    return (
        None
        if not rows
        else Table(
            name="frequency",
            title="What decided each pick",
            caption="Picks of batch t whose estimated calibration error alone put them first (calibration), "
            "and picks that shared their estimated error with other items, so that the tie-break, the model's "
            "uncertainty by default, decided (uncertainty).",
            note=SPREAD,
            head="Decided by",
            columns=tuple(milestone_titles(curves)),
            rows=tuple(rows),
        )
    )


def estimator_table(curves: Curves) -> Table | None:
    """Return the estimated calibration error of the pool beside the one that knows the labels, in the last round."""
    last = np.flatnonzero(np.isfinite(curves.of_key(ESTIMATED)).any(axis=(0, 1)))
    if not len(last):
        return None
    known: list[tuple[str, Key]] = [("estimated", ESTIMATED), ("labels known", KNOWN)]
    theorem: list[tuple[str, Key]] = [("epsilon", EPSILON), ("test set", ON_TEST), ("bound", BOUND)]
    if all(curves.has(key) for _, key in theorem):
        known += theorem
    shown = [(words, curves.of_key(key)[:, :, last[-1]]) for words, key in known if curves.has(key)]
    held = [("pool within epsilon, %", KNOWN, EPSILON), ("test set within bound, %", ON_TEST, BOUND)]
    shares = [(words, _share(curves, *keys)) for words, *keys in held if all(map(curves.has, keys))]
    rows = [
        (
            strategy,
            tuple(_cell(values[row], 1.0, 3) for _, values in shown)
            + tuple(_cell(values[row], 100.0, 0) for _, values in shares),
        )
        for row, strategy in enumerate(curves.strategies)
        if np.isfinite(shown[0][1][row]).any()
    ]
    return Table(
        name="estimator",
        title=f"Estimated calibration error of the pool at t = {last[-1]}",
        caption="The kernel estimate averaged over the unlabelled items: from the labelled items only, as a strategy "
        f"sees it (estimated), and from the pool's own true labels (labels known).{_THEOREM if shares else ''}",
        note=SPREAD,
        head="Strategy",
        columns=tuple(words for words, _ in [*shown, *shares]),
        rows=tuple(rows),
    )


def _share(curves: Curves, key: Key, limit: Key) -> Values:
    """Return the share of the rounds in which a value is within its limit, (strategies, seeds)."""
    value, most = curves.of_key(key), curves.of_key(limit)
    there = np.isfinite(value) & np.isfinite(most)
    with np.errstate(invalid="ignore"):
        return np.where(there.any(axis=2), (there & (value <= most)).sum(axis=2) / there.sum(axis=2), np.nan)


def spread_of(curves: Curves) -> str:
    """Return what follows ± in tables, and what stands for rounds after a run stopped early."""
    return f"{SPREAD} {CARRIED_ON}" if curves.stopped else SPREAD


def compared(values: Values, measure: Measure) -> list[Cell]:
    """Return the cells of one column from (strategies, seeds), the significantly best one in bold."""
    marked = significant_best(values, higher=measure.higher)
    counts = np.isfinite(values).sum(axis=1)
    most = counts.max(initial=0)
    return [
        _cell(row, measure.scale, measure.decimals, bold=i == marked, most=int(most)) for i, row in enumerate(values)
    ]


def milestone_titles(curves: Curves) -> list[str]:
    """Return `t = 10, 120 labels`, .. for the milestones of the curves."""
    labels = curves.labelled
    return [f"t = {t}" + (f", {labels[t]:.0f} labels" if np.isfinite(labels[t]) else "") for t in curves.milestones]


def text_table(curves: Curves) -> str:
    """Return accuracy, ECE and recalibrated ECE of the last round as plain text for a terminal."""
    shown = [TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED]
    columns = [compared(curves.of_key(measure.key)[:, :, curves.rounds], measure) for measure in shown]
    lines = [["strategy", *(measure.short for measure in shown)]]
    for strategy, cells in _rows(curves.strategies, columns):
        lines.append([strategy, *(_plain(cell) for cell in cells)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = ["-" * width for width in widths]
    table = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in [lines[0], rule, *lines[1:]]
    ]
    seeds = f"{len(curves.seeds)} seed{'s' if len(curves.seeds) > 1 else ''}"
    ended = np.isfinite(curves.labelled[-1])
    spread = f"Test set after {_last_labels(curves)}: mean ± standard deviation over {seeds}."
    table.append(spread if ended else "No run has come to its end yet.")
    if any(cell.bold for column in columns for cell in column):
        table.append(f"* better than every other (paired t-test over seeds, Holm-corrected, p < {LEVEL:g})")
    return "\n".join(table)


def _last_labels(curves: Curves) -> str:
    """Return how many labels runs have at their end, in words."""
    most = f"{curves.labelled[-1]:.0f} labels"
    if not curves.stopped:
        return most
    spent = [run.values[LABELLED][run.reached] for run in curves.stopped]
    stopped = f"{len(spent)} of {len(curves.runs)} runs stopped early, with {np.mean(spent):.0f} labels in the mean"
    return f"{most}, or where a run stopped ({stopped})"


def _plain(cell: Cell) -> str:
    spread = f" ± {cell.spread}" if cell.spread else ""
    return f"{cell.text}{spread}{' *' if cell.bold else ''}{f' ({cell.note})' if cell.note else ''}"


def _rows(strategies: Sequence[str], columns: list[list[Cell]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    return tuple((strategy, tuple(column[i] for column in columns)) for i, strategy in enumerate(strategies))


def _cell(values: Values, scale: float, decimals: int, *, bold: bool = False, most: int | None = None) -> Cell:
    """Return mean and deviation of one strategy's seeds; the note says how many they are where others have more."""
    count = int(np.isfinite(values).sum())
    if count == 0:
        return Cell(MISSING)
    spread = float(deviation(values)) * scale
    note = f"{count} seed{'s' if count > 1 else ''}" if most is not None and count < most else ""
    text = f"{float(mean(values)) * scale:.{decimals}f}"
    return Cell(text, f"{spread:.{decimals}f}" if np.isfinite(spread) else "", bold, note)


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."
