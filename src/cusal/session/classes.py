"""The classes of a session: labels of any hashable type and their numbers."""

import difflib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_listed, as_names
from cusal._types import Indices
from cusal.errors import InvalidInput


class Classes:
    """Labels and their numbers, which never change: classes met later get the next numbers.

    Inside a session the columns of predictions are in the order of the numbers, since a warm network's outputs depend
    on it. At the border they are in the order of `names`: sorted, or as the user gave them.

    >>> classes = Classes()
    >>> classes.add(["dog"])
    >>> classes.add(["cat"])
    >>> classes.names, classes.numbers(["dog"]), classes.columns
    (('cat', 'dog'), array([0]), array([1, 0]))
    """

    def __init__(self, known: Iterable[Hashable] | None = None) -> None:
        self.fixed = known is not None
        given = [] if known is None else as_names(plain(known), "classes")
        if len(set(given)) < len(given):
            raise InvalidInput(f"classes holds a class twice: {given}; give each once.")
        self._number: dict[Hashable, int] = {name: number for number, name in enumerate(given)}

    def __len__(self) -> int:
        return len(self._number)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The classes in the order in which users see them."""
        return tuple(self._number) if self.fixed else tuple(_sorted(self._number))

    @property
    def numbered(self) -> dict[Hashable, int]:
        """The number of each class."""
        return dict(self._number)

    @property
    def columns(self) -> Indices:
        """(classes,) the number of each class of `names`: the internal column of each column that users see."""
        return self.numbers(self.names)

    @property
    def array(self) -> NDArray[Any]:
        """`names` as an array: of numbers or text if all are of one type, else of objects."""
        kinds = {type(name) for name in self._number}
        if len(kinds) == 1 and kinds <= {str, int, bool, float}:
            return np.array(self.names)
        array = np.empty(len(self), dtype=object)
        array[:] = self.names
        return array

    def add(self, labels: Iterable[Hashable]) -> None:
        """Add the classes of new labels, sorted if possible; a new class is an error if all classes were given."""
        labels = list(labels)
        for position, label in enumerate(labels):
            if not isinstance(label, Hashable):
                raise InvalidInput(
                    f"label {position} is {label!r}, a {type(label).__name__}; a label must be hashable."
                )
            if _is_missing(label):
                raise InvalidInput(f"label {position} is {label!r}; give a class, or skip the item.")
            if isinstance(label, float) and not label.is_integer() and label not in self._number:
                raise InvalidInput(
                    f"label {position} is {label!r}, a number with a fraction; expected classes. Put a continuous "
                    "target into ranges first, or name such classes by text."
                )
        self._refuse_other_kinds(labels)
        new = _sorted(label for label in dict.fromkeys(labels) if label not in self._number)
        if new and self.fixed:
            raise InvalidInput(self._unknown(new[0]))
        for label in new:
            self._number[label] = len(self._number)

    def _refuse_other_kinds(self, labels: list[Hashable]) -> None:
        """Raise an error if a label reads like a class of another type: 3 and "3" would be two classes."""
        known = {str(name): name for name in self._number}
        for label in labels:
            other = known.setdefault(str(label), label)
            if type(other) is not type(label) and other != label:
                raise InvalidInput(
                    f"label {label!r} is a {type(label).__name__}, but the class {other!r} is a "
                    f"{type(other).__name__}; give all labels in one type."
                )

    def numbers(self, labels: Iterable[Hashable]) -> Indices:
        """Return the numbers of known labels, (k,)."""
        return np.array([self._number[label] for label in labels], dtype=np.int64)

    def _unknown(self, label: Hashable) -> str:
        near = difflib.get_close_matches(str(label), map(str, self._number), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {list(self._number)[:20]}."
        return f"label {label!r} is not one of the {len(self._number)} classes; {hint}"


def plain(values: Any) -> list[Any]:
    """Return labels from any container as a list of plain Python values.

    >>> plain(np.array([1, 2])), plain([np.str_("a")])
    ([1, 2], ['a'])
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInput("labels has masked values; give a class for each item, or skip those without.")
    listed = as_listed(values, "labels")
    if isinstance(values, np.ndarray) and values.dtype != object:
        return listed  # of plain values already; there can be many
    return [value.item() if _is_scalar_array(value) else value for value in listed]


def _is_scalar_array(value: Any) -> bool:
    """Return whether a value is a NumPy number, or an array or tensor without axes."""
    return hasattr(value, "item") and getattr(value, "ndim", None) == 0


def _is_missing(label: Any) -> bool:
    """Return whether a label stands for none: None, NaN (which differs from itself), or the NA of pandas."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)


def _sorted(labels: Iterable[Hashable]) -> list[Hashable]:
    labels = list(labels)
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=repr)
