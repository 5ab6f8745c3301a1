"""Choosing rows that lie far apart, without ever holding a matrix of all their distances.

Distances are taken from one row to all others at a time, ||x||^2 - 2 <x, c> + ||c||^2, so that a step costs
one matrix-vector product in the precision of the points, and memory stays at a few numbers for each row.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices

Distances = NDArray[np.float64]

TILE_NUMBERS = 4 << 20  # in one block of distances: 16 MB of float32


def k_centre(points: Floats, count: int, *, centres: Floats | None = None, first: int = 0) -> Indices:
    """Return `count` rows, each the farthest from `centres` and from the rows chosen before it.

    With no centres the row `first` comes first. The greedy 2-approximation of k-centre (Gonzalez 1985;
    Sener and Savarese 2018), in O(count * n) distances and O(n) memory. Ties go to the lower row.
    """
    points = as_points(points)
    squares = row_squares(points)
    nearest = nearest_centre(points, squares, centres)
    chosen = np.empty(count, dtype=np.int64)
    for i in range(count):
        row = first if i == 0 and np.isinf(nearest[0]) else int(np.argmax(nearest))
        chosen[i] = row
        np.minimum(nearest, squared_distances(points, squares, points[row]), out=nearest)
        nearest[row] = -np.inf
    return chosen


def k_means_plus_plus(
    distances: Callable[[int], Distances], count: int, *, first: int, rng: np.random.Generator
) -> Indices:
    """Return `count` rows: `first`, then each drawn in proportion to its squared distance from those before.

    `distances` returns the squared distance (n,) of every row to one row. This is the seeding of Arthur and
    Vassilvitskii (2007). If all remaining rows coincide with chosen ones, they are equally likely.
    """
    chosen = np.empty(count, dtype=np.int64)
    chosen[0] = first
    nearest = distances(first)
    nearest[first] = 0
    for i in range(1, count):
        cumulated = np.cumsum(nearest)
        if cumulated[-1] > 0:
            # the last row of positive weight stands in where the product rounds up to the total
            last = int(np.searchsorted(cumulated, cumulated[-1]))
            row = min(int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right")), last)
        else:
            row = int(rng.choice(np.setdiff1d(np.arange(len(nearest)), chosen[:i])))
        chosen[i] = row
        np.minimum(nearest, distances(row), out=nearest)
        nearest[row] = 0
    return chosen


def as_points(points: Floats) -> Floats:
    """Return the points in a precision in which matrix products are fast and exact enough."""
    return points if points.dtype in (np.float32, np.float64) else points.astype(np.float32)


def most_central(points: Floats) -> int:
    """Return the row nearest to the mean of all rows."""
    points = as_points(points)
    return int(np.argmin(squared_distances(points, row_squares(points), points.mean(axis=0, dtype=np.float64))))


def nearest_centre(points: Floats, squares: Distances, centres: Floats | None) -> Distances:
    """Return the squared distance of each row to the nearest centre, (n,); infinity where there are none."""
    nearest = np.full(len(points), np.inf)
    if centres is None or len(centres) == 0:
        return nearest
    centres = centres.astype(points.dtype, copy=False)
    centre_squares = row_squares(centres)
    step = max(1, TILE_NUMBERS // len(centres))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        tile = points[rows] @ centres.T  # (tile, centres)
        tile *= -2
        tile += centre_squares.astype(tile.dtype)
        nearest[rows] = _rounded(squares[rows] + tile.min(axis=1), squares[rows], points.dtype)
    return nearest


def row_squares(points: Floats) -> Distances:
    """Return the squared length of each row, (n,)."""
    return np.asarray(np.einsum("nd,nd->n", points, points, dtype=np.float64))


def squared_distances(points: Floats, squares: Distances, centre: Floats) -> Distances:
    """Return the squared distance of each row to one centre, (n,)."""
    centre = centre.astype(points.dtype, copy=False)
    centre_square = float(row_squares(centre[None])[0])
    return _rounded(squares - 2.0 * (points @ centre) + centre_square, squares + centre_square, points.dtype)


def _rounded(distances: Distances, scale: Distances, dtype: np.dtype) -> Distances:
    """Return the distances, with those within the rounding of their terms set to zero: equal rows are at distance 0."""
    distances[distances <= 16 * np.finfo(dtype).eps * scale] = 0
    return distances
