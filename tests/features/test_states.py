"""Fitted features as plain values, in a file, and back."""

import numpy as np
import pandas
import pytest

from cusal.features import TableFeatures, TextFeatures
from cusal.features.vectorisers import table_features, table_state, text_features, text_state
from cusal.persistence.object_file import read_objects, write_objects

TEXTS = ["Cash prize, call now", "see you at lunch", "call me after lunch", "größer als 5 €", "犬が好き"]


def through_a_file(state, path):
    write_objects(path, state)
    return read_objects(path)


@pytest.mark.parametrize("dense", [False, True])
def test_texts_have_the_same_features(dense, tmp_path):
    features = TextFeatures(dense=dense, components=3).fit(TEXTS)
    restored = text_features(through_a_file(text_state(features), tmp_path / "state"))
    new = [*TEXTS, "lunch prize", "", "unknown xyz"]
    theirs, ours = restored.transform(new), features.transform(new)
    assert np.array_equal(theirs, ours) if dense else (theirs != ours).nnz == 0
    assert restored.get_feature_names_out().tolist() == features.get_feature_names_out().tolist()


def test_tables_have_the_same_features(tmp_path):
    texts = [f"parcel {word} is late" for word in "abcdefghijklmnopqrstuvwxyz"]
    mixed = pandas.DataFrame({"text": texts, "price": [f"{number},5 €" for number in range(26)]})
    features = TableFeatures().fit(mixed)
    restored = table_features(through_a_file(table_state(features), tmp_path / "mixed"))
    assert np.array_equal(restored.transform(mixed[:3]), features.transform(mixed[:3]))
    days = pandas.to_datetime(["2024-01-01", "2024-02-01", None, "2024-04-01"])
    table = pandas.DataFrame({"age": [20, None, 40, 31], "town": ["Bern", "Rome", None, "Bern"], "day": days})
    features = TableFeatures(max_categories=2).fit(table)
    restored = table_features(through_a_file(table_state(features), tmp_path / "state"))
    assert np.array_equal(restored.transform(table), features.transform(table))
    assert restored.get_feature_names_out().tolist() == features.get_feature_names_out().tolist()
    other = table.rename(columns={"town": "city"})
    with pytest.raises(ValueError, match="no column town"):
        restored.transform(other)
