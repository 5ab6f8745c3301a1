"""Cluster variance: from each of k clusters of unsure items, the one whose label says most about other unsure items.

    m(x) = p_(1)(x) - p_(2)(x)
    S    = the min(factor * k, n) items of smallest m;  S_1 .. S_k = k-means clusters of their embeddings
    U    = 400 open items at random;  L = the labelled items
    K(x, y) = exp(-|z(x) - z(y)|^2 / 2)
    C(x, y) = K(x, y) - K(x, L) (K(L, L) + I)^-1 K(L, y)
    g(x) = (1 - m(x)) sum over u in U of (1 - m(u)) C(x, u)^2 / (C(x, x) + 1)
    picks = { argmax of g over S_j : j = 1 .. k }

C is the covariance of kernel regression on the embeddings, given the labels so far, and g how much the label of x would
lower the variance of the open items, each as far as the model is unsure of it (Cohn, Ghahramani and Jordan 1996, in
closed form). Items near a labelled one promise little, items that resemble many unsure ones most. The clusters are
those of `diverse_margin`: without them, picks pile up where a pool is dense, which fails with many classes.

| symbol | name |
|---|---|
| k | batch_size |
| n | len(view.candidates) |
| S | shortlist |
| U | sampled, at most SAMPLED |
| L | _labelled |
| z | embeddings around their mean over U, in units of their mean squared norm |
| g | gain |
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from benchmarks.variance_reduction import _labelled
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from cusal._checks import as_count
from cusal._types import Floats, Indices
from cusal.errors import MissingMethod
from cusal.strategies._strategy import Strategy
from cusal.strategies._uncertainty import margin
from cusal.strategies._view import View
from cusal.strategies.diverse_margin import _first_of_each_cluster
from cusal.strategies.margin import Margin

SAMPLED = 400
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class ClusterVariance(Strategy):
    """Take, from each cluster of undecided items, the one whose label says most about other undecided items.

    Use it with a light model on features, tables or text, where a round may take some ten milliseconds more than with
    `DiverseMargin`. Where neither the model nor the items have embeddings it picks exactly as `Margin` does.

    Parameters
    ----------
    factor : int, default 10
        The clusters are formed among `factor` times as many items as are asked for, those of smallest margin. With 1
        the picks are those of `Margin`.

    Raises
    ------
    InvalidInput
        If `factor` is no whole number of at least 1.

    Examples
    --------
    >>> probs = np.array([[0.5, 0.5], [0.51, 0.49], [0.52, 0.48], [0.53, 0.47]])
    >>> embeddings = np.array([[9.0], [0.1], [0.0], [-0.1]])
    >>> view = View.of_arrays(np.arange(4), np.random.default_rng(0), probs=probs, embeddings=embeddings)
    >>> ClusterVariance().query(view, 1).indices
    array([2])
    """

    for_whom: ClassVar[str] = "light models on tables and features"

    factor: int = 10

    def __post_init__(self) -> None:
        as_count(self.factor, "factor")

    def select(self, view: View, batch_size: int) -> Indices:
        shortlist = Margin().select(view, min(self.factor * batch_size, len(view.candidates)))
        if batch_size == len(shortlist):
            return shortlist
        sampled = view.candidates
        if len(sampled) > SAMPLED:
            sampled = np.sort(view.rng.choice(sampled, SAMPLED, replace=False))
        try:
            points = view.embeddings_of(shortlist)
            around = view.embeddings_of(sampled)
        except MissingMethod:
            return shortlist[:batch_size]
        doubt = margin(view.probs_of(shortlist)), margin(view.probs_of(sampled))
        order = np.argsort(-_gain(_scaled([points, around, _labelled(view)]), doubt), kind="stable")
        return shortlist[order[_first_of_each_cluster(points[order], batch_size, view.rng)]]


def _scaled(parts: list[Floats]) -> list[Matrix]:
    """Return points around the mean of the second part, in units of its mean squared norm."""
    largest = max(float(np.abs(part).max(initial=0.0)) for part in parts) or 1.0
    small = [np.asarray(part, dtype=np.float64) / largest for part in parts]  # no square overflows
    centred = [part - small[1].mean(axis=0) for part in small]
    unit = float(np.sqrt(np.square(centred[1]).sum(axis=1).mean()))
    return [part / unit if unit > 0 else part for part in centred]


def _gain(parts: list[Matrix], doubts: tuple[Matrix, Matrix]) -> Matrix:
    """Return by how much a label of each point lowers the variance of sampled ones, as far as both are in doubt, (n,).

    parts: points (n, d), sampled (u, d) and labelled (l, d). doubts: of the points (n,) and of the sampled, (u,).
    """
    (points, sampled, labelled), (doubt, sampled_doubt) = parts, doubts
    covariance, variance = _kernel(points, sampled), np.ones(len(points))
    if len(labelled):
        known = _kernel(labelled, points)
        solved = cho_solve(cho_factor(_kernel(labelled, labelled) + np.eye(len(labelled))), known)  # (labelled, n)
        covariance -= solved.T @ _kernel(labelled, sampled)
        variance -= (known * solved).sum(axis=0)
    return np.asarray(doubt * (np.square(covariance) @ sampled_doubt) / (variance + 1))


def _kernel(left: Matrix, right: Matrix) -> Matrix:
    """Return exp(-|x - y|^2 / 2) of all pairs, (left, right)."""
    apart = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1) - 2 * left @ right.T
    return np.asarray(np.exp(-np.maximum(apart, 0) / 2))
