"""What was found out about the predictions: right, wrong or unknown, and the true class where somebody named it."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_indices
from cusal._types import Indices
from cusal.audit.claims import Claims
from cusal.errors import InvalidInput
from cusal.session.classes import plain

UNKNOWN = None


class Answers:
    """Answers in the order in which they came; a new answer about an item replaces the earlier one."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.right: dict[int, bool | None] = {}  # None: nobody can tell
        self.true: dict[int, Hashable] = {}

    def __contains__(self, item: int) -> bool:
        return item in self.right

    def __len__(self) -> int:
        return len(self.right)

    def tell(self, indices: Any, labels: Any, right: Any) -> None:
        """Store true labels, or whether predictions are right; invalid answers change nothing."""
        places = as_indices(indices, len(self.claims)).tolist()
        if (labels is None) == (right is None):
            raise InvalidInput("give either the true labels or right=[True, False, ...], one for each index.")
        if right is None:
            names = plain([labels] if isinstance(labels, str) or not hasattr(labels, "__len__") else labels)
            self._check_count(names, places)
            flags = [name == self.predicted_name(place) for place, name in zip(places, names, strict=True)]
            self.true.update(zip(places, names, strict=True))
        else:
            flags = _as_flags(right)
            self._check_count(flags, places)
            for place, flag in zip(places, flags, strict=True):
                self.true.pop(place, None)
                if flag:
                    self.true[place] = self.predicted_name(place)
        self.right.update(zip(places, flags, strict=True))

    def skip(self, indices: Any) -> None:
        """Store that nobody can tell whether these predictions are right."""
        for place in as_indices(indices, len(self.claims)).tolist():
            self.right[place] = UNKNOWN
            self.true.pop(place, None)

    def predicted_name(self, item: int) -> Hashable:
        """Return the predicted label of an item."""
        name: Hashable = self.claims.names[int(self.claims.predicted[item])]
        return name

    def known(self, first: int | None = None) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the items whose answer is known, (n,), and whether their predictions are wrong, (n,).

        `first` takes only those among so many first answers.
        """
        found = [(item, not right) for item, right in list(self.right.items())[:first] if right is not UNKNOWN]
        items = np.array([item for item, _ in found], dtype=np.int64)
        return items, np.array([wrong for _, wrong in found], dtype=np.bool_)

    def _check_count(self, answers: Sequence[Any], places: Sequence[int]) -> None:
        if len(answers) != len(places):
            raise InvalidInput(f"told {len(answers)} answers for {len(places)} items; give one for each index.")


def _as_flags(right: Any) -> list[bool]:
    values = np.atleast_1d(np.asarray(right))
    if values.ndim != 1 or not (values.dtype == bool or np.isin(values, [0, 1]).all()):
        raise InvalidInput("right holds something else than True and False; give one for each index.")
    return [bool(value) for value in values]
