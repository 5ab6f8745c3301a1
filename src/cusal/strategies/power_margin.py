"""Power margin: margin sampling with chance, so that a batch does not ask about one confusion many times.

Kirsch, Farquhar, Atighehchian, Jesson, Branchaud-Charron and Gal (2021), "Stochastic Batch Acquisition: A Simple
Baseline for Deep Active Learning", the power distribution:

    key = beta log u + g,      u = 1 - (p_(1) - p_(2)),      g = -log(-log U),  U uniform in (0, 1)

The items of the largest keys are a draw without replacement in proportion to u^beta.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cusal._checks import as_positive
from cusal._types import Keys
from cusal.strategies._strategy import Strategy
from cusal.strategies._uncertainty import margin
from cusal.strategies._view import View

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class PowerMargin(Strategy):
    """Draw items at random, the more likely the closer their two highest probabilities are.

    Parameters
    ----------
    beta : float, default 1
        The power of the doubt: near 0 items are drawn uniformly, with a large one as `Margin` takes them.

    Raises
    ------
    InvalidInput
        If `beta` is no positive number.

    Examples
    --------
    >>> probs = np.array([[0.99, 0.01], [0.5, 0.5], [0.98, 0.02]])
    >>> PowerMargin(beta=8).query(View.of_arrays(np.arange(3), np.random.default_rng(0), probs=probs), 1).indices
    array([1])
    """

    for_whom: ClassVar[str] = "large batches without embeddings, in place of margin"

    beta: float = 1.0

    def __post_init__(self) -> None:
        as_positive(self.beta, "beta")

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return the perturbed log doubt of each candidate, (n,)."""
        uniform = np.clip(view.rng.random(len(view.candidates)), TINY, 1 - 2**-53)
        return np.asarray(self.beta * np.log(np.maximum(margin(view.probs), TINY)) - np.log(-np.log(uniform)))
