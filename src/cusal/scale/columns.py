"""Which columns of a pool's tables hold the probabilities, the ids and the labels; and text labels as class numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.errors import DataError, InvalidInput
from cusal.scale.parts import IDS, LABELS, Column

LIST = "probs"
BIGQUERY = re.compile(r"predicted_.+_probs")  # of ML.PREDICT


@dataclass(frozen=True)
class PoolColumns:
    """The columns of a pool and of its labelled points, where they do not have the names that are looked for.

    Parameters
    ----------
    probs : sequence of str
        The columns of the classes, in order: their names are those of the classes. Or the one column that holds lists.
        By default `probs`, `p0 .. pK-1`, or what BigQuery calls `predicted_NAME_probs`.
    id : str, optional
        The column of the ids; by default `id`, and the row numbers where there is none.
    label : str, optional
        The column of the labels; by default `label`.

    Raises
    ------
    InvalidInput
        If a class is named twice.

    Examples
    --------
    >>> PoolColumns(("cat", "dog"), id="file").ids.table
    'file'
    """

    probs: Sequence[str] = ()
    id: str | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        twice = [name for name in self.probs if list(self.probs).count(name) > 1]
        if twice:
            raise InvalidInput(f"the column {twice[0]!r} is named twice; name each class once.")

    @property
    def ids(self) -> Column:
        """The column of the ids."""
        return self._named(IDS, self.id)

    @property
    def labels(self) -> Column:
        """The column of the labels."""
        return self._named(LABELS, self.label)

    def _named(self, column: Column, name: str | None) -> Column:
        named = column if name is None else column._replace(array=name, table=name, required=True)
        return named._replace(probs=tuple(self.probs))


class Found(NamedTuple):
    """Where the probabilities are: in a column for each class, or in one of lists; and the classes, if named."""

    columns: tuple[str, ...]
    lists: str | None
    names: tuple[str, ...]


def find_probs(there: Sequence[str], column: Column, path: Path) -> Found:
    """Return where a table has its probabilities, or raise a DataError that says what it has."""
    if column.required and column.table not in there:
        raise DataError(f"{path} has no column {column.table}; it has {', '.join(there)}.")
    named = column.probs
    lists = [name for name in there if name == LIST] or [name for name in there if BIGQUERY.fullmatch(name)]
    if len(named) == 1 and named[0] in there:
        return Found((), named[0], ())
    if named and all(name in there for name in named):
        return Found(named, None, named)
    if len(lists) == 1:
        return Found((), lists[0], named)
    if named:
        missing = next(name for name in named if name not in there)
        raise DataError(f"{path} has no column {missing}; it has {', '.join(there)}.")
    numbers = {int(name[1:]) for name in there if re.fullmatch(r"p(0|[1-9]\d*)", name)}
    gap = min(set(range(max(numbers) + 1)) - numbers, default=None) if numbers else None
    if gap is not None:
        raise DataError(f"{path} has no column p{gap}; expected p0 to p{max(numbers)} without a gap.")
    if len(numbers) < 2:
        raise DataError(
            f"{path} has neither a list column probs nor columns p0, p1, ...; it has {', '.join(there)}. Name the "
            "columns of the classes: --columns A,B,C."
        )
    return Found(tuple(f"p{k}" for k in range(len(numbers))), None, ())


def as_class_numbers(labels: NDArray[Any], names: Sequence[str], where: str) -> NDArray[Any] | Indices:
    """Return labels as class numbers where they are names of classes, or digits; others as they are."""
    is_text = labels.dtype.kind in "US" or (labels.dtype == object and all(isinstance(one, str) for one in labels))
    if not is_text and not (names and labels.dtype.kind in "iu"):
        return labels
    texts = [one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in labels.tolist()]
    number = {name: k for k, name in enumerate(names)}
    unknown = next((row for row, text in enumerate(texts) if text not in number), None)
    if unknown is None:
        return np.array([number[text] for text in texts], dtype=np.int64)
    if not is_text:
        return labels
    if all(re.fullmatch(r"\d{1,9}", text) for text in texts):
        return np.array([int(text) for text in texts], dtype=np.int64)
    expected = f"expected one of {_some(names)}" if names else "the classes have no names"
    raise DataError(
        f"{where}: the label of row {unknown} is {texts[unknown]!r}, but {expected}; name the classes in the order of "
        "their columns: --columns A,B,C."
    )


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
