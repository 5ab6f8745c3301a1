"""ProbCover: the items within a radius of which most uncovered items lie.

Yehuda, Dekel, Hacohen and Weinshall (2022), "Active Learning Through a Covering Lens", Alg. 1:

    pick = argmax_j  #{ n : ||x_n - x_j|| <= delta,  no labelled or picked item within delta of x_n }

    delta  the largest radius within which at least `purity` of the items have only neighbours of their own k-means
           cluster (as many clusters as classes); estimated on at most 1,000 items

Predictions play no part.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_share
from cusal._k_means import k_means
from cusal._spread import row_squares
from cusal._types import Floats, Indices
from cusal.strategies._cover import SAMPLE, Cover
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class ProbCover(Strategy):
    """Take items in the middle of dense regions that no label covers yet.

    Made for the first labels, with features that tell classes apart without training. It needs embeddings. Of pools
    above 1,500 items, 1,500 at random are candidates. Once all is covered, or among items that cover as many, the lower
    position comes first.

    Parameters
    ----------
    purity : float, default 0.95
        The share of items whose neighbours within the radius must be of one cluster.

    Raises
    ------
    InvalidInput
        If `purity` does not lie between 0 and 1.

    Examples
    --------
    >>> embeddings = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> arrays = {"probs": np.full((5, 2), 0.5), "embeddings": embeddings, "reference_embeddings": np.empty((0, 1))}
    >>> ProbCover().query(View.of_arrays(np.arange(5), np.random.default_rng(0), **arrays), 2).indices
    array([0, 3])
    """

    for_whom: ClassVar[str] = "the first labels, with features that were trained elsewhere"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    purity: float = 0.95

    def __post_init__(self) -> None:
        as_share(self.purity, "purity")

    def select(self, view: View, batch_size: int) -> Indices:
        points = view.embeddings
        cover = Cover(points, view.reference_embeddings, np.ones(len(points)), count=batch_size, rng=view.rng)
        radius = pure_radius(points, classes=view.probs.shape[1], purity=self.purity, rng=view.rng)

        def within(squared: NDArray) -> Floats:
            return np.asarray(squared <= radius**2, dtype=np.float64)

        return view.candidates[cover.pick(within, batch_size)]


def pure_radius(points: Floats, *, classes: int, purity: float, rng: np.random.Generator) -> float:
    """Return the largest radius within which the share `purity` of the items have neighbours of their cluster alone."""
    sample = np.asarray(points[:: -(-len(points) // SAMPLE)], dtype=np.float64)
    sample = sample - sample.mean(axis=0)
    clusters = k_means(sample, classes, rng=rng)
    squares = row_squares(sample)
    distances = squares[:, None] + squares - 2 * (sample @ sample.T)
    distances[clusters[:, None] == clusters] = np.inf
    nearest = np.sort(np.sqrt(np.maximum(distances.min(axis=1), 0)))  # to an item of another cluster
    found = nearest[min(int((1 - purity) * len(nearest)), len(nearest) - 1)]
    widest = float(np.sqrt(4 * squares.max(initial=0.0)))
    return min(float(found) * (1 - 1e-9), widest)  # one cluster alone: all items are neighbours
