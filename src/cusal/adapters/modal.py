"""Every strategy of cusal as a query strategy of modAL: a function of the learner, the pool and a number of items.

modAL itself is not imported: it calls, and is not called.
"""

from typing import Any

import numpy as np

from cusal import strategies
from cusal._checks import as_batch_size
from cusal._items import are_texts, as_items, count_items, is_frame, is_sparse, take
from cusal._types import Floats, Indices
from cusal.adapters._fitted_model import FittedModel
from cusal.adapters._fitted_view import Labelled, fitted_view
from cusal.session.cold_start import typical_items
from cusal.strategies._strategy import Strategy


class ModalStrategy:
    """A strategy of cusal as the `query_strategy` of modAL's `ActiveLearner` or `Committee`.

    The labelled items are those that the learner was taught. The members of a committee are its samples. A learner
    that was taught nothing yet gets typical items that differ from each other.

    Parameters
    ----------
    strategy : str or Strategy, default "cusal"
        A name, or an object such as `cusal.strategies.Cusal(bandwidth=0.01)`.
    seed : int, default 0
        Seed of every random choice, together with the number of labelled items.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> model = LogisticRegression().fit(X, y)
    >>> learner = SimpleNamespace(estimator=model, predict_proba=model.predict_proba, X_training=X, y_training=y)
    >>> pool = np.array([[0.9], [0.1], [-0.8]])
    >>> ModalStrategy("margin")(learner, pool, n_instances=1)
    (array([1]), array([[0.1]]))
    """

    def __init__(self, strategy: str | Strategy = "cusal", *, seed: int = 0) -> None:
        self.strategy, self.seed = strategies.make(strategy), seed

    def __repr__(self) -> str:
        return f"ModalStrategy({self.strategy!r}, seed={self.seed})"

    def __call__(self, classifier: Any, X_pool: Any, n_instances: int = 1) -> tuple[Indices, Any]:
        """Return the positions in the pool of the items to label next, best first, and these items.

        Parameters
        ----------
        classifier : modAL.models.ActiveLearner or modAL.models.Committee
            The learner, fitted.
        X_pool : (n, ...) array, sparse matrix, data frame or list
            The open items.
        n_instances : int, default 1
            Number of items to choose.
        """
        pool = as_items(X_pool)
        count = as_batch_size(n_instances, count_items(pool))
        known, labels = _taught(classifier)
        size = 0 if known is None else count_items(known)
        rng = np.random.default_rng([self.seed, size])
        if size == 0:
            picks = typical_items(pool, np.arange(count_items(pool)), count, rng=rng)
        else:
            model = _fitted(classifier)
            labelled = Labelled(np.arange(size), model.numbers(labels), len(model.labels))
            items, open_at = _stacked(known, pool), size + np.arange(count_items(pool))
            view = fitted_view(model, items, labelled, candidates=open_at, rng=rng)
            picks = self.strategy.query(view, count).indices - size
        # A pair, always: modAL 0.4.2.1 takes a plain array of two picks for picks and something else.
        return picks, take(pool, picks)


def _taught(classifier: Any) -> tuple[Any, Any]:
    """Return the labelled items and their labels; members of a committee may have been taught different ones."""
    learners = getattr(classifier, "learner_list", [classifier])
    taught = [(each.X_training, each.y_training) for each in learners if each.X_training is not None]
    if not taught:
        return None, None
    items, labels = taught[0]
    for more, their_labels in taught[1:]:
        items, labels = _stacked(items, more), np.concatenate([labels, their_labels])
    if len(taught) > 1 and isinstance(items, np.ndarray):
        _, rows = np.unique(items, axis=0, return_index=True)
        items, labels = items[np.sort(rows)], np.asarray(labels)[np.sort(rows)]
    return items, labels


def _fitted(classifier: Any) -> FittedModel:
    if hasattr(classifier, "vote_proba"):
        return FittedModel(classifier.predict_proba, classifier.classes_, _Votes(classifier))
    return FittedModel(classifier.predict_proba, classifier.estimator.classes_, classifier.estimator)


class _Votes:
    """The members of a committee as samples of a model."""

    def __init__(self, committee: Any) -> None:
        self.committee = committee

    def fit(self, X: Any, y: Any) -> None:
        """Fit the committee."""
        self.committee.fit(X, y)

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities (rows, classes)."""
        return np.asarray(self.committee.predict_proba(X))

    def sample_proba(self, X: Any, samples: int) -> Floats:
        """Return the votes of all members (rows, members, classes), of which there may be fewer than `samples`."""
        return np.asarray(self.committee.vote_proba(X))[:, :samples]


def _stacked(first: Any, second: Any) -> Any:
    """Return the items of two containers of one kind in one."""
    if is_sparse(first):
        from scipy.sparse import vstack

        return vstack([first, second]).tocsr()
    if is_frame(first):
        import pandas as pd

        return pd.concat([first, second], ignore_index=True)
    if isinstance(first, list) or are_texts(first):
        return [*first, *second]
    return np.concatenate([first, second])
