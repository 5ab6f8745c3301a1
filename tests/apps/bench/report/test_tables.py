import numpy as np

import cusal
from cusal.apps.bench.report import Curve, Curves, text_table
from cusal.apps.bench.report.curves import ACCURACY, ECE, LABELLED
from cusal.apps.bench.report.measures import MEASURES, TEST_ACCURACY, TEST_ECE
from cusal.apps.bench.report.tables import (
    MISSING,
    area_table,
    estimator_table,
    frequency_table,
    milestone_table,
    result_tables,
)

Simulated = dict[tuple[str, int], list[cusal.Round]]


def hand_made(table: dict[str, list[list[float]]], rounds: int = 4) -> Curves:
    """Curves of ECE by hand: {strategy: one list for each seed}; a short list is a run that is not finished."""
    runs = []
    for strategy, seeds in table.items():
        for seed, values in enumerate(seeds):
            ece = dict(enumerate(values))
            status = "done" if len(ece) > rounds else "running"
            labelled = {t: 10.0 + 5 * t for t in ece}
            runs.append(Curve(strategy, seed, rounds, {ECE: ece, LABELLED: labelled}, status=status))
    return Curves.of("by hand", runs)


def test_a_cell_is_mean_and_deviation_over_seeds() -> None:
    table = milestone_table(hand_made({"a": [[0.5, 0.4, 0.3, 0.2, 0.1], [0.5, 0.4, 0.3, 0.2, 0.3]]}), TEST_ECE)
    assert table.columns == ("t = 1, 15 labels", "t = 2, 20 labels", "t = 3, 25 labels", "t = 4, 30 labels")
    (label, cells), *rest = table.rows
    assert not rest
    assert label == "a"
    assert (cells[3].text, cells[3].spread) == ("0.200", f"{np.std([0.1, 0.3], ddof=1):.3f}")


def test_the_significantly_best_is_bold_and_only_it() -> None:
    table = milestone_table(
        hand_made({
            "good": [[0.5, 0.10, 0.1, 0.1, 0.10], [0.5, 0.11, 0.1, 0.1, 0.11], [0.5, 0.12, 0.1, 0.1, 0.12]],
            "bad": [[0.5, 0.30, 0.1, 0.1, 0.05], [0.5, 0.32, 0.1, 0.1, 0.30], [0.5, 0.31, 0.1, 0.1, 0.90]],
        }),
        TEST_ECE,
    )  # fmt: skip
    bold = {label: [cell.bold for cell in cells] for label, cells in table.rows}
    assert bold == {"good": [True, False, False, False], "bad": [False] * 4}


def test_seeds_that_are_not_finished_are_counted_where_they_are_missing() -> None:
    whole = [0.5, 0.4, 0.3, 0.2, 0.1]
    table = milestone_table(hand_made({"a": [whole] * 3, "b": [whole, whole[:3]], "c": [whole[:2]]}), TEST_ECE)
    rows = dict(table.rows)
    assert [cell.note for cell in rows["a"]] == [""] * 4
    assert [cell.note for cell in rows["b"]] == ["2 seeds", "2 seeds", "1 seed", "1 seed"]
    assert [cell.text for cell in rows["c"]] == ["0.400", MISSING, MISSING, MISSING]
    assert rows["c"][0].spread == ""


def test_the_area_is_the_mean_over_rounds_of_whole_curves_only() -> None:
    curves = hand_made({"a": [[0.5, 0.4, 0.3, 0.2, 0.1], [0.9, 0.9]]})
    ((_, cells),) = area_table(curves, [TEST_ECE]).rows
    assert (cells[0].text, cells[0].spread) == ("0.300", "")


def test_tables_of_real_runs_have_a_row_for_each_strategy(curves: Curves) -> None:
    tables = result_tables(curves)
    assert [table.name for table in tables] == [*(measure.name for measure in MEASURES), "area"]
    assert all([label for label, _ in table.rows] == ["random", "margin", "cusal"] for table in tables)
    frequency, estimator = frequency_table(curves), estimator_table(curves)
    assert frequency is not None
    assert [label for label, _ in frequency.rows] == ["cusal: calibration", "cusal: uncertainty"]
    assert sum(float(cells[3].text) for _, cells in frequency.rows) == 5.0  # batch T was asked for in round T - 1
    assert estimator is not None
    assert [cell.text for cell in estimator.rows[0][1]] == ["0.500", "0.600", "0.300", "0.650", "0.700", "40", "100"]


def test_what_nobody_measured_has_no_table() -> None:
    curves = hand_made({"a": [[0.5, 0.4, 0.3, 0.2, 0.1]]})
    assert [table.name for table in result_tables(curves)] == ["ece", "area"]
    assert frequency_table(curves) is None
    assert estimator_table(curves) is None


def test_the_text_table_shows_the_last_round(curves: Curves) -> None:
    lines = text_table(curves).splitlines()
    assert lines[0].split("  ")[0] == "strategy"
    assert [line.split()[0] for line in lines[2:5]] == ["random", "margin", "cusal"]
    assert lines[5] == "Test set after 30 labels: mean ± standard deviation over 3 seeds."
    assert f"{100 * curves.values[ACCURACY][0, :, 4].mean():.1f}" in lines[2]
    assert TEST_ACCURACY.short in lines[0]


def test_the_text_table_says_that_no_run_has_ended() -> None:
    assert text_table(hand_made({"a": [[0.5, 0.4]]})).splitlines()[-1] == "No run has come to its end yet."
