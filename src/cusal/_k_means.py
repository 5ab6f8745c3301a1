"""k-means (Lloyd 1982, seeded as by Arthur and Vassilvitskii 2007) of rows, by scikit-learn.

    minimise  sum_i min_j ||x_i - c_j||^2   over the centres c_1 .. c_k

Above `EXACT_ROWS` rows the centres are fitted to mini-batches (Sculley 2010), so that a thousand clusters of ten
thousand rows take seconds.
"""

import warnings

import numpy as np

from cusal._spread import as_points
from cusal._types import Floats, Indices

EXACT_ROWS = 4000
MINI_BATCH = 4096
MOST_SEEDED = 500  # clusters whose seeds are spread; spreading more would take longer than all that follows
EPOCHS = 5  # over mini-batches, in place of up to `max_iter` steps over all rows


def k_means(points: Floats, clusters: int, *, rng: np.random.Generator, max_iter: int = 20) -> Indices:
    """Return the cluster number of each row, (n,), between 0 and `clusters` - 1.

    Numbers may be missing: rows that are equal share a cluster, however many clusters are wanted.
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans  # here, since most queries have no use for it
    from sklearn.exceptions import ConvergenceWarning

    if clusters >= len(points):
        return np.arange(len(points))
    seed = int(rng.integers(2**31))
    if len(points) <= EXACT_ROWS:
        model = KMeans(clusters, n_init=1, max_iter=max_iter, random_state=seed)
    else:
        model = MiniBatchKMeans(
            clusters,
            init="k-means++" if clusters <= MOST_SEEDED else "random",
            n_init=1,
            max_iter=EPOCHS,
            batch_size=max(MINI_BATCH, clusters),
            random_state=seed,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters are no mistake here
        return np.asarray(model.fit_predict(_scaled(points)), dtype=np.int64)


def _scaled(points: Floats) -> Floats:
    """Return the points around their mean, in units of the largest number: single precision then suffices."""
    points = as_points(points)
    centred = points - points.mean(axis=0, dtype=np.float64).astype(points.dtype)
    largest = float(np.abs(centred).max(initial=0.0))
    scaled = centred / largest if largest > 0 else centred
    return np.asarray(scaled, dtype=np.float32)
