"""TypiClust: the most typical item of each cluster that holds no label yet.

Hacohen, Dekel and Weinshall (2022), "Active Learning on a Budget: Opposite Strategies Suit High and Low Budgets":

    clusters      k-means of open and labelled items, min(labelled + batch_size, 500) of them
    typicality    1 / mean distance to the min(20, cluster size) nearest items of the cluster
    picks         the most typical item of each cluster in turn: fewest labelled items first, then the largest

Predictions play no part. Clusters of fewer than five items come last. Of pools above 20,000 items, 20,000 at random are
looked at.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cusal._k_means import k_means
from cusal._spread import row_squares
from cusal._types import Floats, Indices
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

MOST_CLUSTERS, SMALLEST_CLUSTER, NEIGHBOURS = 500, 5, 20
LOOKED_AT = 20_000  # items, drawn at random from larger pools
LARGE = 1000  # members of a cluster, drawn at random, among which neighbours are sought


@dataclass(frozen=True)
class Typiclust(Strategy):
    """Take typical items of regions without a label.

    Made for the first labels, when predictions mean little and features were trained elsewhere. It needs embeddings. It
    has no settings. Items that are as typical go by their position.

    Examples
    --------
    >>> embeddings = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]])
    >>> arrays = {"probs": np.full((6, 2), 0.5), "embeddings": embeddings, "reference_embeddings": np.empty((0, 1))}
    >>> sorted(Typiclust().query(View.of_arrays(np.arange(6), np.random.default_rng(0), **arrays), 2).indices.tolist())
    [1, 4]
    """

    for_whom: ClassVar[str] = "the first labels, with features that were trained elsewhere"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    def select(self, view: View, batch_size: int) -> Indices:
        candidates, labelled = view.candidates, view.reference_embeddings
        if len(candidates) > max(LOOKED_AT, batch_size):
            candidates = np.sort(view.rng.choice(candidates, max(LOOKED_AT, batch_size), replace=False))
        points = view.embeddings_of(candidates)
        together = np.concatenate([points, labelled.astype(points.dtype, copy=False)])
        clusters = k_means(together, min(len(labelled) + batch_size, MOST_CLUSTERS), rng=view.rng)
        order = _visited(clusters, len(points))
        members = np.argsort(clusters[: len(points)], kind="stable")
        starts = np.searchsorted(clusters[members], np.arange(clusters.max() + 2))
        wanted = _turns(np.diff(starts)[order], batch_size)
        picks: list[tuple[int, int, int]] = []  # lap, turn, row
        for turn, (cluster, count) in enumerate(zip(order.tolist(), wanted.tolist(), strict=True)):
            if count:
                rows = members[starts[cluster] : starts[cluster + 1]]
                spread = _mean_distance(points[rows], view.rng)
                best = rows[np.lexsort((rows, spread))[:count]]
                picks += [(lap, turn, int(row)) for lap, row in enumerate(best)]
        return candidates[np.array([row for _, _, row in sorted(picks)], dtype=np.int64)]


def _visited(clusters: Indices, open_items: int) -> Indices:
    """Return the clusters in the order of visits: large enough ones, fewest labelled items, largest first."""
    count = int(clusters.max()) + 1
    sizes = np.bincount(clusters, minlength=count)
    labelled = np.bincount(clusters[open_items:], minlength=count)
    return np.lexsort((-sizes, labelled, sizes < SMALLEST_CLUSTER)).astype(np.int64)


def _turns(sizes: Indices, count: int) -> Indices:
    """Return how many items each cluster gives if one after the other gives one, until there are `count`."""
    given = np.zeros_like(sizes)
    while count > 0:
        able = np.flatnonzero(given < sizes)[:count]
        given[able] += 1
        count -= len(able)
    return given


def _mean_distance(points: Floats, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the mean distance of each item of a cluster to its nearest ones, (members,)."""
    if len(points) == 1:
        return np.zeros(1)
    points = np.asarray(points - points.mean(axis=0, dtype=np.float64).astype(points.dtype))
    drawn = np.arange(len(points))
    if len(points) > LARGE:
        drawn = np.sort(rng.choice(len(points), LARGE, replace=False))
    squares = row_squares(points)
    nearest = min(NEIGHBOURS, len(drawn) - 1)
    mean = np.empty(len(points))
    for start in range(0, len(points), LARGE):
        rows = np.arange(start, min(start + LARGE, len(points)))
        distances = squares[rows, None] + squares[drawn] - 2 * (points[rows] @ points[drawn].T)
        distances[rows[:, None] == drawn] = np.inf  # itself
        closest = np.partition(distances, nearest - 1, axis=1)[:, :nearest]
        mean[rows] = np.sqrt(np.maximum(closest, 0)).mean(axis=1)
    return mean
