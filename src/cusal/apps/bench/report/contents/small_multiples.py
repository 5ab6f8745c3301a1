"""Each strategy in a panel of its own before all others in grey, for reports with too many curves for one panel."""

from typing import Any

import numpy as np

from cusal.apps.bench.report.axes import Axes
from cusal.apps.bench.report.contents.learning_plots import FEW
from cusal.apps.bench.report.curves import Curves, Values, deviation, mean
from cusal.apps.bench.report.exhibits import exhibit
from cusal.apps.bench.report.measures import TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED
from cusal.apps.bench.report.plot import Draw, Panel, Plot
from cusal.apps.bench.report.styles import Style, Styles, faint

_SHAPE: dict[str, Any] = {"size": (2.5, 2.0), "columns": 4}
_GREY = "Grey: all the others. Line: mean over seeds; band: ± one standard deviation. All panels have the same axes."
_RECALIBRATED = (2.0, 1.4)  # the dash


@exhibit(order=12)
def accuracy_of_each(curves: Curves, looks: Styles) -> Plot | None:
    """Return the accuracy of each strategy by itself; None where there are few."""
    if len(curves.strategies) <= FEW or not curves.has(TEST_ACCURACY.key):
        return None
    values = curves.of_key(TEST_ACCURACY.key) * TEST_ACCURACY.scale
    return Plot(
        name="accuracy_of_each",
        title="Accuracy of each strategy",
        caption=f"Accuracy on the test set in per cent; higher is better. {_GREY}",
        panels=_panels(curves, looks, [values], low=None),
        **_SHAPE,
    )


@exhibit(order=13)
def errors_of_each(curves: Curves, looks: Styles) -> Plot | None:
    """Return the calibration error of each strategy, before and after recalibration, on one axis."""
    if len(curves.strategies) <= FEW or not curves.has(TEST_ECE.key):
        return None
    shown = [curves.of_key(m.key) for m in (TEST_ECE, TEST_RECALIBRATED) if curves.has(m.key)]
    return Plot(
        name="errors_of_each",
        title="Calibration error of each strategy",
        caption="Calibration error (ECE) on the test set; lower is better. Full line: the model as it is; dashed line: "
        f"recalibrated. {_GREY}",
        panels=_panels(curves, looks, shown, low=0.0),
        **_SHAPE,
    )


def _panels(curves: Curves, looks: Styles, shown: list[Values], *, low: float | None) -> tuple[Panel, ...]:
    """Return a panel for each strategy; the others stand in it with the first of the values alone."""
    reached = np.concatenate(
        [mean(row) + s * np.nan_to_num(deviation(row)) for v in shown for row in v for s in (-1, 1)]
    )
    reached = reached[np.isfinite(reached)]
    ends = (float(reached.min()) if low is None else low), float(reached.max())
    return tuple(
        Panel(
            strategy,
            _alone(curves, looks[strategy], [values[row] for values in shown], shown[0], ends),
            looks[strategy],
        )
        for row, strategy in enumerate(curves.strategies)
    )


def _alone(curves: Curves, look: Style, own: list[Values], every: Values, ends: tuple[float, float]) -> Draw:
    def draw(ax: Axes) -> None:
        for values in every:
            ax.line(curves.labelled, mean(values), faint(), opacity=0.45)
        for values, dash in zip(own, ((), _RECALIBRATED), strict=False):
            drawn = Style(None, look.colour, look.dark, dash, look.marker, 1.9)
            ax.band(curves.labelled, mean(values), deviation(values), drawn, opacity=0.18)
            ax.line(curves.labelled, mean(values), drawn)
        ax.x.title, ax.x.most, ax.y.most = "labels", 4, 5
        ax.y.low, ax.y.high = ends

    return draw
