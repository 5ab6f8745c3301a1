"""What an expert is, and what it is fitted to."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.errors import InvalidInput
from cusal.models._points import Anchors, Points, Space

FOLDS = 5
Probs = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """Labelled points: what an expert is fitted to.

    points: n of them, also as `anchors`. numbers: their classes, (n,), each of 0 .. classes - 1 at least once.
    folds: (n,), every class spread over as many of them as it can be.
    """

    points: Points
    anchors: Anchors
    numbers: Indices
    classes: int
    folds: Indices
    seed: int

    def splits(self) -> Iterator[tuple[Indices, Indices]]:
        """Yield rows to fit copies to, of two classes at least, and the others, which they then predict."""
        for fold in range(FOLDS):
            seen, left = np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold)
            if len(left) and len(np.unique(self.numbers[seen])) > 1:
                yield seen, left

    def frequencies(self) -> Probs:
        """Return the share of each class for every row, (n, classes): what is said where no copy can be fitted."""
        counts = np.bincount(self.numbers, minlength=self.classes)
        return np.tile(counts / counts.sum(), (len(self.numbers), 1))


@dataclass
class Expert(ABC):
    """A classifier of points that knows how it does on labels that it was not fitted to.

    out_of_fold_: predictions of the labelled points by fits without them, (n, classes), set by `fit`.
    """

    out_of_fold_: Probs = field(init=False, repr=False, default_factory=lambda: np.empty((0, 0)))

    @abstractmethod
    def fit(self, labelled: Labelled) -> Self:
        """Fit the expert, and set `out_of_fold_`."""

    @abstractmethod
    def predict_proba(self, points: Points) -> Probs:
        """Return the probability of each class, (points, classes)."""

    def state(self) -> dict[str, Any]:
        """Return settings and what was fitted, as plain values and arrays."""
        raise InvalidInput(f"{self!r} is not of cusal, and has no form of plain arrays; fit with cusal's experts.")

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Space, classes: int) -> Self:
        """Return the fitted expert of a `state`, of points of a space; raise `DataError` if it does not fit them."""
        raise InvalidInput(f"{cls.__name__} has no form of plain arrays; fit with cusal's experts.")


def stratified(numbers: Indices, rng: np.random.RandomState) -> Indices:
    """Return the fold of each item, (n,): of every class about equally many in each, however few it has."""
    folds = np.empty(len(numbers), dtype=np.int64)
    folds[np.lexsort((rng.random_sample(len(numbers)), numbers))] = np.arange(len(numbers)) % FOLDS
    return folds
