"""A classifier with temperature scaling built in: the paper's baseline, and a form that gives up no samples.

"held-out" (Bui et al., Least-conf-TS): fit on 80 % of the labelled rows, temperature on the other 20 %.
"cross-fit": fit on all of them, temperature from out-of-fold predictions.
"""

import zlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal.checks import Indices, as_array, as_labels
from cusal.errors import NotReady, UnknownName
from cusal.models import protocol
from cusal.models.out_of_sample import out_of_fold
from cusal.models.predictions import take
from cusal.models.temperature import apply_temperature, fit_temperature
from cusal.models.wrapper import Probs, Wrapper, unfitted

METHODS = ("held-out", "cross-fit")
HELD_OUT = 5  # one row in five is held out, as in the paper's baseline


class TemperatureScaled(Wrapper):
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

    def __init__(self, model: Any, *, method: str = "held-out", random_state: int | None = None) -> None:
        self.model = model
        self.method = method
        self.random_state = random_state

    def fit(self, X: Any, y: Any, unlabelled: Any = None) -> Self:
        """Fit the model and its temperature to items X (n, ...) with class numbers y (n,).

        unlabelled: further items, for a model that uses them.
        """
        if self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        labels = as_array(y)
        labels = as_labels(labels, "y", count=len(X), classes=int(labels.max(initial=1)) + 1)
        fit = self._hold_out if self.method == "held-out" else self._cross_fit
        self.model_, self.temperature_ = fit(X, labels, unlabelled)
        self.classes_ = np.asarray(self.model_.classes_)
        return self

    def _changed(self, probs: Any, X: Any) -> Probs:
        rows = as_array(probs)
        return apply_temperature(rows.reshape(-1, rows.shape[-1]), self.temperature_).reshape(rows.shape)

    def _hold_out(self, X: Any, labels: Indices, unlabelled: Any) -> tuple[Any, float]:
        held_out = is_held_out(X)
        inside, outside = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        if len(inside) == 0:
            raise NotReady(f"all {len(labels)} row(s) fell to the held-out side; label more, or use cross-fit.")
        model = self._fit_model(take(X, inside), labels[inside], unlabelled)
        return model, self._temperature(model, take(X, outside), labels[outside])

    def _cross_fit(self, X: Any, labels: Indices, unlabelled: Any) -> tuple[Any, float]:
        classes = int(labels.max()) + 1
        probs, labels = out_of_fold(
            unfitted(self.model), X, labels, classes=classes, rng=np.random.default_rng(self.random_state)
        )
        with np.errstate(divide="ignore"):
            temperature = fit_temperature(np.log(probs), labels)
        return self._fit_model(X, labels, unlabelled), temperature

    def _temperature(self, model: Any, X: Any, labels: Indices) -> float:
        if len(labels) == 0:
            return 1.0
        classes = int(max(labels.max(), np.max(model.classes_))) + 1
        with np.errstate(divide="ignore"):
            return fit_temperature(np.log(protocol.predict_proba(model, X, classes)), labels, strength=0)


def is_held_out(X: Any) -> NDArray[np.bool_]:
    """Give which rows the method "held-out" never trains on, (n,): about one in five, by their content."""
    return np.array([_checksum(X, row) % HELD_OUT == 0 for row in range(len(X))], dtype=bool)


def _checksum(X: Any, row: int) -> int:
    item = as_array(take(X, np.array([row])))
    return zlib.crc32(repr(item.tolist()).encode() if item.dtype.hasobject else item.tobytes())
