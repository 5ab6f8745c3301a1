"""A fitted `PoolClassifier` as plain values and arrays, enough to predict with, and back.

Its items are not in it, but their encoded features are, in float32: an item is moved towards its neighbours in the
pool. What a second of computing brings back is left out.
"""

from collections.abc import Mapping
from typing import Any

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
    model = PoolClassifier(**state["settings"])
    for name, value in state["fitted"].items():
        setattr(model, name, value)
    model.space_, model.head_ = Space.from_state(state["space"]), Kernel.from_state(state["head"])
    return model
