"""A recalibration that is left out where cross-validation over the evidence does not show that it helps.

The scaling is fitted to four fifths of the evidence and judged on the last, five times over:

    gain = sum_i w_i (|p_i - e(y_i)|^2 - |p'_i - e(y_i)|^2)

| symbol | name |
|---|---|
| p_i | a row of `probs` |
| p'_i | the same, scaled by the fit without i's fifth |
| e(y_i) | 1 for the class of `labels`, 0 for others |
| w_i | `weights` |

Without a gain the model is left as it is. A regularised model that is calibrated already would otherwise be made
worse by the noise of a fit to few labels. The judge is the Brier score: by the log loss, in which a few confident
mistakes outweigh the rest, the calibration error on unseen items came out higher on ten tasks.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.recalibration.scaling import Scaling, fit_scaling

FOLDS = 5


@dataclass(frozen=True)
class CrossValidatedRecalibration:
    """The recalibration of one round's model, by "auto" or "vector".

    Parameters
    ----------
    probs : (n, classes) array
        Predictions of items by models that had not been fitted to them.
    labels : (n,) int64 array
        Their class numbers.
    weights : (n,) array
        What each counts in the fit; see `cusal.session.recalibrator`.
    with_offsets : bool
        Whether classes get offsets, beside the temperature.

    Examples
    --------
    >>> probs, labels = np.tile([[0.9, 0.1]], (40, 1)), np.arange(40) % 2
    >>> bool(CrossValidatedRecalibration(probs, labels, np.ones(40), with_offsets=False).temperature > 1.5)
    True
    """

    probs: Floats
    labels: Indices
    weights: Floats
    with_offsets: bool

    @property
    def evidence(self) -> int:
        """How many pairs of prediction and label the scaling rests on."""
        return len(self.labels)

    @cached_property
    def scaling(self) -> Scaling:
        """What is done to the model's predictions; nothing where that shows no gain."""
        if self.gain <= 0:
            return Scaling.none(self.probs.shape[1])
        return self._fit(np.ones(self.evidence, dtype=np.bool_))

    @property
    def temperature(self) -> float:
        """What the model's log probabilities are divided by; above 1 it was over-confident."""
        return self.scaling.temperature

    @cached_property
    def gain(self) -> float:
        """By how much scaling lowers the Brier score of evidence that it was not fitted to, summed up."""
        if self.evidence == 0:
            return 0.0
        fold = _stratified(self.labels)
        truth = np.eye(self.probs.shape[1])[self.labels]
        scaled = np.asarray(self.probs, dtype=np.float64).copy()
        for number in range(FOLDS):
            scaled[fold == number] = self._fit(fold != number).apply(scaled[fold == number])
        lowered = (self.probs - truth) ** 2 - (scaled - truth) ** 2
        return float(self.weights @ lowered.sum(axis=1))

    def apply(self, probs: Floats) -> NDArray[np.float64]:
        """Return recalibrated probabilities of the model's raw ones, (rows, classes)."""
        return self.scaling.apply(probs)

    def _fit(self, rows: NDArray[np.bool_]) -> Scaling:
        return fit_scaling(
            self.probs[rows], self.labels[rows], weights=self.weights[rows], with_offsets=self.with_offsets
        )


def _stratified(labels: Indices) -> NDArray[np.int64]:
    """Return a fold for each label, (n,), so that the labels of a class are spread over the folds."""
    fold = np.empty(len(labels), dtype=np.int64)
    fold[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % FOLDS
    return fold
