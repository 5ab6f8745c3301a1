"""What a strategy may look at in one round, each part computed when it is first read.

A part is given as an array or as a function that computes it: `random` never calls the model, `margin` never asks
for embeddings.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_positive
from cusal._types import Floats, Indices
from cusal.calibration import PointwiseError, pointwise_error
from cusal.calibration.pointwise import TOLERANCE

Part = Floats | Callable[[], Floats]
SAMPLED_NUMBERS = 1 << 27  # a gigabyte of sampled predictions is kept; more are computed anew, tile by tile


class View:
    """One round seen by a strategy.

    Rows of `probs` and `embeddings` belong to `candidates`, the open items in ascending order; rows of
    `reference_probs`, `reference_labels` and `reference_embeddings` to the labelled ones.
    """

    def __init__(
        self,
        candidates: Indices,
        rng: np.random.Generator,
        *,
        probs: Part,
        reference: tuple[Part, Indices] | Callable[[], tuple[Floats, Indices]],
        embeddings: Part | None = None,
        reference_embeddings: Part | None = None,
        sampled_probs: Callable[[int], Floats] | None = None,
        probs_of: Callable[[Indices], Floats] | None = None,
        sampled_probs_of: Callable[[Indices, int], Floats] | None = None,
    ) -> None:
        self.candidates = candidates
        self.rng = rng
        self._parts: dict[str, Any] = {
            "probs": probs,
            "reference": reference,
            "embeddings": embeddings,
            "reference_embeddings": reference_embeddings,
        }
        self._sampled_probs = sampled_probs
        self._samples: dict[int, Floats] = {}
        self._probs_of = probs_of
        self._sampled_probs_of = sampled_probs_of
        self._estimates: dict[tuple[float, float, float | None], PointwiseError] = {}
        self._tops: dict[tuple[float, float, float | None, float], tuple[int, NDArray[np.float64]]] = {}

    def _part(self, name: str) -> Any:
        part = self._parts[name]
        if part is None:
            raise AttributeError(f"this view has no {name}")
        return part() if callable(part) else part

    @cached_property
    def probs(self) -> Floats:
        """(candidates, classes): the model's predictions."""
        return self._part("probs")  # type: ignore[no-any-return]

    @cached_property
    def embeddings(self) -> Floats:
        """(candidates, features): the model's last hidden layer."""
        return self._part("embeddings")  # type: ignore[no-any-return]

    @cached_property
    def reference_embeddings(self) -> Floats:
        """(labelled, features): the same for the labelled items."""
        return self._part("reference_embeddings")  # type: ignore[no-any-return]

    @cached_property
    def _reference(self) -> tuple[Floats, Indices]:
        part = self._part("reference")
        probs, labels = part
        return (probs() if callable(probs) else probs), labels

    @property
    def reference_probs(self) -> Floats:
        """(labelled, classes): the predictions that serve as evidence."""
        return self._reference[0]

    @property
    def reference_labels(self) -> Indices:
        """(labelled,) class numbers."""
        return self._reference[1]

    def sampled_probs(self, samples: int) -> Floats:
        """(candidates, samples, classes): predictions of models drawn from the posterior, e.g. by dropout."""
        if self._sampled_probs is None:
            raise AttributeError("this view has no sampled_probs")
        if samples not in self._samples:
            self._samples[samples] = self._sampled_probs(samples)
        return self._samples[samples]

    def sampled_probs_of(self, indices: Indices, samples: int) -> Floats:
        """(k, samples, classes): the same of some candidates, without all of them in memory where they are too many."""
        if self._sampled_probs_of is None or self._tile(samples) >= len(self.candidates):
            return self.sampled_probs(samples)[self.positions(indices)]
        return self._sampled_probs_of(indices, samples)

    def from_samples(self, samples: int, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """(candidates, ...): what `function` gives of their sampled predictions, by tiles where they are too many."""
        step = self._tile(samples)
        if self._sampled_probs_of is None or step >= len(self.candidates):
            return function(self.sampled_probs(samples))
        starts = range(0, len(self.candidates), step)
        tiles = (self.candidates[start : start + step] for start in starts)
        return np.concatenate([function(self._sampled_probs_of(tile, samples)) for tile in tiles])

    def _tile(self, samples: int) -> int:
        """Give how many candidates' sampled predictions may be in memory at once."""
        if self._sampled_probs_of is None or len(self.candidates) == 0:
            return len(self.candidates)
        return max(1, SAMPLED_NUMBERS // self._sampled_probs_of(self.candidates[:1], samples).size)

    def probs_of(self, indices: Indices) -> Floats:
        """(k, classes): the predictions of some candidates, without predicting all where that was not needed."""
        if "probs" in self.__dict__ or self._probs_of is None:
            return self.probs[self.positions(indices)]
        return self._probs_of(indices)

    def positions(self, indices: Indices) -> Indices:
        """(k,) rows of these candidates."""
        return np.searchsorted(self.candidates, indices)

    def estimate(self, bandwidth: float, p: float, density_floor: float | None) -> PointwiseError:
        """Give the calibration error of every candidate, computed once for each setting."""
        key = (bandwidth, p, density_floor)
        if key not in self._estimates:
            self._estimates[key] = pointwise_error(
                self.probs,
                self.reference_probs,
                self.reference_labels,
                bandwidth=bandwidth,
                p=p,
                density_floor=density_floor,
            )
        return self._estimates[key]

    def top_error(
        self, count: int, *, bandwidth: float, p: float, density_floor: float | None, tie_tolerance: float
    ) -> tuple[NDArray[np.float64], float]:
        """Give (errors, cut): errors of `cut` and above, and their ties, are those of `estimate`.

        At least the `count` highest are among them. What provably stays below is not computed: its place holds an
        upper bound below the cut.
        """
        settings = (bandwidth, p, density_floor)
        if settings in self._estimates or len(self.reference_labels) == 0:
            return self.estimate(*settings).error, -np.inf
        known, error = self._tops.get((*settings, tie_tolerance), (0, np.empty(0)))
        if known < count:
            from cusal.calibration.top_k import top  # numba loads when it is first needed

            error, _ = top(
                self.probs,
                self.reference_probs,
                self.reference_labels,
                count,
                bandwidth=as_positive(bandwidth, "bandwidth"),
                p=as_positive(p, "p", least=1),
                density_floor=None if density_floor is None else as_positive(density_floor, "density_floor"),
                tolerance=TOLERANCE,
                tie_tolerance=tie_tolerance,
            )
            known = count
            self._tops[*settings, tie_tolerance] = (known, error)
        return error, float(np.partition(error, len(error) - known)[len(error) - known])
