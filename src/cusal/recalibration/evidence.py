"""Out-of-sample evidence at no cost: what the model predicted for an item before its label was known.

A session keeps its prediction of every item that it asks for. When the label arrives, prediction and label are a pair
that the model was not fitted to. One temperature over all such pairs, the prequential temperature, calibrates the next
predictions.
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
PRIOR = 5.0  # strength of the prior, in units of evidence, as for the temperature


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

    @property
    def provisional(self) -> bool:
        """Whether there is too little evidence to rely on: fewer than 30 pairs."""
        return self.evidence < PROVISIONAL_BELOW


def temperature_of(pairs: tuple[Floats, Indices], *, strength: float) -> float:
    """Return the temperature that fits pairs of prediction and label best; 1 if there are none."""
    probs, labels = pairs
    if len(labels) == 0:
        return 1.0
    with np.errstate(divide="ignore"):
        return fit_temperature(np.log(probs), labels, strength=strength)


def estimate_ece(pairs: tuple[Floats, Indices], pool: Floats, temperature: float) -> tuple[float, float]:
    """Return the calibration error of pool predictions (m, classes) before and after the temperature.

    The items that were asked for are not like the pool: they are the uncertain ones. The probability of being right at
    a given prediction is the same for both. It is fitted to the pairs, as expit(a logit(confidence) + b) of the
    tempered confidence with a prior around a = 1, b = 0, and then applied to the pool's confidences.
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
