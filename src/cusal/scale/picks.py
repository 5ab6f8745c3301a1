"""What scoring a pool returns, and the file that it is written to."""

import csv
import io
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cusal._cells import safe_cell
from cusal._types import Indices
from cusal.scale.candidates import Candidates

HEADER = ("rank", "id", "error", "confidence", "supported", "decided_by")


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

    def as_csv(self) -> str:
        """Return the picks as text, one line each; what the strategy does not estimate stays empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADER)
        columns = [self.error, self.confidence, self.supported, self.decided_by]
        lists = [[""] * len(self) if column is None else column.tolist() for column in columns]
        for rank, (name, *known) in enumerate(zip(self.ids.tolist(), *lists, strict=True), start=1):
            writer.writerow((rank, safe_cell(name), *known))
        return text.getvalue()
