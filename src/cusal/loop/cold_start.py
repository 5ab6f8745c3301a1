"""A first batch when nothing is labelled and no model is fitted: items that are spread out.

k-means++ seeding (Arthur and Vassilvitskii 2007) on the standardised raw items: the first at random, each next with a
probability proportional to its squared distance from those chosen. Such a batch is spread out, yet holds fewer outliers
than one of farthest points. Items that are not numbers (texts, file names) are drawn uniformly.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array
from cusal._items import take
from cusal._spread import k_means_plus_plus, row_squares, squared_distances
from cusal._types import Indices

MOST = 20_000  # items considered: enough to spread any first batch over
DENSE_NUMBERS = 1 << 26  # sparse items with more numbers than this are drawn uniformly


def spread_out(items: Any, candidates: Indices, count: int, rng: np.random.Generator) -> Indices:
    """Return `count` of the candidates, spread out over all of them."""
    looked_at = candidates
    if len(candidates) > max(MOST, count):
        looked_at = np.sort(rng.choice(candidates, size=max(MOST, count), replace=False))
    points = _numbers(take(items, looked_at))
    if points is None:
        return rng.choice(looked_at, size=count, replace=False)
    squares = row_squares(points)
    chosen = k_means_plus_plus(
        lambda row: squared_distances(points, squares, points[row]),
        count,
        first=int(rng.integers(len(points))),
        rng=rng,
    )
    return looked_at[chosen]


def _numbers(items: Any) -> NDArray[np.float64] | None:
    if hasattr(items, "toarray"):
        items = items.toarray() if items.shape[0] * items.shape[1] <= DENSE_NUMBERS else []
    values = as_array(items)
    if not np.issubdtype(values.dtype, np.number) or len(values) == 0:
        return None
    points = values.reshape(len(values), -1).astype(np.float64)
    if not np.isfinite(points).all():
        return None
    spread = points.std(axis=0)
    return np.asarray((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
