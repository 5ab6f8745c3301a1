"""The orders that use the calibration error otherwise than CUSAL does."""

from typing import Any

import numpy as np
import pytest

from cusal.errors import InvalidInput, UnknownName
from cusal.strategies._view import View
from cusal.strategies.cusal import Cusal
from cusal.strategies.least_calibrated import LeastCalibrated
from cusal.strategies.weighted_cusal import WeightedCusal


def round_view(seed: int = 0) -> View:
    rng = np.random.default_rng(7)
    return View.of_arrays(
        np.arange(80),
        np.random.default_rng(seed),
        probs=rng.dirichlet(np.ones(3), 80),
        reference=(rng.dirichlet(np.ones(3), 15), np.arange(15) % 3),
    )


@pytest.mark.parametrize(
    ("settings", "weight"),
    [
        ({"combination": "uniform"}, lambda alpha: 1 / 2),
        ({"combination": "adaptive"}, lambda alpha: alpha),
        ({"combination": "scaled", "scale": 2}, lambda alpha: 2 * alpha / (2 * alpha + 1)),
        ({}, lambda alpha: 3 * alpha / (3 * alpha + 1)),
    ],
)
def test_keys_are_the_weighted_mean_of_error_and_uncertainty(settings: dict[str, Any], weight: Any) -> None:
    view = round_view()
    calibration = Cusal().estimate(view).error / 2
    share = weight(calibration.mean())
    expected = share * calibration + (1 - share) * (1 - view.probs.max(axis=1))
    np.testing.assert_allclose(WeightedCusal(**settings).keys(view), expected, rtol=1e-12)


def test_the_whole_error_can_be_weighed() -> None:
    view = round_view()
    error = Cusal().estimate(view).error
    share = min(error.mean(), 1)
    expected = share * error + (1 - share) * (1 - view.probs.max(axis=1))
    np.testing.assert_allclose(WeightedCusal(combination="adaptive", halved=False).keys(view), expected, rtol=1e-12)


def test_an_unknown_combination_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'uniform'"):
        WeightedCusal(combination="uniformly")  # type: ignore[arg-type]


def test_a_scale_of_zero_is_refused() -> None:
    with pytest.raises(InvalidInput, match="scale"):
        WeightedCusal(scale=0)


def test_least_calibrated_takes_the_highest_errors_and_ties_at_random() -> None:
    error = Cusal().estimate(round_view()).error
    queries = [LeastCalibrated().select(round_view(seed), 60) for seed in range(3)]
    for query in queries:
        steps = np.diff(np.round(error[query], 5))
        assert (steps <= 0).all()
    tied = np.isclose(error, 1, atol=1e-7).sum()
    assert tied > 5
    assert (queries[0] != queries[1]).any()


def test_least_calibrated_and_cusal_differ_in_ties_alone() -> None:
    view = round_view()
    error = Cusal().estimate(view).error
    first, second = LeastCalibrated().select(view, 40), Cusal().select(view, 40)
    np.testing.assert_allclose(error[first], error[second], atol=2e-6)


def test_both_tell_the_error_of_their_picks() -> None:
    view = round_view()
    for strategy in (LeastCalibrated(), WeightedCusal()):
        indices = strategy.select(view, 5)
        query = strategy.explain(view, indices)
        np.testing.assert_array_equal(query.error, Cusal().estimate(view).error[indices])
