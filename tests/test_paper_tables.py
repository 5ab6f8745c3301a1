"""The statistics beside the paper's tables, by hand-worked cases."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from cusal.apps.bench.report import Curves
from cusal.apps.bench.report.curves import ACCURACY, ECE, Curve
from cusal.metrics.reliability import Reliability

RESULTS = Path(__file__).parents[1] / "results"
TABLES = runpy.run_path(str(RESULTS / "paper_tables.py"))


def curves(gain):
    """Two strategies, four seeds, four rounds; `a` is ahead of `b` by `gain` and something that differs by seed."""
    runs = []
    for seed, own in enumerate((-0.002, -0.001, 0.001, 0.002)):
        for name, more in (("a", gain + own), ("b", 0.0)):
            accuracy = {t: 0.5 + 0.1 * t + more for t in range(5)}
            ece = {t: 0.3 - 0.05 * t for t in range(5)}
            labelled = {t: 10.0 * t for t in range(5)}
            values = {ACCURACY: accuracy, ECE: ece, ("state", "measured", "labelled"): labelled}
            runs.append(Curve(name, seed, 4, values))
    return Curves.of("x", runs)


def test_holm_multiplies_the_smallest_by_all_and_never_goes_down():
    assert TABLES["holm"]([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_an_interval_is_students():
    low, high = TABLES["interval"](np.array([1.0, 2.0, 3.0]))
    assert (low, high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))


def test_differences_have_an_interval_a_mark_and_the_papers_difference():
    paper = {"accuracy": {"a": [60.0, 70.0, 80.0, 90.0], "b": [59.0, 70.0, 80.0, 91.5]}}
    row = TABLES["differences"](curves(0.03), paper, "accuracy", [("a", "b")])[-1]
    assert "| +3.0* [+2.7, +3.3] (+1.0) |" in row
    assert "(-1.5)" in row
    assert "=" not in row


def test_what_is_within_the_margin_is_equal_and_what_is_unknown_is_not():
    assert "+0.0 [-0.3, +0.3] =" in TABLES["differences"](curves(0.0), {}, "accuracy", [("a", "b")])[-1]
    assert "=" not in TABLES["differences"](curves(0.009), {}, "accuracy", [("a", "b")])[-1]


def test_the_ece_at_equal_accuracy_lies_between_two_rounds():
    lines = TABLES["at_equal_accuracy"](curves(0.0), (0.75, 0.95))
    assert lines[-1] == "| b | 0.175 ± 0.000 (4 of 4, 2) | (0 of 4) |"


def test_the_debiased_ece_of_a_calibrated_bin_is_below_its_ece():
    bins = Reliability(np.array([25]), np.array([0.5]), np.array([0.6]))
    plain, debiased = TABLES["_debiased"](bins)
    assert plain == pytest.approx(0.1)
    noise = np.random.default_rng(0).normal(0.1, (0.6 * 0.4 / 25) ** 0.5, 400_000)
    assert debiased == pytest.approx(0.2 - np.abs(noise).mean(), abs=1e-3)


def test_the_error_decides_a_pick_alone_or_above_the_cut():
    errors, alone = [1.5, 1.2, 1.2, 1.0], ["calibration", "uncertainty", "uncertainty", "uncertainty"]

    class Runs:
        def picks(self, ids):
            return [{"round": 0, "error": e, "decided_by": d} for e, d in zip(errors, alone, strict=True)]

    unique, above = TABLES["frequencies"](Runs(), [{"id": "x", "strategy": "cusal"}], 1)[2:]
    assert unique.split("|")[-2].strip() == "1.0"
    assert above.split("|")[-2].strip() == "3.0"
