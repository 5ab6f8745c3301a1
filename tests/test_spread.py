"""Rows that lie far apart."""

from typing import Any

import numpy as np
import pytest

from cusal import _spread as spread
from cusal._spread import k_centre, k_means_plus_plus, most_central, nearest_centre, row_squares, squared_distances


def slow_k_centre(points: np.ndarray, count: int, centres: np.ndarray) -> list[int]:
    """The definition, from all distances at once."""
    chosen: list[int] = []
    for _ in range(count):
        covered = np.concatenate([centres, points[chosen]])
        nearest = np.linalg.norm(points[:, None] - covered[None], axis=2).min(axis=1)
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
    return chosen


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_k_centre_follows_its_definition(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(80, 3)).astype(dtype), rng.normal(size=(5, 3)).astype(dtype)
    expected = slow_k_centre(points.astype(np.float64), 20, centres.astype(np.float64))
    assert k_centre(points, 20, centres=centres).tolist() == expected


def test_k_centre_on_a_line_takes_the_ends_then_the_middle() -> None:
    points = np.arange(9.0)[:, None]
    assert k_centre(points, 3, first=0).tolist() == [0, 8, 4]
    assert k_centre(points, 3, centres=np.array([[0.0]])).tolist() == [8, 4, 2]


def test_k_centre_takes_equal_rows_in_order() -> None:
    assert k_centre(np.full((4, 3), 0.1, dtype=np.float32), 4).tolist() == [0, 1, 2, 3]


def test_nearest_centre_is_the_same_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    points, centres = rng.normal(size=(101, 4)), rng.normal(size=(7, 4))
    whole = nearest_centre(points, row_squares(points), centres)
    monkeypatch.setattr(spread, "TILE_NUMBERS", 50)
    np.testing.assert_allclose(nearest_centre(points, row_squares(points), centres), whole, rtol=1e-12)
    expected = ((points[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(whole, expected, rtol=1e-10)


def test_distance_between_equal_rows_is_zero_in_single_precision() -> None:
    row = np.random.default_rng(2).normal(100, 1, size=768).astype(np.float32)
    points = np.tile(row, (50, 1))
    assert (squared_distances(points, row_squares(points), row) == 0).all()
    assert (nearest_centre(points, row_squares(points), points[:3]) == 0).all()


def test_most_central_row_is_nearest_to_the_mean() -> None:
    assert most_central(np.array([[0.0], [4.0], [5.0], [11.0]])) == 2


def distances_on_a_line(positions: np.ndarray) -> Any:
    return lambda row: (positions - positions[row]) ** 2


def test_k_means_plus_plus_draws_in_proportion_to_squared_distance() -> None:
    rng = np.random.default_rng(3)
    distances = distances_on_a_line(np.array([0.0, 1.0, 2.0, 3.0]))
    second = [int(k_means_plus_plus(distances, 2, first=0, rng=rng)[1]) for _ in range(7000)]
    shares = np.bincount(second, minlength=4) / 7000
    np.testing.assert_allclose(shares, np.array([0, 1, 4, 9]) / 14, atol=0.02)


def test_k_means_plus_plus_draws_equal_rows_once_each() -> None:
    rng = np.random.default_rng(4)
    chosen = k_means_plus_plus(distances_on_a_line(np.array([1.0, 1.0, 5.0, 5.0, 5.0])), 5, first=1, rng=rng)
    assert chosen[0] == 1
    assert chosen[1] >= 2
    assert sorted(chosen) == [0, 1, 2, 3, 4]
