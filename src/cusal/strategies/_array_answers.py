"""What is known about items, given as arrays: for `cusal.query`, pools in files, and loops that users write."""

import numpy as np

from cusal._types import Floats, Indices
from cusal.errors import MissingMethod


class ArrayAnswers:
    """Arrays whose rows belong to `candidates`, or, where their names say so, to the labelled items.

    Parameters
    ----------
    candidates : (n,) int64 array
        Positions of the items in the whole data set, ascending.
    probs : (n, classes) array
        Predictions of the candidates.
    reference : tuple of an (m, classes) and an (m,) array, optional
        Predictions and class numbers of the labelled items; nothing is labelled by default.
    embeddings : (n, features) array, optional
        Vectors of the candidates.
    reference_embeddings : (m, features) array, optional
        Vectors of the labelled items.
    sampled_probs : (n, samples, classes) array, optional
        Predictions of the candidates by models drawn from the posterior.
    """

    def __init__(
        self,
        candidates: Indices,
        *,
        probs: Floats,
        reference: tuple[Floats, Indices] | None = None,
        embeddings: Floats | None = None,
        reference_embeddings: Floats | None = None,
        sampled_probs: Floats | None = None,
    ) -> None:
        nothing = np.empty((0, probs.shape[1])), np.empty(0, dtype=np.int64)
        self._candidates, self._probs = candidates, probs
        self._reference = nothing if reference is None else reference
        self._embeddings, self._reference_embeddings = embeddings, reference_embeddings
        self._sampled_probs = sampled_probs

    def probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """Return predictions (k, classes)."""
        return self._rows(self._probs, indices)

    def embeddings(self, indices: Indices) -> Floats:
        """Return vectors (k, features)."""
        return self._rows(_given(self._embeddings, "embeddings"), indices)

    def sampled_probs(self, indices: Indices, samples: int) -> Floats:
        """Return sampled predictions (k, samples, classes)."""
        return self._rows(_given(self._sampled_probs, "sampled predictions"), indices)[:, :samples]

    def reference(self) -> tuple[Floats, Indices]:
        """Return predictions and class numbers of the labelled items."""
        return self._reference

    def reference_embeddings(self) -> Floats:
        """Return vectors of the labelled items (m, features)."""
        return _given(self._reference_embeddings, "embeddings of labelled items")

    def _rows(self, array: Floats, indices: Indices) -> Floats:
        return array if indices is self._candidates else array[np.searchsorted(self._candidates, indices)]


def _given(array: Floats | None, name: str) -> Floats:
    if array is None:
        raise MissingMethod(f"it needs {name}, and none were given; pass them, or use a Session whose model has them.")
    return array
