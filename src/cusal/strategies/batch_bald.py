"""BatchBALD: the items whose labels together carry the most information about the model.

Kirsch, van Amersfoort and Gal (2019), Alg. 1, greedy in the joint mutual information:

    I(y_1 .. y_b; w) = H(y_1 .. y_b) - sum_i E_w H(y_i | w)

The joint entropy runs over classes^b configurations of labels: all of them while the labels chosen so far
have at most `configurations`, then as many drawn from the model. Each step looks at every item, so the
search is kept to the `candidates` items of highest BALD score; None takes ten times the batch and at least
200. That changes the batch only where an item of low BALD score would have entered it, and an item never
adds more than its BALD score.
"""

from dataclasses import dataclass
from typing import ClassVar

from cusal._checks import as_count
from cusal._types import Indices
from cusal.strategies._information import greedy_joint, mutual_information
from cusal.strategies._strategy import Strategy, top_rows
from cusal.strategies._view import View


@dataclass(frozen=True)
class BatchBald(Strategy):
    """Take the items on which models drawn from the posterior disagree, without asking for the same thing twice.

    It needs a model with `sample_proba`, such as a network with dropout, or an ensemble, such as a random forest.

    Parameters
    ----------
    samples : int, default 10
        Number of models to draw, at least 2.
    configurations : int, default 4096
        Number of label configurations up to which the joint entropy is exact; beyond it, as many are drawn.
    candidates : int or None, default None
        Number of items of highest BALD score to search. None: ten times the batch, at least 200.

    Examples
    --------
    >>> import numpy as np
    >>> sampled = np.array([[[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]])  # (items, samples, classes)
    >>> view = View.of_arrays(
    ...     np.arange(2), np.random.default_rng(0), probs=sampled.mean(axis=1), sampled_probs=sampled
    ... )
    >>> BatchBald(samples=2).query(view, 1).indices
    array([0])
    """

    for_whom: ClassVar[str] = "small batches from networks with dropout or ensembles; slow for large ones"
    needs: ClassVar[frozenset[str]] = frozenset({"samples"})

    samples: int = 10
    configurations: int = 4096
    candidates: int | None = None

    def __post_init__(self) -> None:
        as_count(self.samples, "samples", least=2)
        as_count(self.configurations, "configurations")
        if self.candidates is not None:
            as_count(self.candidates, "candidates")

    def select(self, view: View, batch_size: int) -> Indices:
        wanted = max(200, 10 * batch_size) if self.candidates is None else max(self.candidates, batch_size)
        shortlist = top_rows(view.from_samples(self.samples, mutual_information), min(wanted, len(view.candidates)))
        shortlist.sort()
        sampled = view.sampled_probs_of(view.candidates[shortlist], self.samples)
        rows = greedy_joint(sampled, batch_size, configurations=self.configurations, rng=view.rng)
        return view.candidates[shortlist[rows]]
