"""Uncertainty herding: doubtful items that stand for many other doubtful items.

Bae, Oliveira and Sutherland (2025), "Uncertainty Herding: One Active Learning Method for All Label Budgets" (ICLR):

    pick = argmax_j  sum_n u_n max(k(x_n, x_j) - c_n, 0),      c_n = max over labelled and picked i of k(x_n, x_i)
    u    = 1 - (p_(1) - p_(2))                                 k(x, x') = exp(-||x - x'||^2 / s^2)
    s    = max( min(M / 2, Q), M / 1000 )

With u = 1 it is MaxHerding (Bae, Noh and Sutherland 2024). The radius is a choice of ours: it shrinks as labels come,
so that coverage counts first and doubt later.

| symbol | name |
|---|---|
| u | `uncertainty` of the prediction, margin by default |
| x | view.embeddings, view.reference_embeddings |
| M | the median distance of two items |
| Q | the 10 % quantile of the distances from a labelled item to the nearest other one |
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.errors import UnknownName
from cusal.strategies import _uncertainty
from cusal.strategies._cover import Cover
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

Uncertainty = Literal["margin", "least_confidence", "entropy", "none"]
MEASURES = {name: getattr(_uncertainty, name) for name in get_args(Uncertainty)[:-1]}


@dataclass(frozen=True)
class Herding(Strategy):
    """Take the items that cover the most of what the model doubts, and what no label covers yet.

    Use it where embeddings say which items are alike, such as the features of texts or images, from the first labels
    on. It needs embeddings. Of pools above 1,500 items, 1,500 are candidates, drawn in proportion to their doubt. Equal
    gains go to the more doubtful item, then to the lower position.

    Parameters
    ----------
    uncertainty : {"margin", "least_confidence", "entropy", "none"}, default "margin"
        The doubt that is covered; with "none" every item counts the same (MaxHerding), and the model is not asked.

    Raises
    ------
    UnknownName
        If `uncertainty` is none of these.

    Examples
    --------
    >>> probs = np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.6, 0.4], [0.9, 0.1]])
    >>> embeddings = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    >>> arrays = {"probs": probs, "embeddings": embeddings, "reference_embeddings": np.array([[9.1], [7.0]])}
    >>> Herding().query(View.of_arrays(np.arange(5), np.random.default_rng(0), **arrays), 2).indices
    array([1, 3])
    """

    for_whom: ClassVar[str] = "light models on the features of texts and images; on tables level with diverse_margin"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    uncertainty: Uncertainty = "margin"

    def __post_init__(self) -> None:
        if not isinstance(self.uncertainty, str) or self.uncertainty not in get_args(Uncertainty):
            raise UnknownName("uncertainty", self.uncertainty, get_args(Uncertainty))

    def select(self, view: View, batch_size: int) -> Indices:
        points = view.embeddings
        doubt = np.ones(len(points)) if self.uncertainty == "none" else MEASURES[self.uncertainty](view.probs)
        cover = Cover(points, view.reference_embeddings, doubt, count=batch_size, rng=view.rng)
        width = _radius(cover.median_distance(), cover.nearest_labelled())

        def kernel(squared: NDArray) -> Floats:
            return np.asarray(np.exp(squared * (-1 / width**2)))

        return view.candidates[cover.pick(kernel, batch_size)]


def _radius(median: float, nearest: NDArray[np.float64]) -> float:
    """Return s: half the median distance, less where labelled items lie closer together than that."""
    quantile = float(np.quantile(nearest, 0.1)) if len(nearest) > 1 else np.inf
    return max(min(median / 2, quantile), median / 1000) or 1.0
