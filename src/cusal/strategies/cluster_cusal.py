"""Cluster-CUSAL: Cluster-Margin with CUSAL's order in place of the margin.

Bui, Maifeld-Carucci and Liu (2026), "Cluster-Ours": the `factor` * batch_size items that come first in
CUSAL's order are clustered by their embeddings, and the batch is taken from the clusters in turn, the
smallest first. See `cluster_margin` for the clusters and for where this departs from Citovsky et al.
(2021).
"""

from dataclasses import dataclass

from cusal._checks import as_count, as_positive
from cusal._types import Indices
from cusal.strategies._clusters import pick_across_clusters
from cusal.strategies._cusal_order import _CusalOrder
from cusal.strategies._view import View


@dataclass(frozen=True)
class ClusterCusal(_CusalOrder):
    """Items of high estimated calibration error from different clusters; settings of CUSAL apply as well."""

    factor: int = 10
    picks_per_cluster: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.factor, "factor")
        as_positive(self.picks_per_cluster, "picks_per_cluster")

    def select(self, view: View, batch_size: int) -> Indices:
        shortlist = super().select(view, min(self.factor * batch_size, len(view.candidates)))
        points = view.embeddings[view.positions(shortlist)]
        rows = pick_across_clusters(points, batch_size, picks_per_cluster=self.picks_per_cluster, rng=view.rng)
        return shortlist[rows]
