"""Every public function here is a metric: (probs, labels) -> float, on the whole set given.

`probs` is (n, classes), with rows that sum to one. `labels` is (n,): column numbers, or labels of any kind if `classes`
names the columns in order, as in `ece(session.predict_proba(X), y, classes=session.classes_)`. Any other label is an
error.

    accuracy                  mean [argmax p = y]
    balanced_accuracy         mean over classes with a label of the share of them that is recognised
    macro_f1                  mean over classes, labelled or predicted, of 2 hits / (labelled + predicted)
    ece                       sum over bins of share * |mean confidence - accuracy|      (Naeini et al. 2015)
    max_calibration_error     the largest gap of one bin
    classwise_ece             mean over classes of the ece of (p_k, [y = k])             (Kull et al. 2019)
    brier                     mean sum_k (p_k - [y = k])^2
    nll                       mean -log p_y

Bins: reliability.py.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_labels, as_named_labels, as_probs
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput
from cusal.metrics.reliability import Reliability, reliability

__all__ = [
    "Reliability",
    "accuracy",
    "balanced_accuracy",
    "brier",
    "classwise_ece",
    "ece",
    "macro_f1",
    "max_calibration_error",
    "nll",
    "reliability",
]


def __dir__() -> list[str]:
    return __all__


# The most that one item can add to `nll` is -log of the smallest normal float64.
_SMALLEST = np.finfo(np.float64).tiny


def accuracy(probs: Any, labels: Any, *, classes: Any = None) -> float:
    """Return the accuracy: the share of items whose highest probability is that of their label.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> accuracy([[0.8, 0.2], [0.4, 0.6]], [0, 0])
    0.5
    >>> accuracy([[0.8, 0.2], [0.4, 0.6]], ["cat", "dog"], classes=["cat", "dog"])
    1.0
    """
    probs, labels = _checked(probs, labels, classes)
    return float(np.mean(probs.argmax(axis=1) == labels))


def balanced_accuracy(probs: Any, labels: Any, *, classes: Any = None) -> float:
    """Return the mean over classes of the share of their items that is recognised: rare classes count like others.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> balanced_accuracy([[0.8, 0.2], [0.7, 0.3], [0.9, 0.1], [0.4, 0.6]], [0, 0, 1, 1])
    0.75
    """
    hits, labelled, _ = _counts(*_checked(probs, labels, classes))
    return float(np.mean(hits[labelled > 0] / labelled[labelled > 0]))


def macro_f1(probs: Any, labels: Any, *, classes: Any = None) -> float:
    """Return the mean over classes of F1, the harmonic mean of precision and recall.

    Classes that are neither labelled nor predicted are left out.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> macro_f1([[0.8, 0.2], [0.7, 0.3], [0.9, 0.1], [0.4, 0.6]], [0, 0, 1, 1])
    0.7333333333333334
    """
    hits, labelled, predicted = _counts(*_checked(probs, labels, classes))
    met = labelled + predicted > 0
    return float(np.mean(2 * hits[met] / (labelled + predicted)[met]))


def _counts(probs: Floats, labels: Indices) -> tuple[Indices, Indices, Indices]:
    """Return how often each class is recognised, labelled and predicted, (classes,) each."""
    answers, classes = probs.argmax(axis=1), probs.shape[1]
    return tuple(np.bincount(each, minlength=classes) for each in (labels[answers == labels], labels, answers))  # type: ignore[return-value]


def ece(probs: Any, labels: Any, bins: int = 10, *, classes: Any = None) -> float:
    """Return the expected calibration error: how far the confidence is from the accuracy, on average.

    The confidence of an item is its highest probability. Items are binned by it.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    bins : int, default 10
        Number of bins of equal width between 0 and 1.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 1; 0 is best.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> round(ece([[0.8, 0.2], [0.8, 0.2]], [0, 0]), 3)
    0.2
    """
    probs, labels = _checked(probs, labels, classes)
    return _mean_gap(probs.max(axis=1), probs.argmax(axis=1) == labels, bins)


def max_calibration_error(probs: Any, labels: Any, bins: int = 10, *, classes: Any = None) -> float:
    """Return the maximum calibration error: the largest gap between mean confidence and accuracy of one bin.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    bins : int, default 10
        Number of bins of equal width between 0 and 1.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 1; 0 is best.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> round(max_calibration_error([[0.8, 0.2], [0.4, 0.6]], [0, 0]), 3)
    0.6
    """
    probs, labels = _checked(probs, labels, classes)
    return float(reliability(probs.max(axis=1), probs.argmax(axis=1) == labels, bins).gap.max())


def classwise_ece(probs: Any, labels: Any, bins: int = 10, *, classes: Any = None) -> float:
    """Return the classwise calibration error: the mean over the classes of the error of each class's probability.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    bins : int, default 10
        Number of bins of equal width between 0 and 1.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 1; 0 is best.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> round(classwise_ece([[0.8, 0.2], [0.8, 0.2]], [0, 0]), 3)
    0.2
    """
    probs, labels = _checked(probs, labels, classes)
    return float(np.mean([_mean_gap(column, labels == k, bins) for k, column in enumerate(probs.T)]))


def brier(probs: Any, labels: Any, *, classes: Any = None) -> float:
    """Return the Brier score: the mean squared distance between the probabilities and the one-hot label.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        Between 0 and 2; 0 is best.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> round(brier([[0.8, 0.2], [0.4, 0.6]], [0, 0]), 3)
    0.4
    """
    probs, labels = _checked(probs, labels, classes)
    squares = np.einsum("nk,nk->n", probs, probs, dtype=np.float64)
    return float(np.mean(squares - 2 * probs[np.arange(len(labels)), labels] + 1))


def nll(probs: Any, labels: Any, *, classes: Any = None) -> float:
    """Return the mean negative log likelihood of the labels.

    A probability of zero counts as the smallest normal float64, so that the result is finite.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities; each row sums to one.
    labels : (n,) array
        Column numbers, or labels of any kind if `classes` names the columns.
    classes : (classes,) array, optional
        The label of each column, in order.

    Returns
    -------
    float
        0 or more, in nats; 0 is best.

    Raises
    ------
    InvalidInput
        If there are no rows, a row is not a probability distribution, or a label is not one of the classes.

    Examples
    --------
    >>> round(nll([[0.8, 0.2], [0.5, 0.5]], [0, 0]), 3)
    0.458
    """
    probs, labels = _checked(probs, labels, classes)
    own = probs[np.arange(len(labels)), labels].astype(np.float64)
    return float(-np.log(np.maximum(own, _SMALLEST)).mean())


def _checked(probs: Any, labels: Any, classes: Any) -> tuple[Floats, Indices]:
    probs = as_probs(probs)
    if len(probs) == 0:
        raise InvalidInput("probs has no rows; a metric needs at least one item.")
    if classes is not None:
        return probs, as_named_labels(labels, classes, count=len(probs), columns=probs.shape[1])
    return probs, as_labels(labels, count=len(probs), classes=probs.shape[1])


def _mean_gap(scores: Floats, hits: NDArray[np.bool_], bins: int) -> float:
    binned = reliability(scores, hits, bins)
    return float(binned.gap @ binned.share)
