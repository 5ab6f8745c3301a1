"""The table of recalibrations that were measured side by side."""

from cusal.apps.bench.report.contents.diagnostics import recalibrations
from cusal.apps.bench.report.curves import ECE, LABELLED, Curve, Curves
from cusal.apps.bench.report.styles import styles


def a_run(strategy: str, seed: int, **errors: float) -> Curve:
    values = {ECE: {0: 0.5, 1: 0.2}, LABELLED: {0: 20, 1: 30}}
    measured = {("estimate", "measured", f"ece {name}"): {0: 0.4, 1: value} for name, value in errors.items()}
    return Curve(strategy, seed, 1, values | measured)


def test_each_recalibration_has_a_column_and_the_end_counts() -> None:
    runs = [a_run("margin", 0, auto=0.1, vector=0.05), a_run("margin", 1, auto=0.2, vector=0.05), a_run("random", 0)]
    curves = Curves.of("mine", runs)
    made = recalibrations(curves, styles(curves.strategies))
    assert made is not None
    (table,) = made.tables
    assert table.columns == ("none", "auto", "vector")
    (margin, cells), (random, others) = table.rows
    assert (margin, random) == ("margin", "random")
    assert [(cell.text, cell.spread) for cell in cells] == [("0.200", "0.000"), ("0.150", "0.071"), ("0.050", "0.000")]
    assert [(cell.text, cell.spread) for cell in others] == [("0.200", ""), ("\u2013", ""), ("\u2013", "")]


def test_without_any_there_is_no_table() -> None:
    curves = Curves.of("mine", [a_run("margin", 0)])
    assert recalibrations(curves, styles(curves.strategies)) is None
