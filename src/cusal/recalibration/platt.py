"""The chance of being right at a given confidence, with how sure we are of it.

Platt 1999, as a line in log odds with a prior around "confidence is right", and Laplace's approximation around it:

    P(right | c) = expit(a logit c + b)
    (a, b) minimises  L = sum_i w_i (-log P(right_i | c_i)) + (5 / 2) ((a - 1)^2 + b^2)
    (a, b) ~ Normal((a, b), (d^2 L)^-1)

    steep: the prior is  1 / 2 (s (a - 1))^2 + 5 / 2 (b + (a - 1) m)^2

| symbol | name |
|---|---|
| c_i | `confidence`, (n,) of predictions by models that had not seen the label |
| right_i | `right`, (n,) |
| w_i | `weights`, (n,) |
| a, b | `line` |
| m, s | weighted mean and standard deviation of logit c_i, s between .01 and 1 |

The steep form is for confidences that hardly differ. A model that always expects the same class at about 85 % may be
right nearly always above 86 % and never below 84: a slope near 1, which the first prior expects, does not see that.

The items that a strategy picks are not like the pool. What holds for both is, nearly, the chance of being right at
a given confidence; so it is fitted to the labelled items and laid over the open ones. Nearly: picks are the hard
ones among items of equal confidence, which is why they weigh less than items drawn at random.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from cusal._types import Floats

PRIOR, STEEP_PRIOR = 5.0, 1.0  # their weights, in labels
LEAST_SPREAD = 0.01
RANDOM_WEIGHT, PICKED_WEIGHT = 1.0, 0.2
Line = NDArray[np.float64]  # (2,) slope and shift


@dataclass(frozen=True)
class Platt:
    """The line (2,) and the covariance (2, 2) of its two numbers."""

    line: Line
    covariance: NDArray[np.float64]

    def chance(self, confidence: Floats) -> NDArray[np.float64]:
        """Return the chance of being right at each confidence, (m,)."""
        return _chance(self.line, log_odds(confidence))

    def drawn_chances(
        self, confidence: Floats, draws: int, rng: np.random.Generator, *, doubt: float = 0.0
    ) -> NDArray[np.float64]:
        """Return the chances by lines that are drawn from the posterior, (draws, m).

        doubt: standard deviation of a further shift, in log odds.
        """
        lines = rng.multivariate_normal(self.line, self.covariance, size=draws)
        if doubt:
            lines[:, 1] += doubt * rng.normal(size=draws)
        return np.stack([_chance(line, log_odds(confidence)) for line in lines])


def fit_platt(confidence: Floats, right: NDArray[np.bool_], weights: Floats, *, steep: bool = False) -> Platt:
    """Return the line through confidences (n,) and whether they were right (n,), with weights (n,).

    >>> fit_platt(np.full(50, 0.9), np.arange(50) % 2 == 0, np.ones(50)).chance(np.array([0.9])).round(1)
    array([0.5])
    """
    x = log_odds(confidence)
    hits = right.astype(np.float64)
    centre, spread, prior = 0.0, 1.0, np.array([PRIOR, PRIOR])
    if steep and len(x):
        centre = float(np.average(x, weights=weights))
        spread = float(np.clip(np.sqrt(np.average((x - centre) ** 2, weights=weights)), LEAST_SPREAD, 1))
        prior[0] = STEEP_PRIOR
    columns = np.stack([(x - centre) / spread, np.ones_like(x)])  # (2, n)

    def loss(off: Line) -> tuple[float, Line]:  # from the line of slope 1, in units of the columns
        score = x + off @ columns
        wrong = weights * (expit(score) - hits)
        value = weights @ (np.logaddexp(0, score) - score * hits) + prior @ off**2 / 2
        return float(value), columns @ wrong + prior * off

    off = minimize(loss, np.zeros(2), jac=True, method="BFGS").x
    chance = expit(x + off @ columns)
    curvature = (columns * (weights * chance * (1 - chance))) @ columns.T + np.diag(prior)
    back = np.array([[1 / spread, 0.0], [-centre / spread, 1.0]])  # from those units to slope and shift
    return Platt(back @ off + (1.0, 0.0), np.asarray(back @ np.linalg.inv(curvature) @ back.T, dtype=np.float64))


def log_odds(confidence: Floats) -> NDArray[np.float64]:
    """Return logit of confidences, kept away from 0 and 1."""
    return np.asarray(logit(np.clip(np.asarray(confidence, dtype=np.float64), 1e-6, 1 - 1e-6)))


def _chance(line: Line, odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(expit(line[0] * odds + line[1]))
