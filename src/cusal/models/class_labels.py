"""The labels of a fit as class numbers, and the classes that these stand for.

Integers within 0 .. outputs - 1 are class numbers: each is the number of its column, and classes that were not met keep
theirs. All other labels, such as strings, are sorted as in scikit-learn, and there must be one output for each.
"""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array, as_labels
from cusal._types import Indices
from cusal.errors import InvalidInput


def number_labels(
    y: Any, *, count: int, outputs: int, known: NDArray[Any] | None = None
) -> tuple[Indices, NDArray[Any]]:
    """Return class numbers (n,) and the classes (outputs,) that they stand for.

    Parameters
    ----------
    y : array-like, (n,)
        Labels of any kind.
    count : int
        How many labels there must be.
    outputs : int
        How many classes the network has.
    known : array, (outputs,), optional
        The classes of the fit before, where the network continues from it.

    Raises
    ------
    InvalidInput
        If y is no list of classes, or has another number of classes than the network.
    """
    labels = _as_one_column(y, count)
    if known is not None and not np.array_equal(known, np.arange(outputs)):
        return _numbers_among(known, labels), known
    is_number = labels.dtype.kind in "biu"
    if is_number and (known is not None or (labels.min() >= 0 and labels.max() < outputs)):
        return as_labels(labels, "y", count=count, classes=outputs), np.arange(outputs)
    classes, numbers = _sorted_classes(labels)
    if known is None and len(classes) == outputs:
        return numbers.astype(np.int64), classes
    if is_number:
        as_labels(labels, "y", count=count, classes=outputs)
    raise InvalidInput(
        f"y holds {len(classes)} classes of {labels.dtype}, but the module has {outputs} outputs. Give the module an "
        f"output for each class, or number the classes from 0 to {outputs - 1} as integers."
    )


def _as_one_column(y: Any, count: int) -> NDArray[Any]:
    if np.ma.is_masked(y):
        raise InvalidInput("y is a masked array with masked labels; drop these rows from X and y.")
    try:
        labels = as_array(y)
    except ValueError as error:
        raise InvalidInput("y is a ragged list; expected one label for each row of X.") from error
    if labels.ndim != 1 or len(labels) != count:
        raise InvalidInput(f"y has shape {labels.shape}; expected ({count},), one label for each row.")
    if labels.dtype.kind == "O" and all(isinstance(label, Integral) for label in labels):
        labels = labels.astype(np.int64)
    return labels


def _sorted_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidInput("y holds NaN or infinity; label these rows, or drop them from X and y.")
    if labels.dtype.kind in "fc" and (labels != np.round(labels)).any():
        raise InvalidInput(
            f"y holds {len(np.unique(labels))} classes in {len(labels)} labels, of {labels.dtype} such as "
            f"{labels[labels != np.round(labels)][0]:g}: a quantity, not classes. "
            "A classifier needs classes; sort the values into a few ranges first."
        )
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InvalidInput(
            f"y holds labels that cannot be sorted ({error}); expected labels of one kind. "
            "Fill missing ones, and turn all into strings or class numbers."
        ) from error
    return classes, numbers


def _numbers_among(known: NDArray[Any], labels: NDArray[Any]) -> Indices:
    places = {label: number for number, label in enumerate(known.tolist())}
    numbers = [places.get(label, -1) for label in labels.tolist()]
    if -1 in numbers:
        row = numbers.index(-1)
        raise InvalidInput(
            f"y: row {row} is {labels[row]!r}, which the fit before did not know; its classes are {known.tolist()}. "
            "Set warm_start=False to begin with other classes."
        )
    return np.array(numbers, dtype=np.int64)
