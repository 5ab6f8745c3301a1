"""Cluster-Margin: items of small margin from different clusters.

Citovsky et al. (2021), "Batch Active Learning at Scale", Alg. 1 and 2:

    1. the k_m = factor * batch_size items of smallest margin
    2. their clusters, by average linkage of the embeddings
    3. one item at random from each cluster, from the smallest cluster to the largest, round after round

The source clusters the whole pool once, before the first round. A strategy here keeps nothing from round to
round, and the embeddings change whenever the model is fitted, so the clusters are formed in each round
among the k_m items alone; no pool x pool matrix is built. The tree is cut at batch_size /
`picks_per_cluster` clusters where the source cuts it at a distance, which would have to be chosen again
for each model.
"""

from dataclasses import dataclass
from typing import ClassVar

from cusal._checks import as_count, as_positive
from cusal._types import Indices
from cusal.strategies._clusters import pick_across_clusters
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View
from cusal.strategies.margin import Margin


@dataclass(frozen=True)
class ClusterMargin(Strategy):
    """Take items of small margin from different clusters of embeddings.

    Parameters
    ----------
    factor : int, default 10
        The shortlist holds `factor` * batch_size items.
    picks_per_cluster : float, default 1
        How many items are taken from each cluster on average: there are batch_size / `picks_per_cluster` clusters.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="cluster_margin").indices
    array([0, 2])
    """

    for_whom: ClassVar[str] = "large batches from pools with near-duplicates; with a light model as good as margin"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    factor: int = 10
    picks_per_cluster: float = 1

    def __post_init__(self) -> None:
        as_count(self.factor, "factor")
        as_positive(self.picks_per_cluster, "picks_per_cluster")

    def select(self, view: View, batch_size: int) -> Indices:
        shortlist = Margin().select(view, min(self.factor * batch_size, len(view.candidates)))
        points = view.embeddings[view.positions(shortlist)]
        rows = pick_across_clusters(points, batch_size, picks_per_cluster=self.picks_per_cluster, rng=view.rng)
        return shortlist[rows]
