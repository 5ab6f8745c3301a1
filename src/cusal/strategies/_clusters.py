"""Clusters of embeddings by average linkage, and a walk over them that takes a few items from each.

The hierarchy of n rows needs their n (n - 1) / 2 distances. Above `EXACT_ROWS` the rows are first gathered into
small groups (mini-batch k-means), at least `MICRO_CLUSTERS` and twice the clusters that are wanted, and the
hierarchy is built over the centres of those, each counted once. Memory is thus bounded whatever the number of rows.
"""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from cusal._types import Floats, Indices

EXACT_ROWS = 4000
MICRO_CLUSTERS = 1000


def pick_across_clusters(points: Floats, count: int, *, picks_per_cluster: float, rng: np.random.Generator) -> Indices:
    """Return `count` rows spread over count / `picks_per_cluster` clusters, the smallest cluster first."""
    clusters = max(1, round(count / picks_per_cluster))
    return round_robin(average_linkage(points, clusters, rng=rng), count, rng=rng)


def average_linkage(points: Floats, clusters: int, *, rng: np.random.Generator) -> Indices:
    """Return the cluster number of each row, (n,), of at most `clusters` clusters, numbered from 0."""
    if len(points) <= EXACT_ROWS:
        return _cut(points, clusters)
    groups, centres = _micro_clusters(points, min(EXACT_ROWS, max(MICRO_CLUSTERS, 2 * clusters)), rng)
    return _cut(centres, clusters)[groups]


def round_robin(labels: Indices, count: int, *, rng: np.random.Generator) -> Indices:
    """Return `count` rows: one at random from each cluster, smallest cluster first, until enough are found.

    An empty cluster is skipped. Clusters of the same size are visited in the order of their first rows.
    """
    _, first, cluster, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(labels))
    grouped = shuffled[np.argsort(cluster[shuffled], kind="stable")]  # cluster after cluster, random within
    lap = np.empty(len(labels), dtype=np.int64)  # in which walk over the clusters a row is taken
    lap[grouped] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.lexsort((first[cluster], sizes[cluster], lap))[:count].astype(np.int64)


def _cut(points: Floats, clusters: int) -> Indices:
    if clusters >= len(points):
        return np.arange(len(points))
    tree = linkage(points.astype(np.float64), method="average")
    return np.asarray(fcluster(tree, clusters, criterion="maxclust"), dtype=np.int64) - 1


def _micro_clusters(points: Floats, groups: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
    from sklearn.cluster import MiniBatchKMeans  # here, since most queries have no use for it

    model = MiniBatchKMeans(
        groups, init="random", n_init=1, max_iter=5, batch_size=4096, random_state=int(rng.integers(2**31))
    )
    numbers = model.fit_predict(np.ascontiguousarray(points))
    used, renumbered = np.unique(numbers, return_inverse=True)
    return renumbered.astype(np.int64), model.cluster_centers_[used]
