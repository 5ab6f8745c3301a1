"""The predictions of a round: an .npz file without pickle, as bytes."""

import io
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from cusal._files import load_arrays
from cusal._types import Indices
from cusal.apps.label.store.connection import Part
from cusal.apps.label.store.schema import ROUNDS
from cusal.errors import DataError, ProjectError


@dataclass(frozen=True)
class Predictions:
    """What the model says of items.

    Parameters
    ----------
    items : array of shape (m,), int64
        Ids of items, ascending.
    top, second : array of shape (m,), int32
        Ids of the two most probable classes.
    confidence : array of shape (m,), float32
        The probability of the first.
    margin : array of shape (m,), float32
        The probability of the first less that of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from cusal.apps.label import Predictions
    >>> made = Predictions(*(np.array([value]) for value in (7, 1, 0, 0.8, 0.6)))
    >>> Predictions.from_bytes(made.to_bytes()).items
    array([7])
    """

    items: Indices
    top: NDArray[np.int32]
    second: NDArray[np.int32]
    confidence: NDArray[np.float32]
    margin: NDArray[np.float32]

    def to_bytes(self) -> bytes:
        """Return the predictions as the bytes of an .npz file."""
        file = io.BytesIO()
        np.savez(file, **vars(self))
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Predictions":
        """Return the predictions in the bytes of an .npz file, sorted by item."""
        try:
            columns = load_arrays(data, cls.__dataclass_fields__, title="what the last round predicted")
            if len({column.shape for column in columns.values()}) != 1 or columns["items"].ndim != 1:
                raise DataError("what the last round predicted has columns of several lengths.")
        except DataError as error:
            raise ProjectError(f"{error} It is made again in the next round.") from error
        order = np.argsort(columns["items"], kind="stable")
        return cls(**{name: column[order] for name, column in columns.items()})

    def find(self, item: int) -> int | None:
        """Return the position of an item, or None where nothing was predicted for it."""
        place = int(np.searchsorted(self.items, item))
        return place if place < len(self.items) and self.items[place] == item else None


class LastPredictions(Part):
    """The predictions of the last round, read once in a process."""

    _known: tuple[int, Predictions] | None = None

    def predictions(self) -> Predictions | None:
        """Return the predictions of the last round that has some.

        Returns
        -------
        Predictions or None
            None before there are any. They are kept in memory until the next round.

        Raises
        ------
        ProjectError
            If they are damaged.
        """
        there = ROUNDS.c.predictions.is_not(None)
        with self._reading() as connection:
            number = connection.scalar(sa.select(sa.func.max(ROUNDS.c.round)).where(there))
            known = self._known
            if number is None or (known is not None and known[0] == number):
                return None if number is None or known is None else known[1]
            data = connection.scalar(sa.select(ROUNDS.c.predictions).where(ROUNDS.c.round == number))
        found = Predictions.from_bytes(data or b"")
        self._known = number, found
        return found
