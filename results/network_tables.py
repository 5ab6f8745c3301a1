"""The tables of results/networks-few-labels.md, which `build.py` writes from the committed runs."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_ind, ttest_rel

from cusal.apps.bench.report import Curves
from cusal.apps.bench.report.curves import ACCURACY, ECE, RECALIBRATED_ECE, Key

METHODS = ("prequential", "auto", "cross-fit", "vector")
RECALIBRATIONS: Key = ("estimate", "measured", "ece auto")  # which runs have that measured several


def against(curves: Curves, ours: str, others: Sequence[str]) -> list[str]:
    """Return Markdown lines: differences to other strategies at T and over the rounds, paired by seed."""
    lines = [
        f"| {ours} against | seeds | accuracy at T, points | over rounds | ECE at T | recalibrated ECE at T |",
        "|---|---|---|---|---|---|",
    ]
    for other in others:
        if {ours, other} <= set(curves.strategies):
            pairs = {
                (key, last): _paired(curves, key, (ours, other), last=last)
                for key, last in ((ACCURACY, True), (ACCURACY, False), (ECE, True), (RECALIBRATED_ECE, True))
            }
            seeds = len(next(iter(pairs.values()))[0])
            cells = [_difference(*pair, *_form(key)) for (key, _), pair in pairs.items()]
            lines.append(f"| {other} | {seeds} | {' | '.join(cells)} |")
    return lines


def recalibrations(curves: Curves) -> list[str]:
    """Return Markdown lines: the ECE that each recalibration leaves, at T and over the rounds, with the same picks."""
    found = [method for method in METHODS if curves.has(_measured("ece", method))]
    lines = [
        f"| ECE at T / over rounds | seeds | raw | {' | '.join(found)} |",
        "|---|---|---|" + "---|" * len(found),
    ]
    for place, strategy in enumerate(curves.strategies):
        cells = [_end_and_mean(curves.of_key(key)[place]) for key in (ECE, *(_measured("ece", m) for m in found))]
        seeds = int(np.isfinite(curves.of_key(ECE)[place][:, -1]).sum())
        lines.append(f"| {strategy} | {seeds} | {' | '.join(cells)} |")
    return lines


def halves(curves: Curves, whole: Curves, reference: str, labels: tuple[int, int]) -> list[str]:
    """Return Markdown lines: each strategy after so many labels, beside a reference of another experiment with more.

    whole: holds the strategy `reference`. labels: of the reference's first row, and of the strategies.
    p: of Welch's test, since seeds draw other pools in the two.
    """
    lines = [
        "| strategy | labels | seeds | accuracy % | ECE raw | recalibrated ECE | accuracy against the first row |",
        "|---|---|---|---|---|---|---|",
    ]
    many, few = labels
    theirs = _at(whole, reference, many, ACCURACY)
    counts = dict.fromkeys((many, few, int(whole.labelled[-1])))
    for strategy, runs, count in (
        *((reference, whole, count) for count in counts),
        *((strategy, curves, few) for strategy in curves.strategies),
    ):
        ours, raw, recalibrated = (_at(runs, strategy, count, key) for key in (ACCURACY, ECE, RECALIBRATED_ECE))
        name = f"{strategy}, whole pool" if runs is whole else strategy
        p = f" ({_p(ttest_ind(ours, theirs, equal_var=False).pvalue)})" if len(ours) > 1 else ""
        difference = f"{(ours.mean() - theirs.mean()) * 100:+.1f}{p}" if len(lines) > 2 else ""
        cells = [name, f"{count:.0f}", str(len(ours)), _cell(ours * 100, 1), _cell(raw, 3), _cell(recalibrated, 3)]
        lines.append(f"| {' | '.join(cells)} | {difference} |")
    return lines


def candidates(curves: Curves) -> list[str]:
    """Return Markdown lines: accuracy and ECE of each candidate on validation items."""
    found = [method for method in METHODS if curves.has(_measured("ece", method))]
    lines = [
        f"| candidate | seeds | accuracy % at T | over rounds | ECE raw | {' | '.join(found)} |",
        "|---|---|---|---|---|" + "---|" * len(found),
    ]
    for place, strategy in enumerate(curves.strategies):
        accuracy = curves.of_key(ACCURACY)[place] * 100
        errors = [curves.of_key(key)[place][:, -1] for key in (ECE, *(_measured("ece", m) for m in found))]
        seeds = int(np.isfinite(accuracy[:, -1]).sum())
        cells = [_cell(accuracy[:, -1], 1), _cell(accuracy.mean(axis=1), 1), *(_cell(error, 3) for error in errors)]
        lines.append(f"| {strategy} | {seeds} | {' | '.join(cells)} |")
    return lines


def _at(curves: Curves, strategy: str, labels: float, key: Key) -> np.ndarray:
    """Return a number of all seeds that have it, once so many labels are known."""
    values = curves.of_key(key)[curves.strategies.index(strategy)][:, int(np.flatnonzero(curves.labelled == labels)[0])]
    return values[np.isfinite(values)]


def _measured(name: str, method: str) -> Key:
    return ("estimate", "measured", f"{name} {method}")


def _form(key: Key) -> tuple[float, int]:
    return (100, 2) if key == ACCURACY else (1, 3)


def _paired(curves: Curves, key: Key, names: tuple[str, str], *, last: bool) -> tuple[np.ndarray, np.ndarray]:
    a, b = (curves.of_key(key)[curves.strategies.index(name)] for name in names)
    a, b = (a[:, -1], b[:, -1]) if last else (a.mean(axis=1), b.mean(axis=1))
    there = np.isfinite(a) & np.isfinite(b)
    return a[there], b[there]


def _difference(a: np.ndarray, b: np.ndarray, scale: float, decimals: int) -> str:
    text = f"{(a - b).mean() * scale:+.{decimals}f}"
    return f"{text} ({_p(ttest_rel(a, b).pvalue)})" if len(a) > 1 and np.ptp(a - b) else text


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _cell(values: np.ndarray, decimals: int) -> str:
    values = values[np.isfinite(values)]
    text = f"{values.mean():.{decimals}f}"
    return f"{text} ± {values.std(ddof=1):.{decimals}f}" if len(values) > 1 else text


def _end_and_mean(values: np.ndarray) -> str:
    values = values[np.isfinite(values[:, -1])]
    return f"{values[:, -1].mean():.3f} / {values.mean():.3f}"
