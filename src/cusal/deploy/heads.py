"""The fitted classifier of a model file: arrays where it is cusal's own, settings and labelled vectors otherwise.

A scikit-learn classifier is fitted again when the file is read, to the same vectors and labels with the same seed:
its fitted state could only be pickled. One of another package is named, and reading the file then needs trust.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from cusal import _protocol as protocol
from cusal._import_name import import_name
from cusal._types import Indices
from cusal.errors import DataError, InvalidInput
from cusal.models import PoolClassifier
from cusal.models._pool_state import from_state, to_state

PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class FittedHead:
    """A fitted classifier, and the vectors (labelled, columns) and class numbers (labelled,) that it was fitted to."""

    model: Any
    vectors: Any
    numbers: Indices

    def state(self) -> dict[str, Any]:
        """Return the classifier as plain values, arrays and estimators of scikit-learn."""
        name = f"{type(self.model).__module__}:{type(self.model).__qualname__}"
        if isinstance(self.model, PoolClassifier):
            return {"kind": "pool", "model": to_state(self.model), "name": name}
        if getattr(self.model, "uses_unlabelled", False):
            raise InvalidInput(
                f"{name} learns from unlabelled items, which a model file does not hold; export the labels alone, or "
                "label with another model."
            )
        if not name.startswith("sklearn."):
            settings = self.model.get_params(deep=False) if hasattr(self.model, "get_params") else {}
            plain = {key: value for key, value in settings.items() if isinstance(value, PLAIN)}
            return {"kind": "named", "name": name, "settings": plain, **self._data()}
        from sklearn.base import clone

        return {"kind": "refit", "model": clone(self.model), "name": name, **self._data()}

    def _data(self) -> dict[str, Any]:
        if not issparse(self.vectors):
            return {"vectors": np.asarray(self.vectors), "sparse": False, "numbers": self.numbers}
        rows = self.vectors.tocsr()
        return {
            "vectors": (rows.data, rows.indices, rows.indptr, rows.shape),
            "sparse": True,
            "numbers": self.numbers,
        }


def restore_head(state: Mapping[str, Any], *, trusted: bool) -> protocol.Model:
    """Return the fitted classifier of a `FittedHead.state`."""
    if state["kind"] == "pool":
        return from_state(state["model"])
    if state["kind"] == "refit":
        model = state["model"]
    elif not trusted:
        raise DataError(
            f"the model is a {state['name']}, and making one runs code of that package; if you trust where the file "
            "comes from, load it with trusted=True (--trust)."
        )
    else:
        model = import_name(state["name"], "model")(**state["settings"])
    vectors = csr_matrix(state["vectors"][:3], shape=state["vectors"][3]) if state["sparse"] else state["vectors"]
    model.fit(vectors, state["numbers"])
    return model  # type: ignore[no-any-return]
