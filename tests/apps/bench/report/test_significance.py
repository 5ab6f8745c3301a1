import numpy as np
import pytest
from scipy import stats

from cusal.apps.bench.report.significance import best, holm, paired_p, significant_best


def test_paired_p_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.9, 0.02, 8), rng.normal(0.88, 0.02, 8)
    assert paired_p(a - b) == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_differences_without_spread_are_certain_or_nothing() -> None:
    assert paired_p(np.zeros(4)) == 1.0
    assert paired_p(np.full(4, 0.1)) == 0.0
    assert paired_p(np.array([0.3, 0.4, 0.5]) - np.array([0.2, 0.3, 0.4])) == 0.0  # rounding is no spread


def test_holm_steps_down_and_never_falls() -> None:
    # By hand: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1 raised to the 0.06 before it.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_the_best_is_marked_only_where_every_corrected_test_agrees() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(0.10, 0.01, 6)
    clear, close = base + rng.normal(0.05, 0.005, 6), base + rng.normal(0.004, 0.004, 6)
    values = np.array([clear, base, close])
    p = holm([stats.ttest_rel(base, other).pvalue for other in (clear, close)])
    assert best(values, higher=False) == 1
    assert significant_best(values[:2], higher=False) == 1
    assert significant_best(values, higher=False) == (1 if p.max() < 0.05 else None)
    assert significant_best(np.array([clear, base, base + 1e-4 * rng.normal(size=6)]), higher=False) is None


def test_correction_can_take_the_mark_away() -> None:
    # One comparison has p = 0.047 and is significant alone; beside two others of the same p it is not.
    other = np.array([0.0, 0.0, 0.0, 0.0, 0.0])
    top = np.array([0.1, 0.2, 0.3, 0.0, 0.39])
    assert 0.017 < stats.ttest_rel(top, other).pvalue < 0.05
    assert significant_best(np.array([top, other]), higher=True) == 0
    assert significant_best(np.array([top, other, other, other]), higher=True) is None


def test_higher_and_lower_point_opposite_ways() -> None:
    values = np.array([[1.0, 1.1, 1.05], [2.0, 2.1, 2.07]])
    assert significant_best(values, higher=True) == 1
    assert significant_best(values, higher=False) == 0


def test_two_common_seeds_are_never_enough() -> None:
    nan = np.nan
    assert significant_best(np.array([[1.0, 1.0], [9.0, 9.1]]), higher=True) is None
    # Three seeds each, but only two in common.
    values = np.array([[1.0, 1.1, 1.2, nan], [nan, 9.0, 9.1, 9.2]])
    assert significant_best(values, higher=True) is None


def test_one_strategy_or_none_is_not_marked() -> None:
    assert significant_best(np.ones((1, 5)), higher=True) is None
    assert significant_best(np.full((2, 3), np.nan), higher=True) is None
    assert best(np.full((2, 3), np.nan), higher=True) is None
