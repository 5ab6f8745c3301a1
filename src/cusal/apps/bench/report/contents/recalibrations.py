"""Recalibrations that were measured side by side: the grid's key `recalibrations`."""

import numpy as np

from cusal.apps.bench.report.curves import ECE, Curves, Key, Values, deviation, mean
from cusal.apps.bench.report.exhibits import Exhibit, exhibit
from cusal.apps.bench.report.styles import Styles
from cusal.apps.bench.report.tables import MISSING, SPREAD, Cell, Table

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
