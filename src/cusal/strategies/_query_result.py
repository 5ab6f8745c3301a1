"""What a query gives back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices


@dataclass(frozen=True)
class Query:
    """The chosen items, best first, and what is known about each.

    indices: (k,) positions in the whole data set.
    probs: (k, classes) the model's predictions for them; None where no model was asked (cold start).
    error: (k,) estimated calibration error; None for strategies that do not estimate it.
    decided_by: (k,) "calibration" where the error alone decided, "uncertainty" where the tie-break did; None likewise.
    """

    indices: Indices
    probs: Floats | None = None
    error: NDArray[np.float64] | None = None
    decided_by: NDArray[np.str_] | None = None

    @property
    def confidence(self) -> NDArray[np.float64] | None:
        """(k,) the highest probability of each pick."""
        return None if self.probs is None else self.probs.max(axis=1).astype(np.float64)

    def __len__(self) -> int:
        return len(self.indices)
