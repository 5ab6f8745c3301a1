"""The rank of strategies over the tasks of a suite, against a case worked by hand."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench.report import Curves, write_curves
from cusal.apps.bench.report.curves import ACCURACY, ECE, LABELLED, RECALIBRATED_ECE, Curve, Task
from cusal.apps.bench.report.measures import TEST_ACCURACY, TEST_ECE
from cusal.apps.bench.report.suites import find_suites, rank, suite_tables, text_ranks, wilcoxon_p

# By task, strategy and seed: accuracy in the rounds 0, 1, 2.
ACCURACIES = {
    ("a", "margin"): [[0.5, 0.6, 0.7], [0.5, 0.6, 0.8]],  # over rounds 1, 2: .65, .70
    ("a", "random"): [[0.5, 0.5, 0.6], [0.5, 0.5, 0.5]],  # .55, .50: -.10, -.20
    ("b", "margin"): [[0.1, 0.4, 0.4], [0.2, 0.4, 0.4]],  # .40, .40
    ("b", "random"): [[0.1, 0.4, 0.5], [0.2, 0.4, 0.52]],  # .45, .46: +.05, +.06
}


def a_run(strategy: str, seed: int, accuracies: list[float]) -> Curve:
    rounds = dict(enumerate(accuracies))
    errors = {number: 1 - value for number, value in rounds.items()}
    values = {ACCURACY: rounds, ECE: errors, RECALIBRATED_ECE: errors, LABELLED: dict.fromkeys(rounds, 20.0)}
    return Curve(strategy, seed, 2, values)


def experiments(**groups: str) -> list[Curves]:
    made = []
    for task in ("a", "b"):
        runs = [
            a_run(strategy, seed, accuracies)
            for (name, strategy), seeds in ACCURACIES.items()
            for seed, accuracies in enumerate(seeds)
            if name == task
        ]
        made.append(Curves.of(f"mine: {task}", runs, task=Task("mine", task, groups.get(task, ""))))
    return made


def test_the_rank_is_what_hand_work_gives() -> None:
    (suite,) = find_suites(experiments())
    best, other = rank(suite, TEST_ACCURACY)
    assert (best.strategy, best.tasks) == ("margin", 0)
    assert best.level == pytest.approx((0.675 + 0.40) / 2)
    assert other.strategy == "random"
    assert other.difference == pytest.approx((-0.15 + 0.055) / 2)
    assert (other.worst_task, other.won, other.tasks, other.pairs) == ("a", 1, 2, 4)
    assert other.worst == pytest.approx(-0.15)
    assert other.p_tasks == pytest.approx(1.0)  # ranks +1, -2: two of four signs are as far out, on either side
    assert other.p_pairs == pytest.approx(0.625)  # ranks +1 +2 -3 -4: 5 of 16 signs have a sum of 3 or less


def test_lower_is_better_for_a_calibration_error() -> None:
    (suite,) = find_suites(experiments())
    best, other = rank(suite, TEST_ECE)
    assert (best.strategy, other.strategy) == ("margin", "random")
    assert other.difference == pytest.approx(0.0475)
    assert (other.worst_task, other.won) == ("a", 1)


def test_seeds_that_only_one_of_the_two_has_finished_do_not_count() -> None:
    first, second = experiments()
    longer = replace(first.runs[-1], rounds=2, values={key: {0: 0.5} for key in first.runs[-1].values}, status="open")
    first = Curves.of(first.experiment, [*first.runs[:-1], longer], task=first.task)
    (suite,) = find_suites([first, second])
    assert rank(suite, TEST_ACCURACY)[1].pairs == 3


def test_a_suite_can_be_cut_to_some_seeds() -> None:
    (suite,) = find_suites(experiments())
    first = suite.with_seeds([0])
    assert first is not None
    assert rank(first, TEST_ACCURACY)[1].difference == pytest.approx((-0.10 + 0.05) / 2)
    assert suite.with_seeds([7]) is None


def test_a_task_alone_is_no_suite() -> None:
    assert find_suites(experiments()[:1]) == []
    assert find_suites([replace(curves, task=None) for curves in experiments()]) == []


def test_groups_have_tables_of_their_own() -> None:
    (suite,) = find_suites(experiments(a="seen", b="fresh"))
    assert suite.parts() == {"": ("a", "b"), "seen": ("a",), "fresh": ("b",)}
    titles = [table.title for table in suite_tables(suite)]
    assert len(titles) == 9
    assert titles[2] == "Accuracy against margin over 1 tasks fresh, higher is better"


def test_all_that_is_equal_has_p_1() -> None:
    assert wilcoxon_p(np.zeros(5)) == 1.0


def test_the_report_shows_the_ranks_in_every_format(tmp_path: Path) -> None:
    write_curves(experiments(), tmp_path)
    title = "Accuracy against margin over 2 tasks"
    for name in ("report.html", "report.md", "report.tex"):
        text = (tmp_path / name).read_text()
        assert title in text, name
        assert "-4.75" in text, name
    rows = list(csv.DictReader((tmp_path / "ranks.csv").read_text().splitlines()))
    assert len(rows) == 6
    assert float(rows[1]["difference"]) == pytest.approx(-0.0475)


def test_the_terminal_gets_the_same_table() -> None:
    (suite,) = find_suites(experiments())
    line = next(line for line in text_ranks(suite).splitlines() if line.startswith("random"))
    assert line.split("  ")[0] == "random"
    assert "-4.75" in line
    assert "-15.0 (a)" in line
    assert "1 of 2" in line
    assert ".6250 (4 pairs)" in line
