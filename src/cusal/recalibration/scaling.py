"""Vector scaling with priors: a temperature and, where wanted, an offset for each class.

Guo et al. 2017, section 4.2, with priors around "as it is" for small evidence:

    (s, b) minimises  sum_i w_i (-log softmax(z_i / exp(s) + b)[y_i]) + (5 / 2) s^2 + (10 / 2) |b|^2,   s in [-3, 3]

| symbol | name |
|---|---|
| z_i | log of a row of `probs`, clipped at `LEAST` |
| y_i | `labels` |
| w_i | `weights` |
| exp(s) | `temperature` |
| b | `offsets`, (classes,); zeros where only a temperature is fitted |

A row that gives its own label no chance, for instance of a class that the copy had not met, says nothing about the
temperature and is left out of the sum.

The bounds are wide because a regularised linear model on sparse text is far too unsure: its best log temperature is
below -2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from cusal._types import Floats, Indices

STRENGTH, OFFSET_STRENGTH = 5.0, 10.0  # of the priors, in labels
LOG_BOUNDS = (-3.0, 3.0)
LEAST = 1e-7  # probabilities below count as this: a copy that has not met a class says zero


@dataclass(frozen=True)
class Scaling:
    """A temperature and offsets (classes,) of the log probabilities."""

    temperature: float
    offsets: NDArray[np.float64]

    @classmethod
    def none(cls, classes: int) -> "Scaling":
        """Return the scaling that changes nothing."""
        return cls(1.0, np.zeros(classes))

    @property
    def idle(self) -> bool:
        """Whether it changes nothing."""
        return self.temperature == 1 and not self.offsets.any()

    def apply(self, probs: Floats) -> NDArray[np.float64]:
        """Return the scaled probabilities, (rows, classes)."""
        if self.idle:
            return np.asarray(probs, dtype=np.float64)
        return np.asarray(softmax(_logs(probs) / self.temperature + self.offsets, axis=1), dtype=np.float64)


def fit_scaling(probs: Floats, labels: Indices, *, weights: Floats, with_offsets: bool) -> Scaling:
    """Return the scaling that fits labels (n,) best, from predictions (n, classes) and weights (n,).

    >>> probs = np.array([[0.01, 0.99], [0.99, 0.01], [0.01, 0.99], [0.99, 0.01]])
    >>> fit_scaling(probs, np.array([1, 0, 0, 1]), weights=np.ones(4), with_offsets=False).temperature > 1
    True
    """
    classes = probs.shape[1]
    told = probs[np.arange(len(labels)), labels] > 0
    if not told.any():
        return Scaling.none(classes)
    weights = weights[told]
    logs, truth = _logs(probs[told]), np.eye(classes)[labels[told]]

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scale, offsets = np.exp(-point[0]), point[1:] if with_offsets else np.zeros(classes)
        tempered = log_softmax(logs * scale + offsets, axis=1)
        wrong = (np.exp(tempered) - truth) * weights[:, None]
        value = -weights @ tempered[truth == 1] + STRENGTH / 2 * point[0] ** 2 + OFFSET_STRENGTH / 2 * offsets @ offsets
        slope = np.concatenate(
            [[-(wrong * logs).sum() * scale + STRENGTH * point[0]], (wrong.sum(axis=0) + OFFSET_STRENGTH * offsets)]
        )
        return float(value), slope if with_offsets else slope[:1]

    start = np.zeros(1 + classes if with_offsets else 1)
    bounds = [LOG_BOUNDS] + [(None, None)] * (len(start) - 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Scaling(float(np.exp(found[0])), found[1:] if with_offsets else np.zeros(classes))


def even_weights(weights: Floats) -> Floats:
    """Return weights (n,) of the same proportions whose mean is 1.

    Picks weigh less than items drawn at random, but for a temperature they are labels like others: 100 picks are not
    20 labels.
    """
    return weights if len(weights) == 0 else weights / weights.mean()


def _logs(probs: Floats) -> NDArray[np.float64]:
    return np.log(np.maximum(np.asarray(probs, dtype=np.float64), LEAST))
