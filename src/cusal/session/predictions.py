"""What a fitted model predicts for a data set: computed tile by tile when first needed, and as a strategy sees it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cusal import _protocol as protocol
from cusal._items import count_items, take
from cusal._types import Floats, Indices
from cusal.errors import MissingMethod

Pairs = tuple[Floats, Indices]  # predictions (n, classes) and class numbers (n,)
TILE = 8192  # items that a model sees at once: a lazily loaded data set is never completely in memory


class Predictions:
    """A model's predictions of `items`; each kind is computed once, and `seconds` counts the time that it took.

    vectors: computes what stands for the embeddings where the model has none, (n, features), or None if nothing can.
    """

    def __init__(
        self,
        model: protocol.Model,
        items: Any,
        classes: int,
        *,
        vectors: Callable[[], Floats | None] | None = None,
    ) -> None:
        self.model, self.items, self.classes = model, items, classes
        self._vectors = vectors
        self.seconds = 0.0
        self._whole: dict[str, Floats] = {}

    def probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """Return predictions (k, classes); with `whole` the data set is predicted once and kept."""
        return self._answer("probs", lambda X: protocol.predict_proba(self.model, X, self.classes), indices, whole)

    def scoring_probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """Return what strategies see, (k, classes): the same as `probs`, unless the model has a `scoring_proba`."""
        if not hasattr(self.model, "scoring_proba"):
            return self.probs(indices, whole=whole)
        return self._answer("scoring", lambda X: protocol.scoring_proba(self.model, X, self.classes), indices, whole)

    def embeddings(self, indices: Indices) -> Floats:
        """Return the embeddings that strategies see, (k, features)."""
        try:
            return self._answer("embeddings", lambda X: protocol.scoring_embed(self.model, X), indices, True)
        except MissingMethod:
            started = time.perf_counter()
            vectors = None if self._vectors is None else self._vectors()
            self.seconds += time.perf_counter() - started
            if vectors is None:
                raise
        self._whole["embeddings"] = vectors
        return vectors[indices]

    def sampled_probs(self, indices: Indices, samples: int) -> Floats:
        """Return sampled predictions (k, samples, classes)."""

        def sample(X: Any) -> Floats:
            return protocol.sample_proba(self.model, X, samples, classes=self.classes)

        return self._answer("sampled", sample, indices, False)

    def _answer(self, name: str, ask: Callable[[Any], Floats], indices: Indices, whole: bool) -> Floats:
        if name in self._whole:
            return self._whole[name][indices]
        started = time.perf_counter()
        size = count_items(self.items)
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


@dataclass(frozen=True)
class ModelAnswers:
    """A fitted model's predictions, and the labelled items as evidence.

    predictions: of the items of the session.
    labelled: positions of the labelled items.
    evidence: computes their predictions and class numbers, by the model or by copies that were not fitted to them.
    """

    predictions: Predictions
    labelled: Indices
    evidence: Callable[[], Pairs]

    def probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """Return what strategies see of the model's predictions, (k, classes)."""
        return self.predictions.scoring_probs(indices, whole=whole)

    def embeddings(self, indices: Indices) -> Floats:
        """Return embeddings (k, features)."""
        return self.predictions.embeddings(indices)

    def sampled_probs(self, indices: Indices, samples: int) -> Floats:
        """Return sampled predictions (k, samples, classes)."""
        return self.predictions.sampled_probs(indices, samples)

    def reference(self) -> Pairs:
        """Return the evidence."""
        return self.evidence()

    def reference_embeddings(self) -> Floats:
        """Return embeddings of the labelled items, (n, features)."""
        return self.predictions.embeddings(self.labelled)
