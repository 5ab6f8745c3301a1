"""The base of every strategy, and the order of its keys."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cusal._checks import as_batch_size
from cusal._types import Indices, Keys
from cusal.errors import InvalidInput, MissingMethod
from cusal.strategies._query_result import Query
from cusal.strategies._view import View


@dataclass(frozen=True)
class Strategy:
    """The base of all strategies: objects that decide which items to label next.

    A strategy is a frozen dataclass whose fields are its settings. Derive from this class to write your own. If it
    ranks items, define `keys(view)`, which returns one key for each candidate, (n,) or (n, j): the highest is labelled
    first. If it builds its batch jointly, define `select(view, batch_size)` instead. Callers use `query`.

    Attributes
    ----------
    needs_model : bool
        False if the strategy never looks at the model's predictions.
    needs : frozenset of str
        What a model or the arrays must offer beside predictions: "embeddings", "samples".
    name : str
        The name by which `cusal.strategies.find` knows the class.
    by_row : bool
        Whether it can score a pool in files, part by part.
    for_whom : str
        Whom it suits, in a line without a full stop that continues "For "; "" where nothing is known.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Surest(Strategy):
    ...     def keys(self, view: View) -> Keys:
    ...         return view.probs.max(axis=1)
    >>> view = View.of_arrays(np.arange(2), np.random.default_rng(0), probs=np.array([[0.9, 0.1], [0.5, 0.5]]))
    >>> Surest().query(view, 1).indices
    array([0])
    """

    needs_model: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()
    for_whom: ClassVar[str] = ""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if not hasattr(cls, "keys") and cls.select is Strategy.select and not cls.__name__.startswith("_"):
            raise TypeError(f"the strategy {cls.__name__} defines neither keys(view) nor select(view, batch_size).")

    def query(self, view: View, batch_size: int) -> Query:
        """Return the next `batch_size` items, best first, with what is known about each.

        Parameters
        ----------
        view : View
            The candidates and what is known about them.
        batch_size : int
            Number of items to choose.

        Returns
        -------
        Query
            `indices` are positions in the whole data set.

        Raises
        ------
        PoolExhausted
            If fewer candidates are left.
        MissingMethod
            If the strategy needs something that the model does not offer; the message names both.
        """
        count = as_batch_size(batch_size, len(view.candidates))
        try:
            query = self.explain(view, self._checked(self.select(view, count), view, count))
        except MissingMethod as error:
            raise MissingMethod(f"strategy {self.name}: {error}") from error
        return dataclasses.replace(query, strategy=self.name)

    @property
    def by_row(self) -> bool:
        """Whether the keys of an item depend only on that item and the labelled ones.

        Such a strategy can score a pool in files, part by part.
        """
        return False

    @property
    def name(self) -> str:
        """The name by which `cusal.strategies.find` knows the class: "margin", or "package.module:Name"."""
        package, _, module = type(self).__module__.rpartition(".")
        return module if package == "cusal.strategies" else f"{type(self).__module__}:{type(self).__qualname__}"

    def select(self, view: View, batch_size: int) -> Indices:
        """Return the positions of the next `batch_size` items in the whole data set, best first.

        `batch_size` has been checked: there are at least as many candidates.
        """
        keys = self.keys(view)  # type: ignore[attr-defined]
        return view.candidates[top_rows(self._checked_keys(keys, len(view.candidates)), batch_size)]

    def _checked(self, indices: Any, view: View, count: int) -> Indices:
        """Return the picks, or raise an error if they are not `count` distinct candidates."""
        picks = np.asarray(indices)
        if picks.shape != (count,) or len(np.unique(picks)) != count or not np.isin(picks, view.candidates).all():
            raise InvalidInput(
                f"strategy {self.name}: select returned {picks.tolist()[:10]}; expected {count} distinct items of "
                "view.candidates."
            )
        return picks.astype(np.int64)

    def _checked_keys(self, keys: Any, count: int) -> Keys:
        """Return the keys, or raise an error if they are not one finite number, or row of them, for each candidate."""
        shape = getattr(keys, "shape", None)
        if shape is None or len(shape) not in (1, 2) or shape[0] != count:
            met = type(keys).__name__ if shape is None else f"shape {shape}"
            raise InvalidInput(f"strategy {self.name}: keys returned {met}; expected an array of {count} rows.")
        if np.isnan(keys).any():
            row = int(np.argmax(np.isnan(keys).reshape(count, -1).any(axis=1)))
            raise InvalidInput(f"strategy {self.name}: the keys of candidate {row} are NaN; expected numbers.")
        return np.asarray(keys, dtype=np.float64)

    def explain(self, view: View, indices: Indices) -> Query:
        """Return the chosen items together with what is known about each."""
        return Query(indices, probs=view.probs_of(indices))


def top_rows(keys: Keys, count: int) -> Indices:
    """Return the positions of the `count` largest keys, largest first.

    Keys with several columns are compared column by column; ties go to the lower position.

    >>> top_rows(np.array([[1.0, 0.0], [2.0, 5.0], [2.0, 6.0]]), 2)
    array([2, 1])
    """
    columns = keys[:, None] if keys.ndim == 1 else keys
    first = columns[:, 0]
    rows = np.arange(len(first))
    if count < len(first) // 4:
        cut = np.partition(first, len(first) - count)[len(first) - count]
        rows = np.flatnonzero(first >= cut)
    order = np.lexsort((rows, *(-columns[rows, j] for j in reversed(range(columns.shape[1])))))
    return rows[order[:count]].astype(np.int64)
