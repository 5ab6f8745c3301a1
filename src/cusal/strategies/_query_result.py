"""The result of a query."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices

SHOWN = 8  # picks that a representation lists


@dataclass(frozen=True, repr=False)
class Query:
    """The chosen items, best first, and what is known about each.

    Attributes
    ----------
    indices : (k,) int64 array
        Positions in the whole data set.
    probs : (k, classes) array or None
        The model's predictions for them, with the columns of `session.classes_`. None if no model was used, as in a
        cold start.
    error : (k,) array or None
        Estimated calibration error of each. None for strategies that do not estimate it.
    decided_by : (k,) array or None
        "calibration" where the error alone decided, "uncertainty" where the tie-break did. None for strategies that do
        not rank by calibration error and tie-break.
    strategy : str
        What chose the items: the name of a strategy, or "cold_start".
    audit : (k,) bool array or None
        Which picks were drawn at random for `Session(audit=...)`. They have error NaN and are decided by "audit".
        None where no audit was wanted.

    Examples
    --------
    >>> Query(np.array([4, 2]), probs=np.array([[0.6, 0.4], [0.3, 0.7]]), strategy="margin")
    Query(2 items by margin: [4, 2], confidence 0.60 to 0.70)
    """

    indices: Indices
    probs: Floats | None = None
    error: NDArray[np.float64] | None = None
    decided_by: NDArray[np.str_] | None = None
    strategy: str = ""
    audit: NDArray[np.bool_] | None = None

    @property
    def confidence(self) -> NDArray[np.float64] | None:
        """(k,) the highest probability of each pick; None without predictions."""
        return None if self.probs is None else self.probs.max(axis=1).astype(np.float64)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.indices[:SHOWN].tolist())) + (", ..." if len(self) > SHOWN else "")
        by = f" by {self.strategy}" if self.strategy else ""
        text = f"Query({len(self)} items{by}: [{shown}]"
        if self.confidence is not None and len(self):
            text += f", confidence {self.confidence.min():.2f} to {self.confidence.max():.2f}"
        error = self.error if self.error is None or self.audit is None else self.error[~self.audit]
        if error is not None and len(error):
            text += f", error {error.min():.2f} to {error.max():.2f}"
        if self.audit is not None:
            text += f", {self.audit.sum()} for audit"
        return text + ")"
