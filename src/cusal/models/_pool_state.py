"""A fitted `PoolClassifier` as plain values and arrays, enough to predict with, and back.

Its items are not in it, but their encoded features are, in float32: an item is moved towards its neighbours in the
pool. What a second of computing brings back is left out.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from cusal.models._encoding import Encoding
from cusal.models._smoothed_pool import SmoothedPool
from cusal.models.pool_classifier import PoolClassifier

FITTED = ("classes_", "n_features_in_", "labelled_", "labelled_rows_", "gamma_", "dual_coef_", "intercept_")


def to_state(model: PoolClassifier) -> dict[str, Any]:
    """Return the settings and what was fitted, by name.

    >>> model = PoolClassifier(C=2.0).fit([[0.0], [1.0]], [0, 1])
    >>> to_state(model)["settings"]["C"], from_state(to_state(model)).predict([[0.9]])
    (2.0, array([1]))
    """
    encoding = asdict(model.encoding_)
    if encoding["sparse_scale"] is not None:  # (terms, components): by far the largest part of texts
        encoding["directions"] = encoding["directions"].astype(np.float32)
    return {
        "settings": model.get_params(),
        "fitted": {name: getattr(model, name) for name in FITTED},
        "encoding": encoding,
        "pool": None if model.pool_ is None else model.pool_.state(),
    }


def from_state(state: Mapping[str, Any]) -> PoolClassifier:
    """Return the fitted classifier of `to_state`."""
    model = PoolClassifier(**state["settings"])
    for name in FITTED:
        setattr(model, name, state["fitted"][name])
    model.encoding_ = Encoding(**state["encoding"])
    model.pool_ = None if state["pool"] is None else SmoothedPool.restore(state["pool"], model.encoding_)
    return model
