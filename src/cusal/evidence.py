"""Out-of-sample evidence for free: what the model said about an item before its label was known.

Every item that is asked leaves the prediction of that moment behind; when its label comes, the two are a pair that the
model was not fitted to. One temperature over all such pairs makes the next predictions honest (prequential temperature).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cusal import metrics
from cusal.checks import Floats, Indices
from cusal.models.temperature import apply_temperature, fit_temperature

PROVISIONAL_BELOW = 30


@dataclass(frozen=True)
class Calibration:
    """How the probabilities of a session are made honest.

    temperature: above 1 the model was over-confident; 1 leaves it as it is.
    evidence: how many pairs of prediction and label it rests on; below 30 it is `provisional`.
    ece_before, ece_after: calibration error on these pairs, raw and recalibrated; None without any. The pairs are the
        items that were asked for, which are harder than the average of the pool.
    """

    temperature: float
    evidence: int
    ece_before: float | None
    ece_after: float | None

    @property
    def provisional(self) -> bool:
        """Whether there is too little evidence to rely on."""
        return self.evidence < PROVISIONAL_BELOW

    @classmethod
    def of(cls, probs: Floats, labels: Indices, *, strength: float = 5.0) -> "Calibration":
        """Fit the temperature to pairs of prediction and label."""
        if len(labels) == 0:
            return cls(1.0, 0, None, None)
        with np.errstate(divide="ignore"):
            temperature = fit_temperature(np.log(probs), labels, strength=strength)
        after = metrics.ece(apply_temperature(probs, temperature), labels)
        return cls(temperature, len(labels), metrics.ece(probs, labels), after)


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
