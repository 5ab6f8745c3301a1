"""The tables that set an experiment of the paper beside the paper's figures, with intervals; `build.py` writes them.

A difference of two strategies is paired by seed: mean d and the 95 % interval d +- t s / sqrt(n). Over all cells of a
table p values are adjusted by Holm's method. "Equal" is said only where two one-sided t-tests (TOST) at 5 % put the
difference within `MARGINS` on both sides.

Debiased ECE: the gap of a bin with n items, confidence c and accuracy a grows by chance. With s = sqrt(a (1 - a) / n)
it is that of |N(c - a, s)|, and what this has above |c - a| is taken off (Kumar, Liang and Ma 2019).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import erf
from scipy.stats import t as student
from scipy.stats import ttest_rel

from cusal.apps.bench.report import Curves
from cusal.apps.bench.report.curves import ACCURACY, ECE, Key

MARGINS = {"accuracy": 1.0, "ece": 0.01}  # points, and ECE: differences below these do not matter to a user
FORMS: dict[str, tuple[Key, float, int]] = {"accuracy": (ACCURACY, 100, 1), "ece": (ECE, 1, 3)}
LEVELS = {"mnist": (0.85, 0.92), "fashion_mnist": (0.72, 0.76)}  # accuracies at which the ECE is compared
TOLERANCE = 1e-6  # to which errors are rounded before they are compared


def paired_values(values: np.ndarray, rows: tuple[int, int]) -> np.ndarray:
    """Return the differences of two strategies over the seeds that both have; values: (strategies, seeds)."""
    difference = values[rows[0]] - values[rows[1]]
    return difference[np.isfinite(difference)]


def interval(difference: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return the two-sided t interval of a mean."""
    half = student.ppf((1 + level) / 2, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference))
    return float(difference.mean() - half), float(difference.mean() + half)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Return p values adjusted by Holm's step-down method.

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values)
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted


