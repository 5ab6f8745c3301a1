"""The two theorems as numbers."""

import math

import pytest

from cusal.calibration import error_bound, estimator_rate
from cusal.errors import CusalError


def test_rate_by_hand():
    assert estimator_rate(100, 3, bandwidth=0.1) == pytest.approx(1 / (100 * 0.1) + 0.01)


def test_rate_of_many_classes_is_infinite_rather_than_an_overflow():
    assert estimator_rate(100, 1000, bandwidth=1e-3) == math.inf


def test_bound_by_hand_and_shrinking_with_more_points():
    assert error_bound(0.1, labelled=10, pool=90, delta=0.1) == pytest.approx(0.1 + math.sqrt(4 * math.log(20) / 200))
    assert error_bound(0.1, labelled=10, pool=9000) < error_bound(0.1, labelled=10, pool=90)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mean_error": -1, "labelled": 1, "pool": 1}, "mean_error"),
        ({"mean_error": 0.1, "labelled": 0, "pool": 0}, "both 0"),
        ({"mean_error": 0.1, "labelled": 1, "pool": 1, "delta": 1.0}, "delta"),
        ({"mean_error": 0.1, "labelled": 1, "pool": 1.5}, "pool"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(CusalError, match=message):
        error_bound(arguments.pop("mean_error"), **arguments)
