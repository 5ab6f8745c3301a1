"""One fitted model's answers about a data set, computed tile by tile when first needed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.checks import Floats, Indices
from cusal.models import protocol

TILE = 8192  # items that a model sees at once: a lazily loaded data set is never whole in memory


def take(items: Any, indices: Indices | slice) -> Any:
    """Give some of the items, in the container that the model was given the others in.

    Items with a true attribute `lazy` lie on disk and are not read here: a model that trains on them reads batches.
    """
    if getattr(items, "lazy", False):
        return Subset(items, np.arange(len(items))[indices])
    if hasattr(items, "iloc"):
        return items.iloc[indices]
    if isinstance(items, list | tuple):
        return items[indices] if isinstance(indices, slice) else [items[i] for i in indices]
    return items[indices]


@dataclass(frozen=True)
class Subset:
    """Some of the items, not copied, indexed like the whole."""

    items: Any
    rows: Indices

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that this stands for."""
        return (len(self.rows), *self.items.shape[1:])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lazy(self) -> bool:
        """Whether the items are read from disk when they are indexed."""
        return bool(getattr(self.items, "lazy", False))

    def __getitem__(self, key: Any) -> Any:
        return self.items[self.rows[key]] if self.lazy else take(self.items, self.rows[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Give them all as an array, for models that need them so."""
        return np.asarray(self[:], dtype=dtype)


class Predictions:
    """What a model says about `items`; each answer is computed once, and `seconds` counts the time it took."""

    def __init__(self, model: protocol.Model, items: Any, classes: int) -> None:
        self.model, self.items, self.classes = model, items, classes
        self.seconds = 0.0
        self._whole: dict[str, Floats] = {}

    def probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """(k, classes); with `whole` the data set is predicted once and kept."""
        return self._answer("probs", lambda X: protocol.predict_proba(self.model, X, self.classes), indices, whole)

    def scoring_probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """(k, classes): what strategies see; the same as `probs` unless the model says otherwise."""
        if not hasattr(self.model, "scoring_proba"):
            return self.probs(indices, whole=whole)
        return self._answer("scoring", lambda X: protocol.scoring_proba(self.model, X, self.classes), indices, whole)

    def embeddings(self, indices: Indices) -> Floats:
        """(k, features), for strategies."""
        return self._answer("embeddings", lambda X: protocol.scoring_embed(self.model, X), indices, True)

    def sampled_probs(self, indices: Indices, samples: int) -> Floats:
        """(k, samples, classes)."""

        def sample(X: Any) -> Floats:
            return protocol.sample_proba(self.model, X, samples, classes=self.classes)

        return self._answer("sampled", sample, indices, False)

    def _answer(self, name: str, ask: Callable[[Any], Floats], indices: Indices, whole: bool) -> Floats:
        if name in self._whole:
            return self._whole[name][indices]
        started = time.perf_counter()
        size = len(self.items)
        try:
            # Slices of an array are views: predicting everything then costs less than gathering most of it.
            if whole and len(indices) > size // 2:
                parts = [ask(take(self.items, slice(start, start + TILE))) for start in range(0, size, TILE)]
                self._whole[name] = np.concatenate(parts)
                return self._whole[name][indices]
            starts = range(0, max(1, len(indices)), TILE)
            return np.concatenate([ask(take(self.items, indices[start : start + TILE])) for start in starts])
        finally:
            self.seconds += time.perf_counter() - started
