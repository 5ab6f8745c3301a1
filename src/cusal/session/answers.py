"""What a session's fitted model predicts for the items, in the form that a strategy's view needs."""

from collections.abc import Callable
from dataclasses import dataclass

from cusal._types import Floats, Indices
from cusal.session.predictions import Predictions

Pairs = tuple[Floats, Indices]  # predictions (n, classes) and class numbers (n,)


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
