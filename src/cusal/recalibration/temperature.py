"""Temperature scaling: one number that calibrates a classifier's confidence and leaves its ranking of classes alone.

Guo et al. 2017, with a prior around T = 1 for the case of little evidence:

    T = exp(s),   s minimises  sum_i w_i (-log softmax(z_i / T)[y_i]) + (strength / 2) s^2   over [-1.5, 3]

| symbol | name |
|---|---|
| z_i | a row of `log_probs`: logits or log probabilities, which have the same softmax |
| y_i | `labels` |
| w_i | `weights`, 1 by default |
| s | log temperature, within `LOG_BOUNDS` |
| strength | of the prior, in units of evidence; 0 is the plain fit |

A probability of exactly zero stays zero at every temperature. A row whose own label has probability zero, for instance
because the model had not met the class, therefore carries no information about T and is left out of the sum.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

from cusal._arguments import is_real
from cusal._checks import as_array, as_labels, as_positive, as_probs
from cusal.errors import InvalidInput

LOG_BOUNDS = (-1.5, 3.0)

Probs = NDArray[np.float64]


def fit_temperature(log_probs: Any, labels: Any, *, strength: float = 5.0, weights: Any = None) -> float:
    """Return the temperature under which a model's predictions fit the labels best.

    Use predictions of items that the model was not fitted to.

    Parameters
    ----------
    log_probs : (n, classes) array
        Logits or log probabilities. -inf stands for a probability of zero.
    labels : (n,) array of int
        Class numbers: the columns of `log_probs`.
    strength : float, default 5
        Strength of the prior around a temperature of 1, in units of evidence; 0 fits without a prior.
    weights : (n,) array, optional
        What each row counts, in units of evidence; 0 or more.

    Returns
    -------
    float
        Between exp(-1.5) and exp(3). Above 1 the model was over-confident. 1 if no row carries information.

    Raises
    ------
    InvalidInput
        If a row holds NaN or infinity or has no finite value, a label is not a column, `strength` or a weight is
        negative, or there are not as many weights as rows.

    Examples
    --------
    >>> fit_temperature([[0.0, 4.0], [4.0, 0.0], [0.0, 4.0], [4.0, 0.0]], [1, 0, 0, 0], strength=0) > 2
    True
    """
    scores = _as_scores(log_probs)
    labels = as_labels(labels, count=len(scores), classes=scores.shape[1])
    if not is_real(strength) or strength != 0:
        strength = as_positive(strength, "strength")
    counts = np.ones(len(labels)) if weights is None else _as_weights(weights, len(labels))
    own = scores[np.arange(len(labels)), labels]
    told = np.isfinite(own)
    if not told.any():
        return 1.0
    scores, own, counts = scores[told], own[told], counts[told]

    def loss(s: float) -> float:
        scale = np.exp(-s)
        return float(((logsumexp(scores * scale, axis=1) - own * scale) * counts).sum() + strength / 2 * s**2)

    return float(np.exp(minimize_scalar(loss, bounds=LOG_BOUNDS, method="bounded", options={"xatol": 1e-8}).x))


def apply_temperature(probs: Any, temperature: float) -> Probs:
    """Return probabilities at another temperature: softmax(log probs / temperature).

    Parameters
    ----------
    probs : (n, classes) array
        Probabilities; each row sums to one.
    temperature : float
        Above 1 the probabilities become softer, below 1 sharper.

    Returns
    -------
    (n, classes) float64 array
        Probabilities in the same order: the most probable class of each row stays so.

    Raises
    ------
    InvalidInput
        If a row is not a probability distribution, or the temperature is not above zero.

    Examples
    --------
    >>> apply_temperature([[0.2, 0.8]], 2.0).round(3).tolist()
    [[0.333, 0.667]]
    """
    temperature = as_positive(temperature, "temperature")
    given: Probs = as_probs(probs).astype(np.float64)
    if temperature == 1:
        return given
    with np.errstate(divide="ignore"):  # log 0 is -inf, whose softmax is 0 again
        return np.asarray(softmax(np.log(given) / temperature, axis=1), dtype=np.float64)


def _as_scores(values: Any) -> Probs:
    scores = as_array(values)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise InvalidInput(f"log_probs has shape {scores.shape}; expected (rows, classes) with two or more classes.")
    scores = scores.astype(np.float64)
    bad = np.isnan(scores).any(1) | (scores == np.inf).any(1) | (scores == -np.inf).all(1)
    if bad.any():
        raise InvalidInput(
            f"log_probs: row {int(np.argmax(bad))} holds NaN or infinity, or has no finite value; "
            "expected logits or log probabilities."
        )
    return scores


def _as_weights(values: Any, count: int) -> Probs:
    weights = as_array(values, "weights")
    if weights.shape != (count,) or weights.dtype.kind not in "biuf":
        raise InvalidInput(
            f"weights has shape {weights.shape} and type {weights.dtype} for {count} rows; expected a number for each."
        )
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(f"weights has {weights[row]} in row {row}; expected finite numbers of 0 or more.")
    return weights.astype(np.float64)
