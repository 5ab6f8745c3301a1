"""Cluster-CUSAL: Cluster-Margin with CUSAL's order in place of the margin.

Bui, Maifeld-Carucci and Liu (2026), "Cluster-Ours": the `factor` * batch_size items that come first in
CUSAL's order are clustered by their embeddings, and the batch is taken from the clusters in turn, the
smallest first. See `cluster_margin` for the clusters and for where this departs from Citovsky et al.
(2021).
"""

from dataclasses import dataclass
from typing import ClassVar

from cusal._checks import as_count, as_positive
from cusal._types import Indices
from cusal.strategies._clusters import pick_across_clusters
from cusal.strategies._cusal_order import _CusalOrder
from cusal.strategies._view import View


@dataclass(frozen=True)
class ClusterCusal(_CusalOrder):
    """Take items of high estimated calibration error from different clusters of embeddings.

    The shortlist is what `Cusal` with the same settings would take.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7. The smaller it is, the closer a labelled prediction must be to
        count as evidence.
    p : float, default 1
        The power in the error, sum_k |ratio_k - q_k|^p; 1 or more.
    density_floor : float or None, default 1e-10
        Items whose kernel density is lower are unsupported. For p = 1 their errors tie. None estimates without a floor.
    tie_tolerance : float, default 1e-6
        Errors are rounded to multiples of it before they are compared; 0 compares them as they are.
    tie_break : {"confidence", "margin", "entropy", "random", "diverse"}
        What decides among items of equal error. The default, "confidence", is the paper's.
    batch_aware : bool, default False
        Whether each pick is added to the evidence before the next one is chosen.
    factor : int, default 10
        The shortlist holds `factor` * batch_size items.
    picks_per_cluster : float, default 1
        How many items are taken from each cluster on average: there are batch_size / `picks_per_cluster` clusters.

    Examples
    --------
    >>> import cusal
    >>> pool, labelled = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]
    >>> cusal.query(pool, labelled, [0, 1], batch_size=2, strategy="cluster_cusal").indices
    array([0, 2])
    """

    for_whom: ClassVar[str] = "studies of calibration that want varied batches"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

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
