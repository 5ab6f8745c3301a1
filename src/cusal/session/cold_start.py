"""A batch while no model can be asked: the most typical item of each cluster.

    typicality(x) = 1 / mean distance of x to its 20 nearest in its cluster     (TypiClust, Hacohen et al. 2022, eq. 4)

k-means clusters of the items, as many as are asked for, cover the data; the item with the closest neighbours in each
is one of many like it, where the farthest ones are outliers.

While all labels are of one class, another class is rare, and typical items are the wrong place to look for it. Then
there are as many clusters more as there are labels; half of a batch is typical of clusters without a label, those
furthest from any label first, and half is drawn uniformly (`benchmarks/rare_classes.py`).

| items | what is clustered |
|---|---|
| tables | columns, standardised |
| images | flattened numbers, around their mean |
| sparse rows | `dense_vectors` of them |
| texts | `dense_vectors` of the TF-IDF of their words |
| data frames with categories or missing values | their `cusal.features.TableFeatures` |
| anything else | nothing: items are drawn uniformly |

Of more than 50 columns, the 50 principal components are taken. Over hundreds of noisy columns the item with the closest
neighbours is the plainest, not the most typical: on `dna` (180 columns) 20 such labels cost 18 points of accuracy
against random ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cusal._checks import as_array
from cusal._items import is_frame, is_sparse, take
from cusal._k_means import k_means
from cusal._spread import nearest_centre, row_squares
from cusal._types import Floats, Indices
from cusal.features.dense_vectors import dense_vectors, item_vectors, text_vectors

MOST = 20_000  # items looked at: enough to find the clusters of any first batch
MOST_NUMBERS = 1 << 26  # read of them: of large images, fewer are looked at
MOST_LABELLED = 500  # labelled items looked at, and clusters for them
NEIGHBOURS = 20
COMPONENTS = 50
LARGEST = 2000  # items of a cluster among which the most typical is sought


def typical_items(
    items: Any, candidates: Indices, count: int, *, labelled: Sequence[int] | Indices = (), rng: np.random.Generator
) -> Indices:
    """Return `count` of the candidates, each typical of another part of the data, the largest part first.

    labelled: positions of items whose labels are known, all of one class; half of the items are then of outlying parts
    of the data, half drawn uniformly.
    """
    known = _sample(np.asarray(labelled, dtype=np.int64), MOST_LABELLED, rng)
    looked_at = _sample(candidates, max(count, min(MOST, MOST_NUMBERS // _width(items))), rng)
    points = _points(take(items, np.concatenate([looked_at, known])))
    if points is None:
        return rng.choice(looked_at, size=count, replace=False)
    clusters = k_means(points, count + len(known), rng=rng, max_iter=100)
    _, clusters, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    place = _places(points, clusters, rng)[: len(looked_at)]
    if len(known) == 0:
        return looked_at[np.lexsort((-sizes[clusters], place))[:count]]
    apart = _distances_to_labels(points, clusters, sizes, len(known))[clusters[: len(looked_at)]]
    outlying = looked_at[np.lexsort((-apart, apart == 0, place))[: (count + rng.integers(2)) // 2]]
    uniform = rng.choice(np.setdiff1d(candidates, outlying), count - len(outlying), replace=False)
    return rng.permutation(np.concatenate([outlying, uniform]))


def _distances_to_labels(points: Floats, clusters: Indices, sizes: Indices, labelled: int) -> Floats:
    """Return how far the mean of each cluster is from the nearest of the last rows; 0 if it has one of them."""
    means = np.zeros((len(sizes), points.shape[1]))
    np.add.at(means, clusters, points)
    centres = (means / sizes[:, None]).astype(points.dtype)
    squares: Floats = nearest_centre(centres, row_squares(centres), points[-labelled:])
    return np.where(np.isin(np.arange(len(sizes)), clusters[-labelled:]), 0.0, np.sqrt(squares))


def _places(points: Floats, clusters: Indices, rng: np.random.Generator) -> Indices:
    """Return how many rows of its own cluster are more typical than each row, (n,)."""
    places = np.empty(len(points), dtype=np.int64)
    ends = np.cumsum(np.bincount(clusters))
    for members in np.split(np.argsort(clusters, kind="stable"), ends[:-1]):
        some = np.arange(len(members)) if len(members) <= LARGEST else _sample(np.arange(len(members)), LARGEST, rng)
        distance = np.full(len(members), np.inf)
        distance[some] = _mean_distances(points[members[some]])
        places[members[np.argsort(distance, kind="stable")]] = np.arange(len(members))
    return places


def _mean_distances(points: Floats) -> Floats:
    """Return the mean distance of each row to its `NEIGHBOURS` nearest, or to all where they are fewer."""
    neighbours = min(NEIGHBOURS, len(points) - 1)
    if neighbours < 1:
        return np.zeros(len(points))
    squares = row_squares(points)
    distances = squares[:, None] - 2.0 * (points @ points.T) + squares  # (n, n)
    np.fill_diagonal(distances, np.inf)
    nearest = np.partition(distances, neighbours - 1, axis=1)[:, :neighbours]
    return np.asarray(np.sqrt(np.maximum(nearest, 0.0)).mean(axis=1))


def _points(items: Any) -> Floats | None:
    """Return the items as points between which distances mean something; None if they are no numbers and no texts."""
    if is_sparse(items):
        return dense_vectors(items) if np.isfinite(items.data).all() else None
    values = as_array(items)
    if values.dtype.kind in "OU":
        return text_vectors(values) if values.ndim == 1 else _frame_points(items)
    if values.dtype.kind not in "fiub" or values.size == 0:
        return None
    points = values.reshape(len(values), -1).astype(np.result_type(values.dtype, np.float32))
    if not np.isfinite(points).all():
        return None
    points -= points.mean(axis=0, dtype=np.float64).astype(points.dtype)
    points /= _positive(np.abs(points).max(axis=0 if values.ndim == 2 else None))  # no square overflows
    return _principal_components(points / _positive(points.std(axis=0)) if values.ndim == 2 else points)


def _frame_points(items: Any) -> Floats | None:
    """Return the features of a data frame that holds other things than numbers."""
    vectors = item_vectors(items) if is_frame(items) else None
    return None if vectors is None else _principal_components(vectors - vectors.mean(axis=0))


def _positive(scale: Any) -> Any:
    """Return what to divide by: constant columns stay at zero."""
    return np.where(scale > 0, scale, scale.dtype.type(1))


def _principal_components(points: Floats) -> Floats:
    if points.shape[1] <= COMPONENTS or len(points) <= COMPONENTS:
        return points
    from sklearn.decomposition import PCA  # here, since narrow tables have no use for it

    return np.asarray(PCA(COMPONENTS, svd_solver="randomized", random_state=0).fit_transform(points))


def _sample(indices: Indices, most: int, rng: np.random.Generator) -> Indices:
    """Return all of the indices, or `most` of them at random in ascending order."""
    return indices if len(indices) <= most else np.sort(rng.choice(indices, size=most, replace=False))


def _width(items: Any) -> int:
    """Return the numbers in one item, or 1 where that is not known."""
    shape = () if is_sparse(items) else getattr(items, "shape", ())
    return max(1, int(np.prod(shape[1:])))
