"""The fitted classifier of a model file: arrays where it has such a form, settings and labelled vectors otherwise.

| kind | classifiers | in the file |
|---|---|---|
| few labels, pool | cusal's own | their state, as arrays |
| network | `TorchClassifier` | the network and its weights |
| arrays | those of `cusal.deploy.array_models` | arrays |
| refit | others of scikit-learn | settings, vectors and labels; fitted at the first prediction |
| named | any other | a name and settings, vectors and labels; making it needs trust |
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from cusal import _protocol as protocol
from cusal._checks import import_name
from cusal._types import Indices
from cusal.deploy.array_models import ArrayModel, as_arrays
from cusal.errors import DataError, InvalidInput
from cusal.models import FewLabelClassifier, PoolClassifier
from cusal.models._pool_state import from_state, to_state

PLAIN = (bool, int, float, str, type(None))
NETWORK = "cusal.models.torch_classifier:TorchClassifier"


@dataclass(frozen=True)
class FittedHead:
    """A fitted classifier, and the vectors (labelled, columns) and class numbers (labelled,) that it was fitted to."""

    model: Any
    vectors: Any
    numbers: Indices

    def state(self) -> dict[str, Any]:
        """Return the classifier as plain values, arrays and objects that a file may hold."""
        name = f"{type(self.model).__module__}:{type(self.model).__qualname__}"
        if isinstance(self.model, PoolClassifier):
            return {"kind": "pool", "model": to_state(self.model), "name": name}
        if type(self.model) is FewLabelClassifier:
            return {"kind": "few labels", "model": self.model.state(), "name": name}
        if name == NETWORK:
            return {"kind": "network", "model": self.model, "name": name}
        if getattr(self.model, "uses_unlabelled", False):
            raise InvalidInput(
                f"{name} learns from unlabelled items, which a model file does not hold; export the labels alone, or "
                "label with another model."
            )
        if not name.startswith("sklearn."):
            settings = self.model.get_params(deep=False) if hasattr(self.model, "get_params") else {}
            plain = {key: value for key, value in settings.items() if isinstance(value, PLAIN)}
            return {"kind": "named", "name": name, "settings": plain, **self._data()}
        arrays = as_arrays(self.model, self.vectors) if _are_numbers(self.vectors) else None
        if arrays is not None:
            return {"kind": "arrays", "model": arrays.state(), "name": name}
        from sklearn.base import clone

        return {"kind": "refit", "model": clone(self.model), "name": name, **self._data()}

    def _data(self) -> dict[str, Any]:
        if not issparse(self.vectors):
            vectors = np.asarray(self.vectors) if _are_numbers(self.vectors) else list(self.vectors)
            return {"vectors": vectors, "sparse": False, "numbers": self.numbers}
        rows = self.vectors.tocsr()
        return {"vectors": (rows.data, rows.indices, rows.indptr, rows.shape), "sparse": True, "numbers": self.numbers}


class Refitted:
    """A classifier that is fitted when it predicts for the first time, to what a file holds."""

    def __init__(self, model: Any, vectors: Any, numbers: Indices) -> None:
        self._model, self._data = model, (vectors, numbers)
        self._fitted, self._lock = False, threading.Lock()

    def fit(self, X: Any, y: Any) -> Any:
        """Fit it to other data."""
        return self._model.fit(X, y)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, (rows, classes)."""
        with self._lock:
            if not self._fitted:
                self._model.fit(*self._data)
                self._fitted = True
        self.classes_ = self._model.classes_
        return self._model.predict_proba(X)


def restore_head(state: Mapping[str, Any], *, trusted: bool) -> protocol.Model:
    """Return the classifier of a `FittedHead.state`."""
    if state["kind"] == "pool":
        return from_state(state["model"])
    if state["kind"] == "few labels":
        return FewLabelClassifier.from_state(state["model"])
    if state["kind"] == "arrays":
        return ArrayModel.restore(state["model"])  # type: ignore[return-value]  # it is never fitted
    model = state.get("model")
    if state["kind"] == "named":
        if not trusted:
            raise DataError(
                f"the model is a {state['name']}, and making one runs code of that package; if you trust where the "
                "file comes from, load it with trusted=True (--trust)."
            )
        model = import_name(state["name"], "model")(**state["settings"])
    if not hasattr(model, "predict_proba"):
        raise ValueError(f"a {type(model).__name__} is no classifier")
    if state["kind"] == "network":
        return model  # type: ignore[return-value]
    vectors = csr_matrix(state["vectors"][:3], shape=state["vectors"][3]) if state["sparse"] else state["vectors"]
    if issparse(vectors):
        vectors.check_format(full_check=True)
    numbers = np.asarray(state["numbers"], dtype=np.int64)
    if numbers.shape != (vectors.shape[0] if hasattr(vectors, "shape") else len(vectors),):
        raise ValueError("the labels are not as many as the vectors")
    return Refitted(model, vectors, numbers)


def _are_numbers(vectors: Any) -> bool:
    dtype = getattr(vectors, "dtype", None)
    return getattr(dtype, "kind", "O") in "biuf" and getattr(vectors, "ndim", 0) == 2
