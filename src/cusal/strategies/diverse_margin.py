"""Diverse margin: the item of smallest margin from each of k clusters of unsure items.

    m(x)  = p_(1)(x) - p_(2)(x)
    S     = the min(factor * k, n) items of smallest m
    S_1 .. S_k = k-means clusters of the embeddings z of S
    picks = { argmin of m over S_j : j = 1 .. k }

Margin alone asks about the same confusion many times over; clusters of the unsure items keep a batch varied, and the
smallest margin within each keeps it unsure. The shortlist is that of Cluster-Margin (Citovsky et al. 2021), which
draws at random from clusters by average linkage; clusters of similar size and the smallest margin of each did better
with light models on tables, text and frozen features.

| symbol | name |
|---|---|
| k | batch_size |
| n | len(view.candidates) |
| S | shortlist |
| z | view.embeddings_of(shortlist) |
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cusal._checks import as_count
from cusal._k_means import k_means
from cusal._types import Floats, Indices
from cusal.errors import MissingMethod
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View
from cusal.strategies.margin import Margin


@dataclass(frozen=True)
class DiverseMargin(Strategy):
    """Items that the model can hardly decide between two classes, each from another cluster of such items.

    Use it with a light model on features, tables or text, and whenever batches are larger than one. Where neither the
    model nor the items have embeddings it picks exactly as `Margin` does.

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
    >>> probs = np.array([[0.5, 0.5], [0.51, 0.49], [0.6, 0.4], [0.9, 0.1]])
    >>> embeddings = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> view = View.of_arrays(np.arange(4), np.random.default_rng(0), probs=probs, embeddings=embeddings)
    >>> DiverseMargin().query(view, 2).indices
    array([0, 2])
    """

    for_whom: ClassVar[str] = (
        "nearly everybody: the best with light models on tables, texts and image features, and the default"
    )

    factor: int = 10

    def __post_init__(self) -> None:
        as_count(self.factor, "factor")

    def select(self, view: View, batch_size: int) -> Indices:
        shortlist = Margin().select(view, min(self.factor * batch_size, len(view.candidates)))
        if batch_size in (1, len(shortlist)):  # the smallest margin of one cluster, or of clusters of one
            return shortlist[:batch_size]
        try:
            points = view.embeddings_of(shortlist)
        except MissingMethod:
            return shortlist[:batch_size]
        return shortlist[_first_of_each_cluster(points, batch_size, view.rng)]


def _first_of_each_cluster(points: Floats, count: int, rng: np.random.Generator) -> Indices:
    """Return `count` rows in ascending order: the first of each cluster, and the first of those left over."""
    _, first = np.unique(k_means(points, count, rng=rng), return_index=True)
    rest = np.setdiff1d(np.arange(len(points)), first)
    return np.sort(np.concatenate([first, rest[: count - len(first)]])).astype(np.int64)
