"""Temperature scaling: one number that makes a classifier's confidence honest and leaves its ranking alone.

Guo et al. 2017, with a prior around T = 1 for small evidence:

    T = exp(s),   s minimises  sum_i -log softmax(z_i / T)[y_i] + (strength / 2) s^2   over [-1.5, 3]

| symbol | name |
|---|---|
| z_i | a row of `log_probs`: logits or log probabilities, which have the same softmax |
| y_i | `labels` |
| s | log temperature, within `LOG_BOUNDS` |
| strength | of the prior, in units of evidence; 0 gives the plain fit |

A probability of exactly zero stays zero at every temperature. A row that gives its own label zero, for instance of a
class that the model had not met, therefore says nothing about T and is left out of the sum.
"""

import copy
import zlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from cusal.checks import Indices, as_array, as_labels, as_positive, as_probs
from cusal.errors import InvalidInput, NotReady, UnknownName
from cusal.models import protocol
from cusal.models.out_of_sample import out_of_fold
from cusal.models.predictions import take

LOG_BOUNDS = (-1.5, 3.0)
METHODS = ("held-out", "cross-fit")
HELD_OUT = 5  # one row in five is held out, as in the paper's baseline

Probs = NDArray[np.float64]


def fit_temperature(log_probs: Any, labels: Any, *, strength: float = 5.0) -> float:
    """Give the temperature that fits labels (n,) best, from logits or log probabilities (n, classes).

    >>> fit_temperature([[0.0, 4.0], [4.0, 0.0], [0.0, 4.0], [4.0, 0.0]], [1, 0, 0, 0], strength=0) > 2
    True
    """
    scores = _as_scores(log_probs)
    labels = as_labels(labels, count=len(scores), classes=scores.shape[1])
    if strength != 0:
        strength = as_positive(strength, "strength")
    own = scores[np.arange(len(labels)), labels]
    told = np.isfinite(own)
    if not told.any():
        return 1.0
    scores, own = scores[told], own[told]

    def loss(s: float) -> float:
        scale = np.exp(-s)
        return float((logsumexp(scores * scale, axis=1) - own * scale).sum() + strength / 2 * s**2)

    return float(np.exp(minimize_scalar(loss, bounds=LOG_BOUNDS, method="bounded", options={"xatol": 1e-8}).x))


def apply_temperature(probs: Any, temperature: float) -> Probs:
    """Give softmax(log probs / temperature), (n, classes): softer above 1, sharper below.

    >>> apply_temperature([[0.2, 0.8]], 2.0).round(3).tolist()
    [[0.333, 0.667]]
    """
    temperature = as_positive(temperature, "temperature")
    given: Probs = as_probs(probs).astype(np.float64)
    if temperature == 1:
        return given
    with np.errstate(divide="ignore"):  # log 0 is -inf, whose softmax is 0 again
        return np.asarray(softmax(np.log(given) / temperature, axis=1), dtype=np.float64)


class TemperatureScaled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are tempered by its own labelled data.

    model: has `fit` and `predict_proba`; stays as it is, the fitted copy is `model_`. With `warm_start` it goes on
        from the fit before.
    method: "held-out", the paper's baseline, fits the model to 80 % of the rows and a plain temperature to the rest.
        A row's content decides its side, so that a row once held out is never trained on by a later, warm fit.
        "cross-fit" fits the model to all rows, and the temperature, with its prior, to what copies of the model that
        were fitted without a row say about it.
    random_state: seeds the folds; the model has its own.

    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> TemperatureScaled(GaussianNB(), method="cross-fit", random_state=0).fit(X, y).temperature_ > 1
    True
    """

    model_: Any

    def __init__(self, model: Any, *, method: str = "held-out", random_state: int | None = None) -> None:
        self.model = model
        self.method = method
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model and its temperature to items X (n, ...) with class numbers y (n,)."""
        if self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        labels = as_array(y)
        labels = as_labels(labels, "y", count=len(X), classes=int(labels.max(initial=1)) + 1)
        fit = self._hold_out if self.method == "held-out" else self._cross_fit
        self.model_, self.temperature_ = fit(X, labels)
        self.classes_ = np.asarray(self.model_.classes_)
        return self

    def predict_proba(self, X: Any) -> Probs:
        """Give tempered probabilities, (n, classes)."""
        return apply_temperature(self._fitted().predict_proba(X), self.temperature_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the most probable class of each item, (n,)."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(1)])

    def embed(self, X: Any) -> NDArray[Any]:
        """Give the model's embedding, (n, width)."""
        return protocol.embed(self._fitted(), X)

    def sample_proba(self, X: Any, n: int) -> Probs:
        """Give the model's samples, each tempered, (rows, n, classes)."""
        sampled = protocol.sample_proba(self._fitted(), X, n, classes=len(self.classes_))
        return apply_temperature(sampled.reshape(-1, sampled.shape[2]), self.temperature_).reshape(sampled.shape)

    def _hold_out(self, X: Any, labels: Indices) -> tuple[Any, float]:
        held_out = np.array([_checksum(X, row) % HELD_OUT == 0 for row in range(len(labels))])
        inside, outside = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        if len(inside) == 0:
            raise NotReady(f"all {len(labels)} row(s) fell to the held-out side; label more, or use cross-fit.")
        model = self._start().fit(take(X, inside), labels[inside])
        return model, self._temperature(model, take(X, outside), labels[outside])

    def _cross_fit(self, X: Any, labels: Indices) -> tuple[Any, float]:
        classes = int(labels.max()) + 1
        probs, labels = out_of_fold(
            _unfitted(self.model), X, labels, classes=classes, rng=np.random.default_rng(self.random_state)
        )
        with np.errstate(divide="ignore"):
            temperature = fit_temperature(np.log(probs), labels)
        return self._start().fit(X, labels), temperature

    def _temperature(self, model: Any, X: Any, labels: Indices) -> float:
        if len(labels) == 0:
            return 1.0
        classes = int(max(labels.max(), np.max(model.classes_))) + 1
        with np.errstate(divide="ignore"):
            return fit_temperature(np.log(protocol.predict_proba(model, X, classes)), labels, strength=0)

    def _start(self) -> Any:
        """Give the model to fit: where it starts warm, the one fitted before, with the settings of now."""
        if not (getattr(self.model, "warm_start", False) and hasattr(self, "model_")):
            return _unfitted(self.model)
        model = copy.deepcopy(self.model_)
        if hasattr(model, "random_state"):
            model.random_state = self.model.random_state
        return model

    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            raise NotReady("the model has not been fitted; call fit(X, y) first.")
        return self.model_


def _unfitted(model: Any) -> Any:
    return clone(model) if hasattr(model, "get_params") else copy.deepcopy(model)


def _checksum(X: Any, row: int) -> int:
    item = as_array(take(X, np.array([row])))
    return zlib.crc32(repr(item.tolist()).encode() if item.dtype.hasobject else item.tobytes())


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
