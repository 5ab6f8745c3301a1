"""A classifier with temperature scaling built in: the paper's baseline, and a form that sets no labels aside.

"held-out" (Least-conf-TS): fit on 80 % of the labelled rows, temperature on the other 20 %.
"cross-fit": fit on all of them, temperature from out-of-fold predictions.

What the paper (Bui et al. 2026) states of Least-conf-TS: after each query 80 % of the labelled samples train the
network and 20 % serve for temperature scaling.

What it leaves open, and how it is decided here:
- Which temperature scaling: its text cites an adaptive one (Balanya et al.), its appendix the plain one (Guo et al.
  2017). Here it is the plain one, fitted by likelihood without a prior, between 0.22 and 20.
- Whether the split is drawn again in each round. With a network that continues from round to round, a row of a new
  split would have been trained on before. So an item's content decides its side, once and for all: a fifth in the mean,
  the same with every seed.
- What the strategy sees: the tempered probabilities.
- Rows of a class that the model has no column for say nothing about its temperature. A held-out side that is still
  empty leaves the temperature at 1.
"""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal._checks import as_array, as_count
from cusal._item_hash import content_keys
from cusal._items import take
from cusal._types import Indices
from cusal._wrapper import Probs, Wrapper, classes_of, unfitted
from cusal.errors import NotReady, UnknownName
from cusal.recalibration.out_of_sample import LabelledPoints, OutOfSample
from cusal.recalibration.temperature import apply_temperature, fit_temperature

METHODS = ("held-out", "cross-fit")
HELD_OUT = 5  # one row in five is held out, as in the paper's baseline


class TemperatureScaled(Wrapper):
    """A classifier whose probabilities are tempered by its own labelled data.

    Use it to compare with the paper's baseline, or outside of a session; a session recalibrates by itself.

    Parameters
    ----------
    model : classifier
        Has `fit` and `predict_proba`. It stays as it is: the fitted copy is `model_`, which continues from the fit
        before if `model` has `warm_start`.
    method : str
        "held-out", the paper's baseline, fits the model to 80 % of the rows and a plain temperature to the rest.
        "cross-fit" fits the model to all rows, and the temperature, with its prior, to what copies of the model that
        were fitted without a row say about it: six fits in place of one. Of a model with `warm_start` the copies
        continue from fit to fit as well.
    random_state : int, optional
        Seeds the folds; the model has its own.

    Attributes
    ----------
    temperature_ : float
        Logits are divided by it; above 1 it makes the model less confident.
    model_ : classifier
        The fitted model.
    classes_ : array, (classes,)
        The class numbers of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> TemperatureScaled(GaussianNB(), method="cross-fit", random_state=0).fit(X, y).temperature_ > 1
    True
    """

    temperature_: float
    fits_: int  # of the model so far, if it starts warm
    unseen_: OutOfSample | None  # of the method "cross-fit"

    def __init__(self, model: Any, *, method: str = "held-out", random_state: int | None = None) -> None:
        self.model = model
        self.method = method
        self.random_state = random_state

    def fit(self, X: Any, y: Any, unlabelled: Any = None) -> Self:
        """Fit the model and its temperature.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.
        y : array-like, (n,)
            Class numbers, or labels of any kind.
        unlabelled : items, (m, ...), optional
            Further items, for a model that uses them.

        Returns
        -------
        TemperatureScaled
            The classifier itself.

        Raises
        ------
        InvalidInput, UnknownName
            If y holds no classes, or a setting does not exist.
        NotReady
            If the rows that are not held out are of fewer than two classes.
        """
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        if self.random_state is not None:
            as_count(self.random_state, "random_state", least=0)
        X, labels, names = self._numbered(X, y)
        points = LabelledPoints(X, labels, content_keys(X), unlabelled)
        fits = self.fits_ + 1 if self.warm_start and hasattr(self, "fits_") else 1
        self.model_, self.temperature_, self.unseen_ = (
            self._hold_out(points) if self.method == "held-out" else self._cross_fit(points, fits)
        )
        self.fits_ = fits
        self._learn_classes(X, names)
        return self

    def _changed(self, probs: Any, X: Any) -> Probs:
        rows = as_array(probs)
        return apply_temperature(rows.reshape(-1, rows.shape[-1]), self.temperature_).reshape(rows.shape)

    def _hold_out(self, points: LabelledPoints) -> tuple[Any, float, None]:
        held_out = points.keys % HELD_OUT == 0
        inside, outside = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        if len(np.unique(points.y[inside])) < min(2, len(np.unique(points.y))):
            raise NotReady(
                f"of {len(points.y)} row(s), those that are not held out are of {len(np.unique(points.y[inside]))} "
                "class(es), and a classifier needs two; label more, or use cross-fit."
            )
        model = self._fit_model(take(points.X, inside), points.y[inside], points.unlabelled)
        if len(outside) == 0:
            return model, 1.0, None
        labels = points.y[outside]
        probs = protocol.predict_proba(model, take(points.X, outside), _known(model, points))
        return model, _fit_temperature(probs, labels, strength=0), None

    def _cross_fit(self, points: LabelledPoints, fits: int) -> tuple[Any, float, OutOfSample]:
        model = self._fit_model(points.X, points.y, points.unlabelled)
        before = getattr(self, "unseen_", None) if fits > 1 else None
        unseen = OutOfSample() if before is None else copy.deepcopy(before)
        rng = np.random.default_rng(self.random_state)
        probs, labels = unseen.predict(
            "cross-fit", unfitted(self.model), points, fits=fits, classes=_known(model, points), rng=rng
        )
        return model, _fit_temperature(probs, labels), unseen


def is_held_out(X: Any) -> NDArray[np.bool_]:
    """Return which rows the method "held-out" never trains on.

    Parameters
    ----------
    X : items, (n, ...)
        Labelled items.

    Returns
    -------
    array of bool, (n,)
        True for about one in five, by their content.
    """
    return np.asarray(content_keys(X) % HELD_OUT == 0)


def _known(model: Any, points: LabelledPoints) -> int:
    """Return how many classes there are: those of the labels and those that the model has a column for."""
    return int(max(points.y.max(), classes_of(model, points.X).max(), 1)) + 1


def _fit_temperature(probs: Any, labels: Indices, **settings: Any) -> float:
    with np.errstate(divide="ignore"):
        return fit_temperature(np.log(probs), labels, **settings)
