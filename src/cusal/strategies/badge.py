"""BADGE: items whose gradients are large and point in different directions.

Ash et al. (2020), "Deep Batch Active Learning by Diverse, Uncertain Gradient Lower Bounds", Alg. 1. The
gradient of the loss in the last layer, had the predicted class been the label (up to its sign), and its
distances:

    g(x)            = a(x) (x) h(x),      a = onehot(argmax p) - p
    <g(x), g(x')>   = <a(x), a(x')> <h(x), h(x')>
    ||g(x)-g(x')||^2 = ||g(x)||^2 + ||g(x')||^2 - 2 <g(x), g(x')>

    p  view.probs      h  view.embeddings

so that g, of (classes x features) numbers for each item, is never built. The largest gradient comes first,
then k-means++ draws each next one with probability proportional to its squared distance from those before
it.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cusal._spread import Distances, as_points, k_means_plus_plus, row_squares
from cusal._types import Floats, Indices
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Badge(Strategy):
    """Take items whose loss gradients are large and point in different directions.

    It needs embeddings. `cusal.query` uses the square roots of the probabilities, a session those of its model. The
    first item is the one with the largest gradient; the others are drawn at random, in proportion to their squared
    distance from those chosen. It has no settings.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="badge").indices
    array([2, 0])
    """

    for_whom: ClassVar[str] = "networks and large batches; with a light model a point behind margin"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    def select(self, view: View, batch_size: int) -> Indices:
        gradients = FactorisedGradients(residuals(view.probs), as_points(view.embeddings))
        first = int(np.argmax(gradients.squares))
        return view.candidates[k_means_plus_plus(gradients.distances, batch_size, first=first, rng=view.rng)]


def residuals(probs: Floats) -> Floats:
    """Return onehot(argmax p) - p for each row, (n, classes)."""
    result = -as_points(probs)
    result[np.arange(len(probs)), probs.argmax(axis=1)] += 1
    return result


class FactorisedGradients:
    """Distances between the products of residuals (n, classes) and features (n, d), without the products."""

    def __init__(self, residuals: Floats, features: Floats) -> None:
        self.residuals, self.features = residuals, features
        self.squares = row_squares(residuals) * row_squares(features)  # (n,) squared lengths

    def distances(self, row: int) -> Distances:
        """Return the squared distance of each gradient to that of `row`, (n,)."""
        inner = (self.residuals @ self.residuals[row]).astype(np.float64) * (self.features @ self.features[row])
        distances: Distances = self.squares + self.squares[row] - 2 * inner
        rounding = 16 * max(np.finfo(self.features.dtype).eps, np.finfo(self.residuals.dtype).eps)
        distances[distances <= rounding * (self.squares + self.squares[row])] = 0
        return distances
