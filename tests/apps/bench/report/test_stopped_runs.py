"""Runs that their sessions ended early: their last scores stand, and the report says what they spent."""

import numpy as np
import pytest

import cusal
from cusal.apps.bench.report import Curve, Curves, text_table
from cusal.apps.bench.report.curves import ACCURACY, ECE, LABELLED
from cusal.apps.bench.report.measures import TEST_ACCURACY, TEST_ECE
from cusal.apps.bench.report.outline import sections
from cusal.apps.bench.report.tables import CARRIED_ON, area_table, milestone_table, stop_table
from cusal.metrics.reliability import Reliability

SECONDS = ("seconds", "measured", "fit")


def a_run(strategy: str, seed: int, accuracy: list[float], status: str = "done") -> Curve:
    rounds = range(len(accuracy))
    values = {
        ACCURACY: dict(enumerate(accuracy)),
        ECE: dict.fromkeys(rounds, 0.1),
        LABELLED: {t: 20.0 + 10 * t for t in rounds},
        SECONDS: dict.fromkeys(rounds, 1.0),
    }
    return Curve(strategy, seed, 4, values, status=status)


@pytest.fixture
def stopped() -> Curves:
    whole, early = [0.5, 0.6, 0.7, 0.8, 0.9], [0.6, 0.8, 0.85]
    return Curves.of("by hand", [a_run("margin", 0, whole), a_run("margin", 1, early), a_run("random", 0, whole)])


def test_keep_their_last_scores_but_spend_no_time(stopped: Curves) -> None:
    assert stopped.values[ACCURACY][0, 1].tolist() == [0.6, 0.8, 0.85, 0.85, 0.85]
    assert np.isnan(stopped.values[SECONDS][0, 1]).tolist() == [False, False, False, True, True]
    assert [(run.strategy, run.seed) for run in stopped.stopped] == [("margin", 1)]
    assert stopped.unfinished == ()


def test_are_not_confused_with_runs_that_are_under_way() -> None:
    curves = Curves.of("by hand", [a_run("margin", 0, [0.5, 0.6], status="running"), a_run("random", 0, [0.5] * 5)])
    assert np.isnan(curves.values[ACCURACY][0, 0, 2:]).all()
    assert curves.stopped == ()
    assert stop_table(curves) is None
    assert CARRIED_ON not in milestone_table(curves, TEST_ACCURACY).note


def test_count_in_means_and_areas(stopped: Curves) -> None:
    table = milestone_table(stopped, TEST_ACCURACY)
    assert [cell.text for cell in dict(table.rows)["margin"]] == ["70.0", "77.5", "82.5", "87.5"]
    assert CARRIED_ON in table.note
    area = dict(area_table(stopped, [TEST_ACCURACY]).rows)["margin"][0]
    assert area.text == f"{100 * np.mean([0.7, np.mean([0.6, 0.8, 0.85, 0.85, 0.85])]):.1f}"


def test_the_labels_of_a_round_are_those_of_runs_that_are_still_going(stopped: Curves) -> None:
    assert stopped.labelled.tolist() == [20, 30, 40, 50, 60]
    all_early = Curves.of("by hand", [a_run("margin", 0, [0.5, 0.6]), a_run("margin", 1, [0.5, 0.6, 0.7])])
    assert all_early.labelled.tolist() == [20, 30, 40, 50, 60]


def test_the_report_shows_labels_spent_and_scores_at_the_stop(stopped: Curves) -> None:
    table = stop_table(stopped)
    assert table is not None
    assert table.columns == ("stopped early", "labels spent", "Accuracy %", "ECE")
    rows = {label: [cell.text for cell in cells] for label, cells in table.rows}
    assert rows == {"margin": ["1 of 2", "50", "87.5", "0.100"], "random": ["0 of 1", "60", "90.0", "0.100"]}
    (section,), _ = sections([stopped])
    assert "1 of 3 runs stopped early" in section.facts
    assert table in [shown for exhibit in section.exhibits for shown in exhibit.tables]
    assert "after 60 labels, or where a run stopped (1 of 3 runs stopped early, with 40" in text_table(stopped)


def test_reliability_takes_the_bins_of_their_last_round() -> None:
    def bins(count: int) -> Reliability:
        return Reliability(np.array([count]), np.array([0.5]), np.array([0.5]))

    early = Curve("a", 0, 4, {LABELLED: {0: 20.0, 1: 30.0}}, {("raw", 0): bins(1), ("raw", 1): bins(2)})
    whole = Curve("a", 1, 4, {LABELLED: dict.fromkeys(range(5), 20.0)}, {("raw", 4): bins(5)})
    pooled = Curves.of("by hand", [early, whole]).reliability("a", "raw", 4)
    assert pooled is not None
    assert pooled.count.tolist() == [7]


def test_simulations_that_stopped_are_known_by_their_last_record(
    simulated: dict[tuple[str, int], list[cusal.Round]],
) -> None:
    records = simulated["margin", 0]
    assert not Curve.of("margin", 0, records[:2], rounds=4).stopped
    assert Curve.of("margin", 0, [*records[:2], records[-1]], rounds=6).stopped
    assert TEST_ECE.key in Curve.of("margin", 0, records).values
