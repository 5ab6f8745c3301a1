"""Items and labels of any kind, as a classifier around another is given them: checked, and as class numbers.

Whole numbers from 0 on are class numbers. Labels of any other kind, such as texts, are numbered in sorted order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from cusal._checks import as_labels
from cusal._items import count_items, is_sparse
from cusal._types import Indices
from cusal.errors import InvalidInput


def checked_items(X: Any, *, allow_nan: bool) -> Any:
    """Return items that have a length and can be indexed, as they are or as an array.

    Raises
    ------
    InvalidInput
        If an array of numbers is complex, or holds NaN or infinity and the model takes none.
    """
    if is_sparse(X):
        return X.tocsr()
    items = X if hasattr(X, "__len__") or not hasattr(X, "__array__") else np.asarray(X)
    kind = getattr(getattr(items, "dtype", None), "kind", "")
    if kind == "c":
        raise InvalidInput("Complex data not supported: items are complex numbers; give their parts as columns.")
    if kind == "f" and isinstance(items, np.ndarray) and not allow_nan:
        with _as_own_errors():
            assert_all_finite(items, input_name="X")
    return items


@contextmanager
def _as_own_errors() -> Iterator[None]:
    """Raise errors of scikit-learn's checks as `InvalidInput`, with their text: they say what was met and expected."""
    try:
        yield
    except ValueError as error:
        raise InvalidInput(str(error)) from error


def number_labels(X: Any, y: Any, names: NDArray[Any] | None = None) -> tuple[Indices, NDArray[Any] | None]:
    """Return the class numbers (n,) of labels, and the names of the numbers, None for labels that are class numbers.

    Parameters
    ----------
    X : items, (n, ...)
        The items that they belong to.
    y : (n,) labels
        Of any kind that can be sorted.
    names : array, optional
        The names of an earlier fit, which keep their numbers.

    Raises
    ------
    InvalidInput
        If there is not one label for each item, or they are a quantity.
    """
    with _as_own_errors():
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    if len(labels) != count_items(X):
        raise InvalidInput(f"y has {len(labels)} labels for {count_items(X)} items; give one for each.")
    if names is None and labels.dtype.kind in "iu" and labels.min(initial=0) >= 0:
        return as_labels(labels, "y", count=len(labels), classes=int(labels.max(initial=1)) + 1), None
    known = np.unique(labels) if names is None else names
    numbers = np.searchsorted(known, labels)
    strange = known[np.minimum(numbers, len(known) - 1)] != labels
    if strange.any():
        raise InvalidInput(
            f"y: row {int(strange.argmax())} is {labels[strange.argmax()]!r}, which the fit before did not know; a "
            "model that starts warm keeps its classes."
        )
    return numbers.astype(np.int64), known
