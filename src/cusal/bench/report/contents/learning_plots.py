"""Figures of how strategies learn: curves, the difference to random, accuracy against calibration error."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cusal.bench.report.curves import TEMPERATURE, Curves, Values, deviation, mean
from cusal.bench.report.exhibits import exhibit
from cusal.bench.report.measures import MEASURES, TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED, Measure
from cusal.bench.report.plot import Draw, Panel, Plot, dashes, whole_ticks
from cusal.bench.report.styles import INK, Style, Styles
from cusal.bench.report.tables import CARRIED_ON

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINES = {"random": "random choice", "least_confidence": "least confidence"}  # the first that is there
_BAND = 0.10
_MARKS = "Markers stand at a quarter, half, three quarters and the end of the run."


@exhibit(order=10)
def learning_curves(curves: Curves, looks: Styles) -> Plot | None:
    """Return accuracy, ECE, recalibrated ECE and ECE on the pool over the labels; None without any of them."""
    shown = [measure for measure in MEASURES if curves.has(measure.key)]
    if not shown:
        return None
    return Plot(
        name="learning",
        title="Learning curves",
        caption="How good the model is as more labels are bought. Accuracy on the test set: higher is "
        "better. Calibration error (ECE) on the test set, the gap between confidence and accuracy: lower is "
        "better. Recalibrated: the same after the confidence is corrected with what earlier batches showed. "
        "On the pool: the calibration error on the items that are still unlabelled. Line: mean over seeds; "
        f"band: ± one standard deviation. {_MARKS}{_carried_on(curves)}",
        panels=tuple(_curve_panel(curves, looks, measure) for measure in shown),
        legend=_legend(curves, looks),
    )


@exhibit(order=50)
def temperature_curves(curves: Curves, looks: Styles) -> Plot | None:
    """Return the temperature of the recalibration over the labels."""
    if not curves.has(TEMPERATURE):
        return None
    return Plot(
        name="temperature",
        title="Temperature of the recalibration",
        caption="The number by which the recalibration divides the model's scores, fitted in every round, on "
        "the model's earlier predictions of the items it asked for unless the settings say otherwise. Above 1 the "
        "model was found too confident, below 1 too timid; 1 changes nothing. Line: mean over seeds; band: ± one "
        f"standard deviation. {_MARKS}",
        panels=(Panel("Temperature", _curves_of(curves, looks, curves.of_key(TEMPERATURE))),),
        legend=_legend(curves, looks),
    )


@exhibit(order=30)
def difference_curves(curves: Curves, looks: Styles) -> Plot | None:
    """Return each strategy minus a baseline, paired by seed; None without a baseline or without another strategy."""
    shown = [measure for measure in MEASURES if curves.has(measure.key)]
    baseline = next((name for name in BASELINES if name in curves.strategies), None)
    if not shown or baseline is None or len(curves.strategies) < 2:
        return None
    words = BASELINES[baseline]
    panels = []
    for measure in shown:
        values = curves.of_key(measure.key) * measure.scale
        differences = values - values[curves.strategies.index(baseline)]
        label = f"difference to {words}{', points' if measure.unit else ''}"
        panels.append(Panel(measure.title, _curves_of(curves, looks, differences, difference=label)))
    return Plot(
        name="difference",
        title=f"Difference to {words}",
        caption=f"Each strategy minus {words} with the same seed, so that luck of the start cancels "
        f"out; the line at zero is {words} itself. Accuracy: above zero is better. Calibration "
        "errors: below zero is better. Line: mean over the seeds that both have; band: ± one standard error "
        f"of the paired differences. {_MARKS}{_carried_on(curves)}",
        panels=tuple(panels),
        legend=_legend(curves, looks),
    )


@exhibit(order=40)
def plane(curves: Curves, looks: Styles) -> Plot | None:
    """Return ECE against accuracy at T/4, T/2, 3T/4 and T."""
    if not (curves.has(TEST_ECE.key) and curves.has(TEST_ACCURACY.key)):
        return None
    there = [t for t in curves.milestones if np.isfinite(curves.of_key(TEST_ECE.key)[:, :, t]).any()]
    if not there:
        return None
    return Plot(
        name="plane",
        title="Accuracy against calibration error",
        caption="Each strategy at four moments, mean over seeds. The best place is the upper left corner: "
        "every answer right, every confidence honest. Full marker: the model as it is; hollow marker: "
        "recalibrated, which moves it along its line and never changes its accuracy. Cross: ± one standard "
        "deviation of the full marker. The axes differ between panels.",
        panels=tuple(Panel(f"t = {t}, {curves.labelled[t]:.0f} labels", _plane_at(curves, looks, t)) for t in there),
        legend=_legend(curves, looks),
    )


def _carried_on(curves: Curves) -> str:
    return f" {CARRIED_ON}" if curves.stopped else ""


def _legend(curves: Curves, looks: Styles) -> tuple[tuple[str, Style], ...]:
    return tuple((strategy, looks[strategy]) for strategy in curves.strategies)


def _curve_panel(curves: Curves, looks: Styles, measure: Measure) -> Panel:
    values = curves.of_key(measure.key) * measure.scale
    return Panel(measure.title + measure.unit, _curves_of(curves, looks, values))


def _curves_of(curves: Curves, looks: Styles, values: Values, *, difference: str = "") -> Draw:
    """Return what draws a line and a band for each strategy from (strategies, seeds, rounds).

    difference: the axis title of differences to a baseline; their band is the standard error, else the deviation.
    """

    def draw(ax: "Axes") -> None:
        x = curves.labelled
        for row, strategy in enumerate(curves.strategies):
            look = looks[strategy]
            centre, spread = mean(values[row]), deviation(values[row])
            if difference:
                spread = spread / np.sqrt(np.maximum(np.isfinite(values[row]).sum(axis=0), 1))
            marked = [t for t in curves.milestones if np.isfinite(centre[t])]
            ax.fill_between(
                x,
                centre - spread,
                centre + spread,
                color=look.colour,
                alpha=_BAND,
                linewidth=0,
                gid=f"series-{look.number}b",
            )
            line = {
                "color": look.colour,
                "linestyle": dashes(look),
                "linewidth": look.width,
                "gid": f"series-{look.number}",
            }
            # One round alone is a point, which a line would not show.
            marked = marked or np.flatnonzero(np.isfinite(centre)).tolist()
            ax.plot(x, centre, marker=look.marker, markersize=4.5, markevery=marked, zorder=2 + look.width, **line)
        ax.set_xlabel("labels")
        if difference:
            ax.set_ylabel(difference)
        else:  # none of the numbers can be negative, however far a band reaches
            ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
        whole_ticks(ax, 6)
        ax.margins(x=0.02)

    return draw


def _plane_at(curves: Curves, looks: Styles, t: int) -> Draw:
    errors, right = curves.of_key(TEST_ECE.key)[:, :, t], curves.of_key(TEST_ACCURACY.key)[:, :, t] * 100
    corrected = mean(curves.of_key(TEST_RECALIBRATED.key)[:, :, t], axis=1)
    x, y = mean(errors, axis=1), mean(right, axis=1)
    x_spread, y_spread = deviation(errors, axis=1), deviation(right, axis=1)

    def draw(ax: "Axes") -> None:
        for row, strategy in enumerate(curves.strategies):
            look = looks[strategy]
            same: dict[str, Any] = {"color": look.colour, "gid": f"series-{look.number}", "zorder": 2 + look.width}
            if np.isfinite(x[row]) and np.isfinite(x_spread[row]):
                cross = (
                    x[row] + np.array([-1, 1, 0, 0, 0]) * x_spread[row],
                    y[row] + np.array([0, 0, 0, -1, 1]) * y_spread[row],
                )
                ax.plot(cross[0][:2], cross[1][:2], linewidth=0.8, alpha=0.55, **same)
                ax.plot(cross[0][3:], cross[1][3:], linewidth=0.8, alpha=0.55, **same)
            ax.plot([x[row], corrected[row]], [y[row]] * 2, linewidth=0.9, linestyle=(0, (1, 2)), **same)
            ax.plot(
                corrected[row], y[row], look.marker, markersize=7, markerfacecolor="none", markeredgewidth=1.3, **same
            )
            ax.plot(x[row], y[row], look.marker, markersize=7.5, **same)
        ax.set_xlabel("calibration error (ECE)")
        ax.set_ylabel("accuracy %")
        ax.set_xlim(left=0)
        ax.annotate(
            "best", (0, 1), (0.07, 0.93), xycoords="axes fraction", color=INK[0], fontsize=9, va="center",
            arrowprops={"arrowstyle": "->", "color": INK[0]},
        )  # fmt: skip

    return draw
