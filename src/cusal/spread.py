"""Choosing rows that lie far apart, without ever holding a matrix of all their distances."""

import numpy as np
from numpy.typing import NDArray

from cusal.checks import Floats, Indices


def k_centre(points: Floats, count: int, *, centres: Floats | None = None, first: int = 0) -> Indices:
    """Give `count` rows, each the farthest from `centres` and from the rows chosen before it.

    With no centres the row `first` comes first. The greedy 2-approximation of k-centre (Gonzalez 1985; Sener and
    Savarese 2018), in O(count * n) distances and O(n) memory. Equal distances go by row.
    """
    squares = row_squares(points)
    chosen = np.empty(count, dtype=np.int64)
    nearest = np.full(len(points), np.inf)
    for centre in () if centres is None else centres:
        np.minimum(nearest, squared_distances(points, squares, centre), out=nearest)
    for i in range(count):
        row = first if i == 0 and np.isinf(nearest[0]) else int(np.argmax(nearest))
        chosen[i] = row
        np.minimum(nearest, squared_distances(points, squares, points[row]), out=nearest)
        nearest[chosen[: i + 1]] = -np.inf
    return chosen


def row_squares(points: Floats) -> NDArray[np.float64]:
    """Give the squared length of each row, (n,)."""
    return np.einsum("nd,nd->n", points, points, dtype=np.float64)


def squared_distances(points: Floats, squares: NDArray[np.float64], centre: Floats) -> NDArray[np.float64]:
    """Give the squared distance of each row to one centre, (n,)."""
    centre_square = float(centre.astype(np.float64) @ centre.astype(np.float64))
    return np.maximum(squares - 2 * (points @ centre) + centre_square, 0.0)
