"""Every strategy of cusal as a query strategy of small-text (1.4.1)."""

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_text.query_strategies import QueryStrategy

from cusal import _protocol as protocol
from cusal import strategies
from cusal._checks import as_array
from cusal._items import is_sparse
from cusal._types import Floats, Indices
from cusal.adapters._fitted_view import Labelled, fitted_view
from cusal.errors import InvalidInput, MissingMethod
from cusal.strategies._strategy import Strategy


class SmallTextStrategy(QueryStrategy):  # type: ignore[misc]
    """A strategy of cusal as the `query_strategy` of small-text's `PoolBasedActiveLearner`.

    Embeddings are those of the classifier, or vectors of the data set's texts or rows. Samples are predictions under
    dropout, or the members of an ensemble. Rows of the classifier's scores are divided by their sums, since not all
    classifiers of small-text return probabilities.

    Parameters
    ----------
    strategy : str or Strategy, default "cusal"
        A name, or an object such as `cusal.strategies.Cusal(bandwidth=0.01)`.
    seed : int, default 0
        Seed of every random choice, together with the number of labelled items.

    Examples
    --------
    >>> from small_text import SklearnClassifier, SklearnDataset
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[-1.0], [1.0], [0.9], [0.1], [-0.8]]), np.array([0, 1, 1, 1, 0])
    >>> data = SklearnDataset(X, y, target_labels=np.arange(2))
    >>> model = SklearnClassifier(LogisticRegression(), 2)
    >>> _ = model.fit(data[[0, 1]])
    >>> SmallTextStrategy("margin").query(model, data, np.array([2, 3, 4]), np.array([0, 1]), np.array([0, 1]), n=1)
    array([3])
    """

    def __init__(self, strategy: str | Strategy = "cusal", *, seed: int = 0) -> None:
        self.strategy, self.seed = strategies.make(strategy), seed

    def __str__(self) -> str:
        return f"SmallTextStrategy({self.strategy!r}, seed={self.seed})"

    # The parameters and their order are small-text's.
    def query(
        self, clf: Any, dataset: Any, indices_unlabeled: Any, indices_labeled: Any, y: Any, n: int = 10
    ) -> Indices:
        """Return the positions in the data set of the items to label next, best first.

        Parameters
        ----------
        clf : small_text.classifiers.Classifier
            The model, fitted.
        dataset : small_text.data.Dataset
            All items.
        indices_unlabeled, indices_labeled : (k,) integers
            Positions of the open and of the labelled items.
        y : (labelled,) integers
            Class numbers of the labelled items.
        n : int, default 10
            Number of items to choose.

        Returns
        -------
        (n,) int64 array
            Positions in the data set.

        Raises
        ------
        EmptyPoolException, PoolExhaustedException
            If fewer items are open.
        InvalidInput
            If items have several labels each.
        """
        self._validate_query_input(indices_unlabeled, n)
        if is_sparse(y):
            raise InvalidInput("y has several labels for an item; cusal's strategies need exactly one for each.")
        known = np.asarray(y) >= 0  # small-text marks labels that are missing or ignored by negative numbers
        numbers = np.asarray(y)[known].astype(np.int64)
        model = _TextModel(clf, dataset)
        classes = model.count_classes(dataset[np.asarray(indices_unlabeled)[:1]], numbers)
        labelled = Labelled(np.asarray(indices_labeled, dtype=np.int64)[known], numbers, classes)
        rng = np.random.default_rng([self.seed, len(numbers)])
        view = fitted_view(model, dataset, labelled, candidates=indices_unlabeled, rng=rng)
        return self.strategy.query(view, n).indices


class _TextModel:
    """A classifier of small-text, whose items are data sets, as a model of cusal."""

    def __init__(self, classifier: Any, dataset: Any) -> None:
        self.classifier = classifier
        self.raw = getattr(dataset, "x", dataset)
        self.inside = getattr(classifier, "model", None)  # scikit-learn's, in a SklearnClassifier
        met = getattr(self.inside, "classes_", None)
        if met is not None:
            self.classes_ = np.asarray(met, dtype=np.int64)

    def count_classes(self, item: Any, numbers: Indices) -> int:
        """Return how many classes the classifier or the labels know; a classifier without a list predicts an item."""
        met = int(self.classes_.max()) + 1 if hasattr(self, "classes_") else self.predict_proba(item).shape[1]
        return max(met, int(getattr(self.classifier, "num_classes", 0) or 0), int(numbers.max(initial=-1)) + 1)

    def fit(self, X: Any, y: Any) -> None:
        """Raise `InvalidInput`: small-text fits it."""
        raise InvalidInput("this model was fitted by small-text; fit it there.")

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities (rows, classes); rows of scores are divided by their sums."""
        return _unit_rows(self.classifier.predict_proba(X))

    def embed(self, X: Any) -> Floats:
        """Return the classifier's embeddings, or dense rows as they are."""
        if hasattr(self.classifier, "embed"):
            return as_array(self.classifier.embed(X))
        rows = getattr(X, "x", X)
        if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "biuf":
            return rows.astype(np.float64)
        raise MissingMethod(f"{type(self.classifier).__name__} has no embed(dataset), and the items are no dense rows.")

    def sample_proba(self, X: Any, samples: int) -> Floats:
        """Return predictions under dropout, or of the members of an ensemble, (rows, samples, classes)."""
        if "dropout_sampling" in inspect.signature(self.classifier.predict_proba).parameters:
            return _unit_rows(self.classifier.predict_proba(X, dropout_sampling=samples))
        if self.inside is None or not hasattr(self, "classes_"):
            raise MissingMethod(
                f"{type(self.classifier).__name__} has no dropout and is not an ensemble of classifiers; use a "
                "strategy that needs no samples."
            )
        drawn = protocol.sample_proba(self.inside, getattr(X, "x", X), samples, classes=int(self.classes_.max()) + 1)
        return np.asarray(drawn[:, :, self.classes_])


def _unit_rows(scores: Any) -> NDArray[np.float64]:
    """Return scores divided by their sums; a row without any score becomes uniform."""
    rows = np.asarray(scores, dtype=np.float64)
    sums = rows.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / rows.shape[-1])
