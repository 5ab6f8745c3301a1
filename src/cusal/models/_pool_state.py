"""A fitted `PoolClassifier` as plain values and arrays, enough to predict with, and back.

Its items are not in it, but their encoded features are, in float32: an item is moved towards its neighbours in the
pool. What a second of computing brings back is left out.
"""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from cusal._arguments import is_whole
from cusal._stored import expect, stored_array
from cusal.models._points import Space
from cusal.models.experts.kernel import Kernel
from cusal.models.pool_classifier import PoolClassifier


def to_state(model: PoolClassifier) -> dict[str, Any]:
    """Return the settings and what was fitted, by name.

    >>> model = PoolClassifier(C=2.0).fit([[0.0], [1.0]], [0, 1])
    >>> to_state(model)["settings"]["C"], from_state(to_state(model)).predict([[0.9]])
    (2.0, array([1]))
    """
    return {
        "settings": model.get_params(),
        "fitted": {"classes_": model.classes_, "n_features_in_": model.n_features_in_},
        "space": model.space_.state(),
        "head": model.head_.state(),
    }


def from_state(state: Mapping[str, Any]) -> PoolClassifier:
    """Return the fitted classifier of `to_state`."""
    model, fitted = PoolClassifier(**state["settings"]), state["fitted"]
    space = Space.from_state(state["space"])
    model.space_, model.n_features_in_ = space, columns_of(fitted["n_features_in_"], space)
    model.classes_ = classes_of(fitted["classes_"])
    model.head_ = Kernel.from_state(state["head"], space, len(model.classes_))
    return model


def classes_of(value: Any) -> NDArray[Any]:
    """Return the classes of a stored model, sorted; raise `DataError` if they are none."""
    found = stored_array(value, "the list of classes", None, kinds="biufSUMm")
    expect(len(found) > 1 and (found[1:] > found[:-1]).all(), "the list of classes")
    return found


def columns_of(value: Any, space: Space) -> int:
    """Return how many columns items have; raise `DataError` if those of their space are others."""
    expect(is_whole(value) and value == len(space.encoding.directions), "the number of columns")
    return int(value)
