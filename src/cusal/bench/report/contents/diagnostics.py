"""Figures of what happens inside: reliability, what decided the picks, the estimator, and where the time goes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cusal.bench.report.curves import BOUND, ESTIMATED, KNOWN, ON_TEST, PHASES, REASONS, Curves, Key, deviation, mean
from cusal.bench.report.exhibits import Exhibit, exhibit
from cusal.bench.report.plot import Draw, Panel, Plot, dashes, whole_ticks
from cusal.bench.report.styles import INK, Style, Styles, fixed
from cusal.bench.report.tables import estimator_table, frequency_table
from cusal.metrics.reliability import Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALL = (2.3, 2.2)
_MEDIUM: dict[str, Any] = {"size": (3.3, 2.5), "columns": 3}  # for a panel of each strategy
_LEAST_ITEMS = 10
_RAW, _CORRECTED = fixed(0, marker="o", width=1.4), fixed(1, dash=(5, 1.6), marker="D", width=1.4)
_LIMIT = fixed(2, dash=(1.3, 1.3), marker="^", width=1.4)
_UNSEEN = fixed(3, dash=(4, 1.3, 1.3, 1.3), marker="s", width=1.4)
_LEAST_ERROR = 1e-3  # below this an error is as good as none
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
            panels.append(Panel(strategy, _diagram([(bins, look) for bins, look in found if bins is not None])))
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
        panels=tuple(Panel(curves.strategies[i], _stack([count[i] for count in counts], colours)) for i in shown),
        legend=tuple(zip(REASONS, colours, strict=True)),
        **_MEDIUM,
    )


@exhibit(order=80)
def estimator_exhibit(curves: Curves, looks: Styles) -> Exhibit | None:
    """Return how good the estimate of the calibration error is, as a figure and a table."""
    return Exhibit.of(estimator(curves, looks), estimator_table(curves))


def estimator(curves: Curves, looks: Styles) -> Plot | None:
    """Return the estimated calibration error of the pool, the one that knows the labels, and the bound of Theorem 2."""
    known = (
        (ESTIMATED, "estimated from the labelled items", _RAW),
        (KNOWN, "computed with the pool's true labels", _CORRECTED),
        (ON_TEST, "computed with the test set's labels", _UNSEEN),
        (BOUND, "bound of Theorem 2 on the test set", _LIMIT),
    )
    compared = [entry for entry in known if curves.has(entry[0])]
    shown = [i for i in range(len(curves.strategies)) if np.isfinite(curves.of_key(ESTIMATED)[i]).any()]
    if not shown:
        return None

    def lines(row: int) -> Draw:
        def draw(ax: "Axes") -> None:
            for key, _, look in compared:
                values = curves.of_key(key)[row]
                there = np.flatnonzero(np.isfinite(mean(values)))  # it may be computed every few rounds only
                x, centre, spread = curves.labelled[there], mean(values)[there], deviation(values)[there]
                ax.fill_between(x, centre - spread, centre + spread, color=look.colour, alpha=0.12, linewidth=0)
                ax.plot(
                    x,
                    centre,
                    color=look.colour,
                    linestyle=dashes(look),
                    marker=look.marker,
                    linewidth=look.width,
                    markersize=3,
                )
            ax.set_xlabel("labels")
            ax.set_yscale("log", nonpositive="clip")
            ax.set_ylim(_LEAST_ERROR, 3)  # two is the most that an error can be for p = 1
            whole_ticks(ax, 6)

        return draw

    return Plot(
        name="estimator",
        title="How good the estimate of the calibration error is",
        caption="Calibration error of the pool by the kernel estimator: as a strategy can know it, from the "
        "labelled items alone, and as it is when the true labels of the pool are used. The closer the two, "
        "the better a strategy knows where the model is wrong about itself. Theorem 2 of the paper bounds the error of "
        "unseen data, here the test set, by that of the labelled items, which the model was trained on: the bound can "
        f"lie below the truth. Errors below {_LEAST_ERROR:g} are not drawn. Line: mean over seeds; band: ± one "
        "standard deviation.",
        panels=tuple(Panel(curves.strategies[i], lines(i)) for i in shown),
        legend=tuple((words, look) for _, words, look in compared),
        **_MEDIUM,
    )


@exhibit(order=90)
def seconds(curves: Curves, looks: Styles) -> Plot | None:
    """Return the mean seconds of a round by phase, a bar for each strategy."""
    spent = {phase: curves.of_key(("seconds", "measured", phase)) for phase in PHASES}
    if not any(np.isfinite(values).any() for values in spent.values()):
        return None
    means = {phase: mean(values.reshape(len(values), -1), axis=1) for phase, values in spent.items()}
    colours = [fixed(i) for i in range(len(PHASES))]

    def draw(ax: "Axes") -> None:
        left = np.zeros(len(curves.strategies))
        for phase, look in zip(PHASES, colours, strict=True):
            width = np.nan_to_num(means[phase])
            ax.barh(range(len(left)), width, left=left, color=look.colour, height=0.66, linewidth=0)
            left = left + width
        for place, total in enumerate(left):
            words: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 9, "color": INK[0]}
            ax.annotate(_seconds(total), (total, place), (4, 0), **words)
        ax.set_yticks(range(len(left)), curves.strategies)
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        ax.margins(x=0.2)
        ax.locator_params(axis="x", nbins=5)
        ax.set_xlabel("seconds")

    return Plot(
        name="seconds",
        title="Seconds of one round",
        caption="Where a round's time goes, mean over rounds and seeds: training the model, predicting the "
        "pool, choosing the next batch, and testing. Times are of the machine that ran it, with as many runs "
        "beside it as it had workers.",
        panels=(Panel("Seconds per round", draw),),
        legend=tuple((_PHASE_WORDS[phase], look) for phase, look in zip(PHASES, colours, strict=True)),
        size=(4.6, 0.9 + 0.27 * len(curves.strategies)),
    )


def _seconds(value: float) -> str:
    """Write seconds with three digits, or as a whole number from 100 on."""
    digits = 2 - int(np.floor(np.log10(value))) if value > 0 else 0
    return f"{value:.{max(0, digits)}f} s"


def _diagram(found: list[tuple[Reliability, Style]]) -> Draw:
    def draw(ax: "Axes") -> None:
        ax.plot([0, 1], [0, 1], color=INK[0], linewidth=0.8, alpha=0.6)
        for bins, look in found:
            full = bins.count >= _LEAST_ITEMS  # the accuracy of fewer is chance
            x, y = bins.score[full], bins.hits[full]
            ax.plot(x, y, color=look.colour, linestyle=dashes(look), linewidth=look.width)
            area = 8 + 70 * np.sqrt(bins.share[full])
            ax.scatter(x, y, s=area, color=look.colour, marker=look.marker, alpha=0.75, linewidth=0, clip_on=False)
        ax.set(xlim=(0, 1.04), ylim=(0, 1.04), xlabel="confidence", ylabel="accuracy", aspect="equal")
        ax.set_xticks([0, 0.5, 1])
        ax.set_yticks([0, 0.5, 1])

    return draw


def _stack(counts: list[np.ndarray], looks: tuple[Style, Style]) -> Draw:
    def draw(ax: "Axes") -> None:
        there = np.flatnonzero(np.isfinite(counts[0]))
        below = np.zeros(len(there))
        for count, look in zip(counts, looks, strict=True):
            ax.bar(there + 1, count[there], bottom=below, color=look.colour, width=0.86, linewidth=0)
            below = below + count[there]
        ax.set_xlabel("batch")
        ax.set_ylabel("picks")
        ax.grid(visible=False, axis="x")
        whole_ticks(ax, 8)
        ax.margins(x=0.02)

    return draw
