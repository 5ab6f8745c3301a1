"""What scoring a pool returns."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.scale.candidates import Candidates


@dataclass(frozen=True)
class Picks:
    """The chosen rows of a pool in files, best first, and what is known about each.

    `len(picks)` is their number.

    Attributes
    ----------
    indices : array of shape (k,), int64
        Row numbers, counted through all parts of the pool.
    ids : array of shape (k,), str
        The ids that the files hold; the row numbers where they hold none.
    confidence : array of shape (k,)
        The highest probability of each pick.
    error : array of shape (k,) or None
        The estimated calibration error; None for strategies that do not estimate it.
    supported : array of shape (k,), bool, or None
        Whether there is labelled evidence near the pick's prediction; None likewise.
    decided_by : array of shape (k,), str, or None
        "calibration" where the error alone decided, "uncertainty" where the tie-break did; None likewise.

    Examples
    --------
    >>> picks = Picks(np.array([4, 2]), np.array(["d", "b"]), np.array([0.6, 0.7]))
    >>> len(picks), picks.ids.tolist(), picks.error
    (2, ['d', 'b'], None)
    """

    indices: Indices
    ids: NDArray[np.str_]
    confidence: NDArray[np.float64]
    error: NDArray[np.float64] | None = None
    supported: NDArray[np.bool_] | None = None
    decided_by: NDArray[np.str_] | None = None

    def __len__(self) -> int:
        return len(self.indices)

    @classmethod
    def from_candidates(cls, best: Candidates, *, estimated: bool) -> Self:
        """Return the picks that the candidates of a whole pool are; `estimated` if their errors are known."""
        if not estimated:
            return cls(best.rows, best.ids, best.confidence)
        decided_by = np.where(best.alone, "calibration", "uncertainty")
        return cls(best.rows, best.ids, best.confidence, best.error, best.supported, decided_by)

    def columns(self) -> dict[str, list[Any]]:
        """Return what is written of the picks, by column; None where the strategy does not estimate it."""
        known: dict[str, NDArray[Any] | None] = {"error": self.error, "confidence": self.confidence}
        known |= {"supported": self.supported, "decided_by": self.decided_by}
        lists = {name: [None] * len(self) if of is None else of.tolist() for name, of in known.items()}
        return {"rank": list(range(1, len(self) + 1)), "id": self.ids.tolist(), **lists}
