"""Figures of how strategies learn: curves, the difference to a baseline, accuracy against calibration error."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cusal.apps.bench.report.axes import Axes
from cusal.apps.bench.report.curves import TEMPERATURE, Curves, Values, deviation, mean
from cusal.apps.bench.report.exhibits import exhibit
from cusal.apps.bench.report.measures import MEASURES, TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED, Measure
from cusal.apps.bench.report.plot import Draw, Panel, Plot
from cusal.apps.bench.report.styles import Style, Styles
from cusal.apps.bench.report.tables import CARRIED_ON

BASELINES = {  # the first that is there; the last two are of the ablations of recalibration and of augmentation
    "random": "random choice",
    "least_confidence": "least confidence",
    "margin": "margin",
    "none": "no recalibration",
    "badge": "BADGE",
}
FEW = 5  # strategies whose bands can be told apart in one panel; more have a panel each
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
        "On the pool: the calibration error on the items that are still unlabelled. All calibration errors have one "
        f"axis. {_line_words(curves, 'deviation')} {_MARKS}{_carried_on(curves)}",
        panels=_measure_panels(curves, looks, shown),
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
        f"model was found too confident, below 1 too timid; 1 changes nothing. {_line_words(curves, 'deviation')} "
        f"{_MARKS}",
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
    return Plot(
        name="difference",
        title=f"Difference to {words}",
        caption=f"Each strategy minus {words} with the same seed, so that luck of the start cancels "
        f"out; the line at zero is {words} itself. Accuracy: above zero is better. Calibration "
        f"errors: below zero is better; all of them have one axis. {_line_words(curves, 'error')} "
        f"{_MARKS}{_carried_on(curves)}",
        panels=_measure_panels(curves, looks, shown, baseline=baseline),
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


def _line_words(curves: Curves, spread: str) -> str:
    band = (
        f"band: ± one standard {spread}." if len(curves.strategies) <= FEW else "no bands, which would hide the lines."
    )
    return f"Line: mean over seeds; {band}"


def _measure_panels(
    curves: Curves, looks: Styles, shown: Sequence[Measure], *, baseline: str | None = None
) -> tuple[Panel, ...]:
    """Return a panel for each measure, or for its difference to a baseline; errors share one axis."""
    values = {measure: curves.of_key(measure.key) * measure.scale for measure in shown}
    if baseline is not None:
        row = curves.strategies.index(baseline)
        values = {measure: of - of[row] for measure, of in values.items()}
    errors = [of for measure, of in values.items() if not measure.higher]
    ends = common_ends(curves, errors, difference=baseline is not None) if errors else None
    panels = []
    for measure, of in values.items():
        label = f"difference to {BASELINES[baseline]}{', points' if measure.unit else ''}" if baseline else ""
        draw = _curves_of(curves, looks, of, difference=label, ends=None if measure.higher else ends)
        panels.append(Panel(measure.title + ("" if baseline else measure.unit), draw))
    return tuple(panels)


def common_ends(curves: Curves, several: Sequence[Values], *, difference: bool = False) -> tuple[float, float]:
    """Return the ends of an axis on which several arrays (strategies, seeds, rounds) can be compared."""
    reached = []
    for values in several:
        for row in values:
            centre, spread = mean(row), np.nan_to_num(_spread(row, difference=difference))
            reached += [centre - spread, centre + spread] if len(curves.strategies) <= FEW else [centre]
    found = np.concatenate(reached)
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    room = 0.05 * (high - low)
    return (low - room if difference else 0.0), high + room


def _spread(values: Values, *, difference: bool) -> Values:
    """Return the standard deviation over seeds of (seeds, rounds); of differences, that of their mean."""
    spread = deviation(values)
    return spread / np.sqrt(np.maximum(np.isfinite(values).sum(axis=0), 1)) if difference else spread


def _curves_of(
    curves: Curves,
    looks: Styles,
    values: Values,
    *,
    difference: str = "",
    ends: tuple[float, float] | None = None,
) -> Draw:
    """Return what draws a line, and a band for few, for each strategy from (strategies, seeds, rounds).

    difference: the axis title of differences to a baseline; their band is the standard error, else the deviation.
    """

    def draw(ax: Axes) -> None:
        strongest_last = sorted(enumerate(curves.strategies), key=lambda entry: looks[entry[1]].width)
        for row, strategy in strongest_last:
            draw_curve(ax, curves, values[row], looks[strategy], difference=bool(difference))
        ax.x.title, ax.y.title = "labels", difference
        if ends is not None:
            ax.y.low, ax.y.high = ends
        elif not difference:  # none of the numbers can be negative, however far a band reaches
            ax.y.low = max(0.0, ax.y.ends[0])

    return draw


def draw_curve(ax: Axes, curves: Curves, values: Values, look: Style, *, difference: bool = False) -> None:
    """Draw the mean over seeds of (seeds, rounds), with a band where there are few strategies."""
    centre = mean(values)
    if len(curves.strategies) <= FEW:
        ax.band(curves.labelled, centre, _spread(values, difference=difference), look)
    marked = [t for t in curves.milestones if np.isfinite(centre[t])]
    # One round alone is a point, which a line would not show.
    ax.line(curves.labelled, centre, look, marked=marked or np.flatnonzero(np.isfinite(centre)).tolist())


def _plane_at(curves: Curves, looks: Styles, t: int) -> Draw:
    errors, right = curves.of_key(TEST_ECE.key)[:, :, t], curves.of_key(TEST_ACCURACY.key)[:, :, t] * 100
    corrected = mean(curves.of_key(TEST_RECALIBRATED.key)[:, :, t], axis=1)
    x, y = mean(errors, axis=1), mean(right, axis=1)
    x_spread, y_spread = deviation(errors, axis=1), deviation(right, axis=1)

    def draw(ax: Axes) -> None:
        for row, strategy in enumerate(curves.strategies):
            look = looks[strategy]
            if np.isfinite(x[row]) and np.isfinite(x_spread[row]):
                thin, both = replace(look, dash=(), width=0.8), np.array([-1.0, 1.0])
                ax.line(x[row] + both * x_spread[row], y[row] + 0 * both, thin, opacity=0.55)
                ax.line(x[row] + 0 * both, y[row] + both * y_spread[row], thin, opacity=0.55)
            ax.line([x[row], corrected[row]], [y[row]] * 2, replace(look, dash=(1, 2), width=0.9))
            ax.points(corrected[row], y[row], look, hollow=True)
            ax.points(x[row], y[row], look)
        ax.x.title, ax.y.title = "calibration error (ECE)", "accuracy %"
        ax.x.low, ax.x.whole, ax.x.margin = 0.0, False, 0.05
        ax.words(0, ax.y.ends[1] - 0.03 * (ax.y.ends[1] - ax.y.ends[0]), "\u2196 best")

    return draw
