"""A classifier made uncalibrated on purpose: the contrast of the paper's first figure.

Bui et al., Figure 1, "Uncalibrated-least-conf": least confidence with a model whose logits are randomly scaled for
every sample.

    p'(x) = softmax(s(x) z(x)),   log s(x) uniform in [-log spread, log spread]

| symbol | name |
|---|---|
| z | logits, or log probabilities: both have the same softmax |
| s | the scale of an item |
| spread | the largest scale; the smallest is 1 / spread |

Left open in the paper, and decided here:
- The distribution of the scales. Log-uniform makes an item as likely too sure as too timid by the same factor.
- How long a scale lasts. It is a fixed function of the item's content and the seed: an item is scaled alike however
  often, and with whatever others, it is predicted. A session gives each round a seed of its own, and with it new
  scales, unless `random_state` is given.
- Where it acts: in `predict_proba` and all that follows from it, so that the strategy's choices and the measured
  calibration error are both those of the uncalibrated model. The most probable class, hence accuracy, is the model's.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from cusal._checks import as_array, as_count, as_positive, as_probs
from cusal._item_hash import content_keys
from cusal._label_numbers import checked_items
from cusal._wrapper import Probs, Wrapper
from cusal.errors import InvalidInput


class Uncalibrated(Wrapper):
    """A classifier whose logits are scaled at random, each item's by a factor of its own.

    Use it as the contrast in an experiment: it chooses and predicts with confidence that says nothing.

    Parameters
    ----------
    model : classifier
        Has `fit` and `predict_proba`. It stays as it is: the fitted copy is `model_`, which continues from the fit
        before if `model` has `warm_start`.
    spread : float
        Scales lie between 1 / spread and spread; 1 changes nothing.
    random_state : int, optional
        Seeds the scales; None draws new ones with each fit. The model has its own.

    Attributes
    ----------
    model_ : classifier
        The fitted model.
    classes_ : array, (classes,)
        The class numbers of the columns.
    seed_ : int
        The seed of the scales.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> model = Uncalibrated(GaussianNB(), random_state=0).fit(X, y)
    >>> bool((model.predict(X) == model.model_.predict(X)).all())
    True
    """

    def __init__(self, model: Any, *, spread: float = 10.0, random_state: int | None = None) -> None:
        self.model = model
        self.spread = spread
        self.random_state = random_state

    def fit(self, X: Any, y: Any, unlabelled: Any = None) -> Self:
        """Fit the model; the scales need no fit.

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
        Uncalibrated
            The classifier itself.

        Raises
        ------
        InvalidInput
            If `spread` is below 1 or `random_state` is no seed.
        """
        if as_positive(self.spread, "spread") < 1:
            raise InvalidInput(f"spread is {self.spread:g}; expected 1 or more: the largest scale of the logits.")
        seed = np.random.default_rng().integers(2**63) if self.random_state is None else self.random_state
        X, numbers, names = self._numbered(X, y)
        self.model_ = self._fit_model(X, numbers, unlabelled)
        self.seed_ = as_count(seed, "random_state", least=0)
        self._learn_classes(X, names)
        return self

    def scales(self, X: Any) -> NDArray[np.float64]:
        """Return what the logits of each item are multiplied by, (n,)."""
        self._fitted()
        items = checked_items(X, allow_nan=True)
        return np.asarray(self.spread ** (2 * (content_keys(items, self.seed_) / 2.0**64) - 1))

    def _changed(self, probs: Any, X: Any) -> Probs:
        given = as_array(probs)
        given = as_probs(given.reshape(-1, given.shape[-1])).astype(np.float64).reshape(given.shape)
        scales = self.scales(X).reshape(-1, *(1 for _ in given.shape[1:]))
        with np.errstate(divide="ignore"):  # log 0 is -inf, whose softmax is 0 again
            return np.asarray(softmax(np.log(given) * scales, axis=-1))
