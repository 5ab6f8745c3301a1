"""Texts as TF-IDF rows and as their components."""

import numpy as np
import pandas
import polars
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import cusal.features
from cusal.errors import CusalError
from cusal.features import TextFeatures
from cusal.models import PoolClassifier

TEXTS = ["cash prize, call now", "see you at lunch", "call me after lunch", "win a prize", "a", ""]


def test_public_names_are_sorted_and_there():
    assert cusal.features.__all__ == sorted(cusal.features.__all__)
    for name in cusal.features.__all__:
        assert getattr(cusal.features, name).__doc__


def test_rows_are_words_and_pieces_of_unit_length():
    rows = TextFeatures().fit_transform(TEXTS)
    assert issparse(rows)
    np.testing.assert_allclose(np.linalg.norm(rows.toarray(), axis=1), [1, 1, 1, 1, 1, 0])
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(TEXTS)
    np.testing.assert_allclose(rows[:, -pieces.shape[1] :].toarray(), pieces.toarray() / np.sqrt(2))


@pytest.mark.parametrize("dense", [False, True])
def test_transform_agrees_with_fit_transform(dense):
    features = TextFeatures(dense=dense, components=3)
    whole, again = features.fit_transform(TEXTS), features.transform(TEXTS)
    np.testing.assert_allclose(*(rows if dense else rows.toarray() for rows in (whole, again)))
    assert len(features.get_feature_names_out()) == whole.shape[1]


def test_components_keep_what_the_rows_have():
    rows = TextFeatures().fit_transform(TEXTS).toarray()
    dense = TextFeatures(dense=True).fit_transform(TEXTS)
    np.testing.assert_allclose(dense @ dense.T, rows @ rows.T, atol=1e-8)


@pytest.mark.parametrize("container", [list, tuple, np.array, pandas.Series, polars.Series])
def test_any_container_of_texts_is_taken(container):
    np.testing.assert_array_equal(
        TextFeatures().fit_transform(container(TEXTS)).toarray(), TextFeatures().fit_transform(TEXTS).toarray()
    )


def test_unknown_words_are_a_row_of_zeros():
    assert TextFeatures().fit(["ab"]).transform(["xyz", ""]).nnz == 0


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "give a list"),
        (["a text", None], "item 1 of the texts is None"),
        ([3.0], "item 0 of the texts is 3.0, a float"),
        (["", "!"], "without a single word"),
        ([], "without a single word"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(CusalError, match=message):
        TextFeatures().fit(texts)


def test_it_is_cloned_and_fits_a_pipeline():
    model = make_pipeline(clone(TextFeatures(components=5)), PoolClassifier())
    model.fit(TEXTS[:4], ["spam", "ham", "ham", "spam"])
    assert model.predict(["claim your prize", "lunch with me"]).tolist() == ["spam", "ham"]
