"""Coreset: repeatedly the item farthest from everything labelled or chosen.

Sener and Savarese (2018), "Active Learning for Convolutional Neural Networks: A Core-Set Approach", the
greedy k-centre of their Alg. 1 on the embeddings h of the model:

    x* = argmax over the pool of  min over labelled and chosen c of  ||h(x) - h(c)||

With nothing labelled yet, the item nearest to the mean of the pool comes first. Each pick costs one
matrix-vector product; no pool x pool matrix is built.
"""

from dataclasses import dataclass
from typing import ClassVar

from cusal._spread import k_centre, most_central
from cusal._types import Indices
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Coreset(Strategy):
    """Take the items that, together with the labelled ones, cover the pool best.

    Each pick is the item whose embedding is farthest from everything labelled or chosen. It has no settings.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="coreset").indices
    array([1, 0])
    """

    for_whom: ClassVar[str] = (
        "covering a pool before predictions mean anything; with a light model worse than random items"
    )
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    def select(self, view: View, batch_size: int) -> Indices:
        centres = view.reference_embeddings
        first = 0 if len(centres) else most_central(view.embeddings)
        return view.candidates[k_centre(view.embeddings, batch_size, centres=centres, first=first)]