def differences(curves: Curves, paper: dict[str, Any], measure: str, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return Markdown lines: differences at four times and over the rounds, each beside the paper's in brackets.

    `*` marks what Holm's method over the whole table leaves below 5 %, `=` what an equivalence test calls equal.
    """
    key, scale, decimals = FORMS[measure]
    times = [*curves.milestones, None]
    titles = [*(f"t = {t}" for t in curves.milestones), "over rounds"]
    lines = [f"| {measure} | seeds | {' | '.join(titles)} |", "|---|---|" + "---|" * len(titles)]
    found, p_values = [], []
    for ours, theirs in pairs:
        if not {ours, theirs} <= set(curves.strategies):
            continue
        rows = curves.strategies.index(ours), curves.strategies.index(theirs)
        whole = curves.of_key(key) * scale
        columns = [paired_values(whole.mean(axis=2) if t is None else whole[:, :, t], rows) for t in times]
        if min(len(column) for column in columns) < 3:
            continue
        printed = paper.get(measure, {})
        gaps = [""] * len(times)
        if ours in printed and theirs in printed:
            pairs_of = zip(printed[ours], printed[theirs], strict=True)
            gaps = [*(f" ({a - b:+.{decimals}f})" for a, b in pairs_of), ""]
        found.append((f"{ours} - {theirs}", columns, gaps))
        p_values += [float(ttest_rel(column, 0 * column).pvalue) if np.ptp(column) else 1.0 for column in columns]
    adjusted = iter(holm(p_values))
    for name, columns, gaps in found:
        cells = []
        for column, gap in zip(columns, gaps, strict=True):
            low, high = interval(column)
            inner = interval(column, 0.9)
            equal = -MARGINS[measure] < inner[0] and inner[1] < MARGINS[measure]
            mark = "*" if next(adjusted) < 0.05 else ""
            text = f"{column.mean():+.{decimals}f}{mark} [{low:+.{decimals}f}, {high:+.{decimals}f}]"
            cells.append(f"{text}{' =' if equal else ''}{gap}")
        lines.append(f"| {name} | {len(columns[0])} | {' | '.join(cells)} |")
    return lines


def misfits(curves: Curves, paper: dict[str, Any]) -> list[str]:
    """Return Markdown lines: how many standard errors our means are from the paper's, for all rows alike."""
    lines = [
        f"| standard errors from the paper | {' | '.join(f't = {t}: accuracy, ECE' for t in curves.milestones)} |",
        "|---|" + "---|" * len(curves.milestones),
    ]
    for row, strategy in enumerate(curves.strategies):
        if strategy not in paper["accuracy"]:
            continue
        cells = []
        for column, t in enumerate(curves.milestones):
            both = []
            for measure in ("accuracy", "ece"):
                key, scale, _ = FORMS[measure]
                own = curves.of_key(key)[row, :, t] * scale
                own = own[np.isfinite(own)]
                spread = np.sqrt(own.var(ddof=1) / len(own) + paper[f"{measure}_deviation"][strategy][column] ** 2 / 10)
                both.append(f"{(own.mean() - paper[measure][strategy][column]) / spread:+.1f}")
            cells.append(", ".join(both))
        lines.append(f"| {strategy} | {' | '.join(cells)} |")
    return lines


def proper_scores(curves: Curves) -> list[str]:
    """Return Markdown lines: NLL and Brier score, raw and recalibrated, at T and over the rounds."""
    columns = [(name, kind) for name in ("nll", "brier") for kind in ("raw", "recalibrated")]
    lines = [
        f"| at T / over rounds | seeds | {' | '.join(f'{name}, {kind}' for name, kind in columns)} |",
        "|---|---|" + "---|" * len(columns),
    ]
    for row, strategy in enumerate(curves.strategies):
        cells = []
        for name, kind in columns:
            values = curves.of_key(("test", kind, name))[row]
            values = values[np.isfinite(values[:, -1])]
            last, mean = values[:, -1], values.mean(axis=1)
            cells.append(f"{_spread(last)} / {_spread(mean)}")
        lines.append(f"| {strategy} | {len(values)} | {' | '.join(cells)} |")
    return lines


def at_equal_accuracy(curves: Curves, levels: Sequence[float]) -> list[str]:
    """Return Markdown lines: the ECE where each run's accuracy first reaches a level, between two rounds linearly."""
    lines = [
        f"| ECE (runs that get there, batches) | {' | '.join(f'at {level:.0%}' for level in levels)} |",
        "|---|" + "---|" * len(levels),
    ]
    for row, strategy in enumerate(curves.strategies):
        accuracy, ece = (curves.of_key(key)[row] for key in (ACCURACY, ECE))
        there = np.isfinite(accuracy[:, -1])
        cells = []
        for level in levels:
            crossed = [_at_level(a, e, level) for a, e in zip(accuracy[there], ece[there], strict=True)]
            reached = np.array([one for one in crossed if one is not None])
            many = f"{len(reached)} of {there.sum()}"
            cells.append(
                f"{_spread(reached[:, 0])} ({many}, {reached[:, 1].mean():.0f})" if len(reached) else f"({many})"
            )
        lines.append(f"| {strategy} | {' | '.join(cells)} |")
    return lines


def _at_level(accuracy: np.ndarray, ece: np.ndarray, level: float) -> tuple[float, float] | None:
    above = np.flatnonzero(accuracy >= level)
    if not len(above):
        return None
    second = int(above[0])
    first = max(second - 1, 0)
    width = accuracy[second] - accuracy[first]
    part = (level - accuracy[first]) / width if width else 1.0
    return float(ece[first] + part * (ece[second] - ece[first])), float(first + part)


def debiased(curves: Curves) -> list[str]:
    """Return Markdown lines: the ECE over ten bins as it is, and without what chance adds to it."""
    lines = [
        f"| ECE / debiased | {' | '.join(f't = {t}' for t in curves.milestones)} |",
        "|---|" + "---|" * len(curves.milestones),
    ]
    for strategy in curves.strategies:
        cells = []
        for t in curves.milestones:
            own = [run.reliability("raw", t) for run in curves.runs if run.strategy == strategy]
            pairs = [_debiased(bins) for bins in own if bins is not None]
            cells.append(" / ".join(f"{mean:.4f}" for mean in np.mean(pairs, axis=0)))
        lines.append(f"| {strategy} | {' | '.join(cells)} |")
    return lines


def _debiased(bins: Any) -> tuple[float, float]:
    gap = bins.score - bins.hits
    noise = np.sqrt(bins.hits * (1 - bins.hits) / np.maximum(bins.count, 1))
    safe = np.maximum(noise, 1e-12)
    expected = noise * np.sqrt(2 / np.pi) * np.exp(-(gap**2) / (2 * safe**2)) + gap * erf(gap / (safe * np.sqrt(2)))
    plain = float((bins.share * np.abs(gap)).sum())
    return plain, plain - float((bins.share * (expected - np.abs(gap))).sum())


def frequencies(runs: Any, done: Sequence[dict[str, Any]], rounds: int) -> list[str]:
    """Return Markdown lines: picks of a batch that the error decided, in both readings of the paper's table.

    unique: no other point of the pool has the same error. above the cut: the error is above that of the batch's last
    pick, or unique. rounds: T; the batches asked just before T/4, T/2, 3T/4 and T are counted.
    """
    asked = [round(rounds * part / 4) - 1 for part in range(1, 5)]
    lines = [
        f"| picks by the error | reading | seeds | {' | '.join(f'batch {t + 1}' for t in asked)} | all batches |",
        "|---|---|---|" + "---|" * (len(asked) + 1),
    ]
    for strategy in ("cusal", "cusal-listing"):
        ids = [row["id"] for row in done if row["strategy"] == strategy]
        if not ids:
            continue
        unique, above = (np.zeros((len(ids), rounds)) for _ in range(2))
        for place, run_id in enumerate(ids):
            for number, batch in _batches(runs.picks([run_id])):
                levels = np.array([np.nan if pick["error"] is None else pick["error"] for pick in batch])
                rounded = levels if strategy == "cusal-listing" else np.round(levels / TOLERANCE)
                alone = np.array([pick["decided_by"] == "calibration" for pick in batch])
                unique[place, number] = alone.sum()
                above[place, number] = (alone | (rounded > np.nanmin(rounded))).sum()
        for reading, counts in (("unique", unique), ("above the cut", above)):
            cells = [_spread(counts[:, t], 1) for t in asked]
            lines.append(
                f"| {strategy} | {reading} | {len(ids)} | {' | '.join(cells)} | {_spread(counts.mean(axis=1), 1)} |"
            )
    return lines


def _batches(picks: Sequence[dict[str, Any]]) -> list[tuple[int, list[dict[str, Any]]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for pick in picks:
        found.setdefault(pick["round"], []).append(pick)
    return sorted(found.items())


def _spread(values: np.ndarray, decimals: int = 3) -> str:
    text = f"{values.mean():.{decimals}f}"
    return f"{text} ± {values.std(ddof=1):.{decimals}f}" if len(values) > 1 else text
