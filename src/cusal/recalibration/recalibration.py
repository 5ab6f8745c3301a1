"""Predictions recalibrated by one temperature, from pairs of prediction and label that the model was not fitted to."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.recalibration.temperature import apply_temperature, fit_temperature

AGREED_SHARE = 1 / 3  # chosen of 1/3, 1/2 and 2/3 on validation items: results/networks-few-labels.md


@dataclass(frozen=True)
class Recalibration:
    """The recalibration of one round's model.

    Parameters
    ----------
    probs : (n, classes) array
        Predictions of items by a model that had not been fitted to them.
    labels : (n,) int64 array
        Their class numbers.
    strength : float
        Strength of the prior around a temperature of 1, in units of evidence.
    weights : (n,) array, optional
        What each pair counts; all the same by default.
    agreed : float, optional
        The temperature that the members of an ensemble agree on (`ensemble_agreement`). A third of the log temperature
        is its own, the rest that of the pairs.

    Examples
    --------
    >>> probs, labels = np.tile([[0.9, 0.1]], (40, 1)), np.arange(40) % 2
    >>> bool(Recalibration(probs, labels, strength=5.0).temperature > 1.5)
    True
    """

    probs: Floats
    labels: Indices
    strength: float
    weights: Floats | None = None
    agreed: float | None = None

    @classmethod
    def none(cls, classes: int) -> "Recalibration":
        """Return the recalibration that leaves predictions as they are."""
        return cls(np.empty((0, classes)), np.empty(0, dtype=np.int64), 0.0)

    @property
    def evidence(self) -> int:
        """Number of pairs of prediction and label that the temperature is fitted to."""
        return len(self.labels)

    @cached_property
    def temperature(self) -> float:
        """What the model's log probabilities are divided by; above 1 the model was over-confident."""
        fitted = temperature_of((self.probs, self.labels), strength=self.strength, weights=self.weights)
        if self.agreed is None:
            return fitted
        return math.exp((1 - AGREED_SHARE) * math.log(fitted) + AGREED_SHARE * math.log(self.agreed))

    def apply(self, probs: Floats) -> NDArray[np.float64]:
        """Return the recalibrated form of raw probabilities, (rows, classes)."""
        return apply_temperature(probs, self.temperature)


def temperature_of(pairs: tuple[Floats, Indices], *, strength: float, weights: Floats | None = None) -> float:
    """Return the temperature that fits pairs of prediction and label best; 1 if there are none.

    weights: what each pair counts, (n,); all the same by default.
    """
    probs, labels = pairs
    if len(labels) == 0:
        return 1.0
    with np.errstate(divide="ignore"):
        return fit_temperature(np.log(probs), labels, strength=strength, weights=weights)
