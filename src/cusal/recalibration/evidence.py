"""Out-of-sample evidence for free: what the model said about an item before its label was known.

Every item that is asked leaves the prediction of that moment behind; when its label comes, the two are a pair that
the model was not fitted to. One temperature over all such pairs, the prequential temperature, makes the next
predictions honest.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from cusal._types import Floats, Indices
from cusal.metrics.reliability import reliability
from cusal.recalibration.temperature import apply_temperature, fit_temperature

PROVISIONAL_BELOW = 30
PRIOR = 5.0  # the weight of the prior of a fit, in labels, as the temperature's


@dataclass(frozen=True)
class Calibration:
    """How the probabilities of a session are made honest.

    temperature: above 1 the model was over-confident; 1 leaves it as it is.
    evidence: how many pairs of prediction and label it rests on; below 30 it is `provisional`.
    ece_before, ece_after: calibration error of the open items as it is estimated from the evidence, raw and
        recalibrated; None without evidence or open items.
    """

    temperature: float
    evidence: int
    ece_before: float | None = None
    ece_after: float | None = None

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


def estimate_ece(pairs: tuple[Floats, Indices], pool: Floats, temperature: float) -> tuple[float, float]:
    """Give the calibration error of pool predictions (m, classes) before and after the temperature.

    The items that were asked for are not like the pool: they are the unsure ones. What holds for both is the chance
    of being right at a given prediction, so that chance is fitted to the pairs, as expit(a logit(confidence) + b) of
    the tempered confidence with a prior around a = 1, b = 0, and then laid over the pool's confidences.
    """
    probs, labels = pairs
    right = apply_temperature(probs, temperature).argmax(axis=1) == labels
    evidence = _logit(apply_temperature(probs, temperature).max(axis=1))

    def loss(line: NDArray[np.float64]) -> float:
        score = line[0] * evidence + line[1]
        prior = PRIOR / 2 * ((line[0] - 1) ** 2 + line[1] ** 2)
        return float((np.logaddexp(0, score) - score * right).sum() + prior)

    slope, shift = minimize(loss, np.array([1.0, 0.0])).x
    tempered = apply_temperature(pool, temperature).max(axis=1)
    chance = expit(slope * _logit(tempered) + shift)
    before, after = reliability(pool.max(axis=1), chance), reliability(tempered, chance)
    return float(before.gap @ before.share), float(after.gap @ after.share)


def _logit(confidence: Floats) -> NDArray[np.float64]:
    return np.asarray(logit(np.clip(confidence, 1e-6, 1 - 1e-6)))


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
