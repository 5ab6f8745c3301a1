"""Out-of-sample evidence at no cost: what the model predicted for an item before its label was known.

A session keeps its prediction of every item that it asks for. When the label arrives, prediction and label are a pair
that the model was not fitted to. One temperature over all such pairs, the prequential temperature, calibrates the next
predictions.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.recalibration.temperature import fit_temperature

PROVISIONAL_BELOW = 30


@dataclass(frozen=True)
class Calibration:
    """How the probabilities of a session are recalibrated, as `session.calibration` returns it.

    Attributes
    ----------
    temperature : float
        What the log probabilities are divided by. Above 1 the model was over-confident; 1 changes nothing.
    evidence : int
        Number of pairs of prediction and label that the temperature is fitted to. Below 30 it is `provisional`.
    ece_before, ece_after : float or None
        Expected calibration error of the open items, raw and recalibrated, estimated from the evidence. None if there
        is no evidence or no open item.
    ece_before_interval, ece_after_interval : tuple of two floats or None
        The ends of their 90 % intervals.

    Examples
    --------
    >>> calibration = Calibration(temperature=1.8, evidence=12)
    >>> calibration.provisional
    True
    """

    temperature: float
    evidence: int
    ece_before: float | None = None
    ece_after: float | None = None
    ece_before_interval: tuple[float, float] | None = None
    ece_after_interval: tuple[float, float] | None = None

    @property
    def provisional(self) -> bool:
        """Whether there is too little evidence to rely on: fewer than 30 pairs."""
        return self.evidence < PROVISIONAL_BELOW


def temperature_of(pairs: tuple[Floats, Indices], *, strength: float, weights: Floats | None = None) -> float:
    """Return the temperature that fits pairs of prediction and label best; 1 if there are none.

    weights: what each pair counts, (n,); all the same by default.
    """
    probs, labels = pairs
    if len(labels) == 0:
        return 1.0
    with np.errstate(divide="ignore"):
        return fit_temperature(np.log(probs), labels, strength=strength, weights=weights)


@dataclass
class Evidence:
    """Predictions of items from before their labels were known, by position in the data set."""

    predictions: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def remember(self, indices: Indices, probs: Floats) -> None:
        """Keep the predictions of items that are about to be asked for; a newer prediction replaces an older one."""
        for index, row in zip(indices.tolist(), probs, strict=True):
            self.predictions[index] = np.array(row, dtype=np.float64)

    def forget(self, indices: Indices) -> None:
        """Drop the predictions of items, if there are any."""
        for index in indices.tolist():
            self.predictions.pop(index, None)

    def pairs(self, labels: dict[int, int], classes: int) -> tuple[NDArray[np.float64], Indices]:
        """Return (probs, labels) of all remembered items with a label; classes met later get probability zero."""
        known = [index for index in self.predictions if index in labels]
        probs = np.zeros((len(known), classes))
        for row, index in enumerate(known):
            prediction = self.predictions[index]
            probs[row, : len(prediction)] = prediction
        return probs, np.array([labels[index] for index in known], dtype=np.int64)
