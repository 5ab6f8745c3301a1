"""What a strategy may look at in one round, each part computed when it is first read.

`random` never calls the model, and `margin` never asks for embeddings. The answers come from an object: a fitted
model's predictions (`cusal.session`) or arrays.
"""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, MissingMethod

Memory = dict[Hashable, Any]
SAMPLED_NUMBERS = 1 << 27  # a gigabyte of sampled predictions is kept; more are computed again, tile by tile


class Answers(Protocol):
    """What is known about items, by their positions in the whole data set."""

    def probs(self, indices: Indices, *, whole: bool = True) -> Floats:
        """Return predictions (k, classes); without `whole`, no more items are predicted than these."""

    def embeddings(self, indices: Indices) -> Floats:
        """Return vectors (k, features)."""

    def sampled_probs(self, indices: Indices, samples: int) -> Floats:
        """Return predictions of models drawn from the posterior, (k, samples, classes)."""

    def reference(self) -> tuple[Floats, Indices]:
        """Return the predictions (n, classes) and class numbers (n,) of the labelled items."""

    def reference_embeddings(self) -> Floats:
        """Return vectors of the labelled items, (n, features)."""


class View:
    """What a strategy sees in one round: the open items, and what is known about them and the labelled ones.

    Rows of `probs` and `embeddings` belong to `candidates`; rows of `reference_probs`, `reference_labels` and
    `reference_embeddings` to the labelled items. Each part is computed once, when it is first read.

    Parameters
    ----------
    candidates : (n,) int64 array
        Positions of the open items in the whole data set, ascending.
    rng : numpy.random.Generator
        The generator for every random choice of the strategy.
    answers : Answers
        What is known about the items: a model's predictions, or `ArrayAnswers`.
    kept : dict, optional
        What was computed from the labelled items alone. Views of parts of one pool share it.

    Examples
    --------
    >>> view = View.of_arrays(np.array([10, 11]), np.random.default_rng(0), probs=np.array([[0.9, 0.1], [0.5, 0.5]]))
    >>> view.probs_of(np.array([11]))
    array([[0.5, 0.5]])
    """

    def __init__(
        self, candidates: Indices, rng: np.random.Generator, answers: Answers, *, kept: Memory | None = None
    ) -> None:
        self.candidates, self.rng, self.answers = candidates, rng, answers
        self._memory: Memory = {}
        self._kept: Memory = {} if kept is None else kept

    @classmethod
    def of_arrays(
        cls, candidates: Indices, rng: np.random.Generator, *, kept: Memory | None = None, **arrays: Any
    ) -> Self:
        """Return a view of arrays.

        Parameters
        ----------
        candidates : (n,) int64 array
            Positions of the items in the whole data set, ascending.
        rng : numpy.random.Generator
            The generator for every random choice of the strategy.
        kept : dict, optional
            What was computed from the labelled items alone, shared with views of other parts of the pool.
        **arrays
            `probs` (n, classes); optionally `embeddings` (n, features), `sampled_probs` (n, samples, classes),
            `reference`, a pair of predictions (m, classes) and class numbers (m,) of the labelled items, and
            `reference_embeddings` (m, features).
        """
        return cls(candidates, rng, ArrayAnswers(candidates, **arrays), kept=kept)

    @cached_property
    def probs(self) -> Floats:
        """(candidates, classes): the model's predictions."""
        return self.answers.probs(self.candidates)

    @cached_property
    def embeddings(self) -> Floats:
        """(candidates, features): the model's last hidden layer, or numeric items themselves."""
        return _finite(self.answers.embeddings(self.candidates), self.candidates)

    @cached_property
    def _reference(self) -> tuple[Floats, Indices]:
        return self.answers.reference()

    @property
    def reference_probs(self) -> Floats:
        """(labelled, classes): the predictions that serve as evidence."""
        return self._reference[0]

    @property
    def reference_labels(self) -> Indices:
        """(labelled,) class numbers."""
        return self._reference[1]

    @cached_property
    def reference_embeddings(self) -> Floats:
        """(labelled, features): the embeddings of the labelled items."""
        return _finite(self.answers.reference_embeddings(), None)

    def probs_of(self, indices: Indices) -> Floats:
        """Return predictions (k, classes) of some candidates; the others need not be predicted."""
        if "probs" in self.__dict__:
            return self.probs[self.positions(indices)]
        return self.answers.probs(indices, whole=False)

    def embeddings_of(self, indices: Indices) -> Floats:
        """Return embeddings (k, features) of some candidates, without embedding all where that was not needed."""
        if "embeddings" in self.__dict__:
            return self.embeddings[self.positions(indices)]
        return _finite(self.answers.embeddings(indices), indices)

    def sampled_probs(self, samples: int) -> Floats:
        """Return predictions of models drawn from the posterior, e.g. by dropout, (candidates, samples, classes)."""
        key = ("sampled_probs", samples)
        sampled: Floats = self.remember(key, lambda: self.answers.sampled_probs(self.candidates, samples))
        return sampled

    def sampled_probs_of(self, indices: Indices, samples: int) -> Floats:
        """Return sampled predictions of some candidates, (k, samples, classes); large pools are not kept in memory."""
        if self._tile(samples) >= len(self.candidates):
            return self.sampled_probs(samples)[self.positions(indices)]
        return self.answers.sampled_probs(indices, samples)

    def from_samples(self, samples: int, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Return `function` of the sampled predictions, (candidates, ...), tile by tile if they are many."""
        step = self._tile(samples)
        if step >= len(self.candidates):
            return function(self.sampled_probs(samples))
        tiles = (self.candidates[start : start + step] for start in range(0, len(self.candidates), step))
        return np.concatenate([function(self.answers.sampled_probs(tile, samples)) for tile in tiles])

    def positions(self, indices: Indices) -> Indices:
        """Return the rows (k,) of some candidates."""
        return np.searchsorted(self.candidates, indices)

    def remember(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returned when it was first called under this key in this round."""
        if key not in self._memory:
            self._memory[key] = compute()
        return self._memory[key]

    def keep(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returned first, as `remember` does, for what depends on the labelled items alone."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def _tile(self, samples: int) -> int:
        """Return how many candidates' sampled predictions may be in memory at once."""
        if len(self.candidates) == 0:
            return 0
        return max(1, SAMPLED_NUMBERS // self.answers.sampled_probs(self.candidates[:1], samples).size)


def _finite(embeddings: Floats, indices: Indices | None) -> Floats:
    """Return the embeddings, or raise `InvalidInput`: with NaN every distance is NaN, and the picks are arbitrary."""
    if embeddings.ndim != 2:
        raise InvalidInput(f"embeddings have shape {embeddings.shape}; expected (items, features).")
    bad = ~np.isfinite(embeddings).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        where = f"row {row} of the labelled items" if indices is None else f"item {indices[row]}"
        raise InvalidInput(f"the embedding of {where} holds NaN or infinity; fill or drop missing values first.")
    return embeddings


class ArrayAnswers:
    """What is known, given as arrays: for `cusal.query`, pools in files, and loops that users write.

    Arrays whose rows belong to `candidates`, or, where their names say so, to the labelled items.

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
