"""Coreset: the item farthest from everything labelled or chosen, again and again.

Sener and Savarese (2018), "Active Learning for Convolutional Neural Networks: A Core-Set Approach", the
greedy k-centre of their Alg. 1 on the embeddings h of the model:

    x* = argmax over the pool of  min over labelled and chosen c of  ||h(x) - h(c)||

With nothing labelled yet, the item nearest to the mean of the pool comes first. Costs one matrix-vector
product for each pick; no pool x pool matrix is built.
"""

from dataclasses import dataclass

from cusal._spread import k_centre, most_central
from cusal._types import Indices
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Coreset(Strategy):
    """The items that cover the pool best together with the labelled ones."""

    def select(self, view: View, batch_size: int) -> Indices:
        centres = view.reference_embeddings
        first = 0 if len(centres) else most_central(view.embeddings)
        return view.candidates[k_centre(view.embeddings, batch_size, centres=centres, first=first)]
