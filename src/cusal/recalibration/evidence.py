"""Out-of-sample evidence for free: what the model said about an item before its label was known.

Every item that is asked leaves the prediction of that moment behind; when its label comes, the two are a pair that
the model was not fitted to. One temperature over all such pairs, the prequential temperature, makes the next
predictions honest.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.recalibration.temperature import fit_temperature

PROVISIONAL_BELOW = 30


@dataclass(frozen=True)
class Calibration:
    """How the probabilities of a session are made honest.

    temperature: above 1 the model was over-confident; 1 leaves it as it is.
    evidence: how many pairs of prediction and label it rests on; below 30 it is `provisional`.
    ece_before, ece_after: calibration error of the open items as it is estimated from the evidence, raw and
        recalibrated; None without evidence or open items.
    ece_before_interval, ece_after_interval: the ends of their 90 % intervals.
    """

    temperature: float
    evidence: int
    ece_before: float | None = None
    ece_after: float | None = None
    ece_before_interval: tuple[float, float] | None = None
    ece_after_interval: tuple[float, float] | None = None

    @property
    def provisional(self) -> bool:
        """Whether there is too little evidence to rely on."""
        return self.evidence < PROVISIONAL_BELOW


def temperature_of(pairs: tuple[Floats, Indices], *, strength: float) -> float:
    """Give the temperature that fits pairs of prediction and label; 1 without any."""
    probs, labels = pairs
    if len(labels) == 0:
        return 1.0
    with np.errstate(divide="ignore"):
        return fit_temperature(np.log(probs), labels, strength=strength)


@dataclass
class Evidence:
    """The predictions that were made of items before their labels were known, by position in the data set."""

    predictions: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def remember(self, indices: Indices, probs: Floats) -> None:
        """Keep the predictions of items that are about to be asked; an item asked again gets the newer one."""
        for index, row in zip(indices.tolist(), probs, strict=True):
            self.predictions[index] = np.array(row, dtype=np.float64)

    def forget(self, indices: Indices) -> None:
        """Drop the predictions of items, if there are any."""
        for index in indices.tolist():
            self.predictions.pop(index, None)

    def pairs(self, labels: dict[int, int], classes: int) -> tuple[NDArray[np.float64], Indices]:
        """Give (probs, labels) of all remembered items that have a label; classes met later had probability zero."""
        known = [index for index in self.predictions if index in labels]
        probs = np.zeros((len(known), classes))
        for row, index in enumerate(known):
            prediction = self.predictions[index]
            probs[row, : len(prediction)] = prediction
        return probs, np.array([labels[index] for index in known], dtype=np.int64)
