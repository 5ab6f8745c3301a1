"""Every strategy of cusal as a query strategy of scikit-activeml (0.6.1 and 1.0.1).

The way back, strategies of scikit-activeml in a `Session` and in grids, needs nothing from here: they are named like
strategies of one's own, "skactiveml.pool:UncertaintySampling".
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
from skactiveml.utils import MISSING_LABEL, check_equal_missing_label, check_type, is_labeled
from sklearn.base import clone

from cusal import strategies
from cusal._types import Floats, Indices
from cusal.adapters._fitted_model import FittedModel
from cusal.adapters._fitted_view import Labelled, fitted_view
from cusal.adapters._utilities import ranked, with_places
from cusal.errors import NotReady
from cusal.session.cold_start import typical_items
from cusal.strategies._strategy import Strategy

Picks = NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.float64]]


class SkactivemlStrategy(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """A strategy of cusal as a query strategy of scikit-activeml.

    It follows that library's conventions: nothing is checked before `query`, indices are positions in X, and asking
    for more items than are open warns and returns those that are left.

    Parameters
    ----------
    strategy : str or Strategy, default "cusal"
        A name, or an object such as `cusal.strategies.Cusal(bandwidth=0.01)`.
    missing_label : scalar, str, NaN or None, default NaN
        What stands in y for a label that is missing.
    random_state : int or RandomState, optional
        Seed of every random choice.

    Examples
    --------
    >>> from skactiveml.classifier import SklearnClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.linspace(-1, 1, 9)[:, None], np.array([0.0, *[np.nan] * 7, 1.0])
    >>> model = SklearnClassifier(LogisticRegression(), classes=[0, 1])
    >>> SkactivemlStrategy("margin").query(X, y, model, batch_size=1)
    array([4])
    """

    def __init__(
        self, strategy: str | Strategy = "cusal", missing_label: Any = MISSING_LABEL, random_state: Any = None
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.strategy = strategy

    # The parameters and their order are scikit-activeml's.
    def query(
        self,
        X: Any,
        y: Any,
        clf: Any,
        fit_clf: bool = True,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Picks:
        """Return the items to label next.

        Parameters
        ----------
        X : (n, ...) array
            All items, labelled or not.
        y : (n,) array
            Their labels; `missing_label` where there is none.
        clf : SkactivemlClassifier
            The model. It stays as it is: a copy is fitted.
        fit_clf : bool, default True
            Whether to fit a copy of `clf` to X and y, or to use it as it was fitted.
        candidates : (k,) integers or (k, ...) array, optional
            Positions of the items to choose from, or items that need not be in X; those without a label by default.
        batch_size : int, default 1
            Number of items to choose.
        return_utilities : bool, default False
            Whether to return the utilities too.

        Returns
        -------
        query_indices : (batch_size,) array
            Positions in X, or in `candidates` if these are items; best first.
        utilities : (batch_size, n) array
            The utility of each item before each pick; NaN for those that are no candidates or were picked. Of a
            strategy that builds its batch jointly, only the picks have a utility above zero.
        """
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        open_items, mapping = self._transform_candidates(candidates, X, y)
        check_type(clf, "clf", SkactivemlClassifier)
        check_equal_missing_label(clf.missing_label, self.missing_label_)
        check_type(fit_clf, "fit_clf", bool)
        strategy = strategies.make(copy.copy(self.strategy))
        model = _fitted(clone(clf).fit(X, y) if fit_clf else clf)
        known = np.flatnonzero(is_labeled(y, self.missing_label_))
        labelled = Labelled(known, model.numbers(y[known]), len(model.labels))
        items, open_at = (X, mapping) if mapping is not None else _beside(X, open_items)
        rng = np.random.default_rng(self.random_state_.randint(2**31 - 1))
        view = fitted_view(model, items, labelled, candidates=open_at, rng=rng)
        try:
            picks, utilities = ranked(strategy, view, batch_size)
        except NotReady:
            if len(known):
                raise
            # What compares with labelled items cannot choose without any; scikit-activeml expects picks all the same.
            picks, utilities = with_places(typical_items(items, view.candidates, batch_size, rng=rng), view)
        shift, size = (0, len(X)) if mapping is not None else (len(X), len(open_items))
        picks = picks - shift
        if not return_utilities:
            return picks
        return picks, _each_step(picks, view.candidates - shift, utilities, size)


def _beside(X: Floats, others: Floats) -> tuple[Floats, Indices]:
    """Return items with others behind them, and the positions of these."""
    return np.concatenate([X, others]), np.arange(len(X), len(X) + len(others))


def _each_step(picks: Indices, candidates: Indices, utilities: Floats, size: int) -> NDArray[np.float64]:
    """Return the utilities (picks, size) of all items before each pick."""
    before = np.full((len(picks), size), np.nan)
    before[:, candidates] = utilities
    for step, pick in enumerate(picks[:-1]):
        before[step + 1 :, pick] = np.nan
    return before


def _fitted(classifier: Any) -> FittedModel:
    """Return the model, whose samples are those of the classifier or of the estimator that it wraps."""
    inside = getattr(classifier, "estimator_", None)
    if inside is not None and not getattr(classifier, "is_fitted_", True):
        inside = None  # too few labels: the classifier answers without the estimator
    if inside is None and hasattr(classifier, "sample_proba"):
        inside = _Frequencies(classifier)
    return FittedModel(classifier.predict_proba, classifier.classes_, inside)


class _Frequencies:
    """The samples of a `ClassFrequencyEstimator`, in the order of axes that cusal uses."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> None:
        """Fit the classifier."""
        self.classifier.fit(X, y)

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities (rows, classes)."""
        return np.asarray(self.classifier.predict_proba(X))

    def sample_proba(self, X: Any, samples: int) -> Floats:
        """Return samples (rows, samples, classes)."""
        sampled = self.classifier.sample_proba(X, n_samples=samples, random_state=0)
        return np.asarray(sampled).transpose(1, 0, 2)
