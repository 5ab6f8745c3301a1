"""Labels that look wrong, by predictions of models that had not seen them.

A label is right with probability 1 - e, and else another class at random:

    P(y_i) = (1 - e) p_i(y_i) + e (1 - p_i(y_i)) / (K - 1)
    c_i    = P(y_i is wrong) = e (1 - p_i(y_i)) / (K - 1) / P(y_i)

e maximises the likelihood of all labels (expectation maximisation: e is the mean of c_i).

| symbol | name |
|---|---|
| p_i | a row of `probs` |
| y_i | `labels` |
| K | how many classes there are |
| e | `rate` |
| c_i | `chances` |

An uncertain model is no reason to doubt a label: c_i is high only where the model is sure of another class and mistakes
of the labels explain that better than mistakes of the model. Predictions that were recalibrated by labels with mistakes
are too unsure, so that chances are rather too low than too high.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices

DOUBTFUL = 0.5  # the chance of being wrong from which on a label is listed
START, STEPS = 0.05, 200


@dataclass(frozen=True)
class LabelIssues:
    """Labels that are more likely wrong than right, the most doubtful first.

    Attributes
    ----------
    indices : (k,) int64 array
        Positions of the items.
    labels, suggested : list
        What was told, and what the model takes each item for.
    chances : (k,) array
        The chance that each label is wrong.
    rate : float
        The estimated share of wrong labels among all that were looked at.
    """

    indices: Indices
    labels: list[Hashable]
    suggested: list[Hashable]
    chances: NDArray[np.float64]
    rate: float

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def expected_share(self) -> float:
        """The share of true errors to expect among these labels, at least; 0 where there are none."""
        return float(self.chances.mean()) if len(self) else 0.0


def chances_of_error(probs: Floats, labels: Indices) -> tuple[NDArray[np.float64], float]:
    """Return the chance that each label (n,) is wrong, by predictions (n, classes) without it, and their mean.

    >>> probs = np.tile([[0.99, 0.01], [0.01, 0.99]], (20, 1))
    >>> labels = np.array([1, 1, *[0, 1] * 19])  # the first is wrong
    >>> chances, rate = chances_of_error(probs, labels)
    >>> int(chances.argmax()), bool(chances[0] > 0.5), bool(chances[1:].max() < 0.01)
    (0, True, True)
    """
    own = probs[np.arange(len(labels)), labels].astype(np.float64)
    other = (1 - own) / max(1, probs.shape[1] - 1)
    rate, chances = START, np.zeros(len(labels))
    for _ in range(STEPS if len(labels) else 0):
        likelihood = (1 - rate) * own + rate * other
        chances = rate * other / np.maximum(likelihood, np.finfo(np.float64).tiny)
        rate = float(chances.mean())
    return chances, rate if len(labels) else 0.0
