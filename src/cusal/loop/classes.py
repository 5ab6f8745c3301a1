"""The classes of a session: labels of any hashable kind and the numbers that stand for them."""

import difflib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.errors import InvalidInput


class Classes:
    """Labels and their numbers, which never change: classes met later get the next ones.

    >>> classes = Classes()
    >>> classes.add(["dog", "cat"])
    >>> classes.names, classes.numbers(["dog"])
    (('cat', 'dog'), array([1]))
    """

    def __init__(self, known: Iterable[Hashable] | None = None) -> None:
        self.fixed = known is not None
        given = [] if known is None else _plain(known)
        if len(set(given)) < len(given):
            raise InvalidInput(f"classes holds a class twice: {given}; give each once.")
        self._number: dict[Hashable, int] = {name: number for number, name in enumerate(given)}

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The classes in the order of their numbers."""
        return tuple(self._number)

    def add(self, labels: Iterable[Hashable]) -> None:
        """Take in the classes of new labels, sorted where they can be; an unknown one is an error if all were given."""
        labels = list(labels)
        for position, label in enumerate(labels):
            if not isinstance(label, Hashable):
                raise InvalidInput(
                    f"label {position} is {label!r}, a {type(label).__name__}; a label must be hashable."
                )
            if label is None or label != label:  # NaN is the value that differs from itself
                raise InvalidInput(f"label {position} is {label!r}; give a class, or skip the item.")
        new = [label for label in dict.fromkeys(labels) if label not in self._number]
        if new and self.fixed:
            raise InvalidInput(self._unknown(new[0]))
        try:
            new.sort(key=lambda label: label)  # type: ignore[arg-type,return-value]
        except TypeError:
            new.sort(key=repr)
        for label in new:
            self._number[label] = len(self._number)

    def numbers(self, labels: Iterable[Hashable]) -> Indices:
        """Give the numbers of known labels, (k,)."""
        return np.array([self._number[label] for label in labels], dtype=np.int64)

    def _unknown(self, label: Hashable) -> str:
        near = difflib.get_close_matches(str(label), map(str, self._number), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {list(self._number)[:20]}."
        return f"label {label!r} is not one of the {len(self._number)} classes; {hint}"


def _plain(known: Iterable[Hashable]) -> list[Any]:
    return known.tolist() if isinstance(known, np.ndarray) else list(known)
