"""Figures of the estimator: the error as a strategy can know it beside the true one, and the bounds of Theorem 2."""

import numpy as np

from cusal.apps.bench.report.axes import Axes
from cusal.apps.bench.report.curves import (
    BOUND,
    EPSILON,
    ESTIMATED,
    KNOWN,
    ON_TEST,
    Curves,
    Key,
    Values,
    deviation,
    mean,
)
from cusal.apps.bench.report.exhibits import Exhibit, exhibit
from cusal.apps.bench.report.plot import Draw, Panel, Plot
from cusal.apps.bench.report.styles import Styles, fixed
from cusal.apps.bench.report.tables import estimator_table

_COMPARED = (
    (ESTIMATED, "estimated from the labelled items", fixed(0, marker="o", width=1.4)),
    (KNOWN, "computed with the pool's true labels", fixed(1, dash=(5, 1.6), marker="D", width=1.4)),
)
_BOUNDS: tuple[tuple[str, Key, Key], ...] = (
    ("Test set: error / bound", ON_TEST, BOUND),
    ("Pool: error / epsilon", KNOWN, EPSILON),
)
_LEAST_RATIO = 1e-3


@exhibit(order=80)
def estimator_exhibit(curves: Curves, looks: Styles) -> Exhibit | None:
    """Return how good the estimate of the calibration error is, as a figure and a table."""
    return Exhibit.of(estimator(curves, looks), estimator_table(curves))


def estimator(curves: Curves, looks: Styles) -> Plot | None:
    """Return the estimated calibration error of the pool beside the one that knows the labels, by strategy."""
    compared = [entry for entry in _COMPARED if curves.has(entry[0])]
    shown = [i for i in range(len(curves.strategies)) if np.isfinite(curves.of_key(ESTIMATED)[i]).any()]
    if not shown:
        return None
    reached = [
        mean(curves.of_key(key)[i]) + np.nan_to_num(deviation(curves.of_key(key)[i]))
        for key, *_ in compared
        for i in shown
    ]
    top = 1.05 * float(np.nanmax(np.concatenate(reached))) or 1.0

    def lines(row: int) -> Draw:
        def draw(ax: Axes) -> None:
            for key, _, look in compared:
                x, centre, spread = _measured(curves, curves.of_key(key)[row])
                ax.band(x, centre, spread, look, opacity=0.12)
                ax.line(x, centre, look, marked=range(len(x)))
            ax.x.title, ax.x.most, ax.y.low, ax.y.high = "labels", 5, 0.0, top

        return draw

    return Plot(
        name="estimator",
        title="How good the estimate of the calibration error is",
        caption="Calibration error of the pool by the kernel estimator: as a strategy can know it, from the "
        "labelled items alone, and as it is when the true labels of the pool are used. The closer the two, "
        "the better a strategy knows where the model is wrong about itself. Line: mean over seeds; band: ± one "
        "standard deviation. All panels have the same axes.",
        panels=tuple(Panel(curves.strategies[i], lines(i), looks[curves.strategies[i]]) for i in shown),
        legend=tuple((words, look) for _, words, look in compared),
        size=(3.3, 2.5),
        columns=3,
    )


@exhibit(order=85)
def theorem_2(curves: Curves, looks: Styles) -> Plot | None:
    """Return how large errors are in comparison with the bounds of Theorem 2; None where either was not measured."""
    found = [(title, curves.of_key(e), curves.of_key(b)) for title, e, b in _BOUNDS if curves.has(e) and curves.has(b)]
    if not found:
        return None
    ratios = {
        title: np.maximum(error / np.where(bound > 0, bound, np.nan), _LEAST_RATIO) for title, error, bound in found
    }

    def lines(values: Values) -> Draw:
        def draw(ax: Axes) -> None:
            ax.y.log, ax.x.title, ax.y.title = True, "labels", "times the bound"
            ax.y.meet([0.5, 2.0])
            ax.rule(1.0)
            for row, strategy in enumerate(curves.strategies):
                x, centre, _ = _measured(curves, values[row])
                ax.line(x, centre, looks[strategy], marked=range(len(x)))

        return draw

    return Plot(
        name="theorem_2",
        title="Theorem 2: does its bound hold?",
        caption="The calibration error divided by its bound in Theorem 2 of the paper, on a scale of factors. At 1 and "
        "below, the bound holds; at 2 the error is twice what the theorem allows. The theorem bounds the error on the "
        "pool by that of the labelled items (epsilon), and the error on the test set by epsilon and a term in the "
        "number of items. It supposes that the labelled items tell the error without bias; the model was trained on "
        "them, so that lines above 1 show how far this is from true, and no fault of the arithmetic. Mean over seeds.",
        panels=tuple(Panel(title, lines(values)) for title, values in ratios.items()),
        legend=tuple(
            (strategy, looks[strategy])
            for row, strategy in enumerate(curves.strategies)
            if any(np.isfinite(values[row]).any() for values in ratios.values())
        ),
    )


def _measured(curves: Curves, values: Values) -> tuple[Values, Values, Values]:
    """Return labels, mean and deviation of the rounds that have a number: it may be computed every few rounds only."""
    centre = mean(values)
    there = np.flatnonzero(np.isfinite(centre))
    return curves.labelled[there], centre[there], deviation(values)[there]
