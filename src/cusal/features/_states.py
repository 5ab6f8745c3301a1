"""Fitted features as plain values and arrays, and back: what a model file holds of them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from cusal.features.tables import TableFeatures, _Categories, _Numbers, _Texts
from cusal.features.texts import TextFeatures, vectorizers


def text_state(features: TextFeatures) -> dict[str, Any]:
    """Return the vocabularies and weights of fitted `TextFeatures`.

    >>> features = TextFeatures().fit(["see you at lunch", "call me after lunch"])
    >>> restored = text_features(text_state(features))
    >>> bool((restored.transform(["lunch?"]) != features.transform(["lunch?"])).nnz)
    False
    """
    return {
        "settings": features.get_params(),
        "words": features.words_.get_feature_names_out().tolist(),
        "word_weights": features.words_.idf_,
        "pieces": features.pieces_.get_feature_names_out().tolist(),
        "piece_weights": features.pieces_.idf_,
        "directions": features.directions_ if features.dense else None,
    }


def text_features(state: Mapping[str, Any]) -> TextFeatures:
    """Return the fitted features of `text_state`."""
    features = TextFeatures(**state["settings"])
    features.words_, features.pieces_ = vectorizers(state["words"], state["pieces"])
    features.words_.idf_, features.pieces_.idf_ = state["word_weights"], state["piece_weights"]
    if features.dense:
        features.directions_ = state["directions"]
    return features


def table_state(features: TableFeatures) -> dict[str, Any]:
    """Return what fitted `TableFeatures` learned of each column.

    >>> features = TableFeatures().fit(np.array([[1, "a"], [3, "b"]], dtype=object))
    >>> table_features(table_state(features)).transform(np.array([[2, "b"]], dtype=object)).tolist()
    [[0.0, 0.0, 1.0]]
    """
    names = getattr(features, "feature_names_in_", None)
    return {
        "settings": features.get_params(),
        "names": None if names is None else names.tolist(),
        "columns": [
            asdict(one) if not isinstance(one, _Texts) else {"name": one.name, "texts": text_state(one.features)}
            for one in features.columns_
        ],
    }


def table_features(state: Mapping[str, Any]) -> TableFeatures:
    """Return the fitted features of `table_state`."""
    features = TableFeatures(**state["settings"])
    features.columns_ = [_restored(one) for one in state["columns"]]
    features.n_features_in_ = len(features.columns_)
    if state["names"] is not None:
        features.feature_names_in_ = np.array(state["names"], dtype=object)
    return features


def _restored(column: Mapping[str, Any]) -> _Numbers | _Categories | _Texts:
    if "texts" in column:
        return _Texts(column["name"], text_features(column["texts"]))
    return _Categories(**column) if "place" in column else _Numbers(**column)
