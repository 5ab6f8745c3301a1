"""The predictions of the last round in memory, as the worker wrote them: one line for each item of its pool."""

from dataclasses import dataclass

import numpy as np

from cusal._files import load_arrays
from cusal._types import Indices
from cusal.errors import DataError, ProjectError

COLUMNS = ("items", "top", "second", "confidence", "margin")


@dataclass(frozen=True)
class Prediction:
    """What the model takes an item for: a class id, and how sure it is."""

    class_id: int
    confidence: float


class Predictions:
    """The predictions of one round, found by item.

    Parameters
    ----------
    content : bytes or None
        An .npz file with `items`, `top`, `second`, `confidence` and `margin`; None for no predictions.

    Examples
    --------
    >>> empty = Predictions(None)
    >>> len(empty), empty.of(3)
    (0, None)
    """

    def __init__(self, content: bytes | None) -> None:
        columns = {name: np.zeros(0) for name in COLUMNS} if content is None else _columns(content)
        order = np.argsort(columns["items"], kind="stable")
        self.items: Indices = columns["items"].astype(np.int64)[order]
        self.top = columns["top"].astype(np.int64)[order]
        self.second = columns["second"].astype(np.int64)[order]
        self.confidence = columns["confidence"].astype(np.float32)[order]
        self.by_margin: Indices = np.argsort(columns["margin"][order], kind="stable")  # rows, undecided ones first

    def __len__(self) -> int:
        """Return the number of items that have a prediction."""
        return len(self.items)

    def of(self, item: int) -> Prediction | None:
        """Return the prediction of one item, or None if it has none."""
        row = int(np.searchsorted(self.items, item))
        if row == len(self.items) or self.items[row] != item:
            return None
        return Prediction(int(self.top[row]), float(self.confidence[row]))

    def rows(self, *, class_id: int) -> Indices:
        """Return the positions in `items` of those that the model takes for one class."""
        return np.flatnonzero(self.top == class_id)


def _columns(content: bytes) -> dict[str, np.ndarray]:
    try:
        return load_arrays(content, COLUMNS, title="what the last round predicted")
    except DataError as error:
        raise ProjectError(f"{error} It is made again in the next round.") from error
