"""Vectors of sparse items, in place of embeddings that the model does not have."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import cusal
from cusal._wrapper import Wrapper
from cusal.errors import InvalidInput, MissingMethod
from cusal.features.dense_vectors import dense_vectors, item_vectors
from cusal.session import fitted_round
from cusal.session.predictions import Predictions

WORDS = {"sport": "goal match team coach league", "money": "bank shares market profit rates"}


def texts(count: int = 120) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(0)
    kinds = np.array(list(WORDS))[np.arange(count) % 2]
    noise = [f"word{number}" for number in range(150)]
    lines = [" ".join([*rng.choice(WORDS[kind].split(), 3), *rng.choice(noise, 2)]) for kind in kinds]
    return lines, kinds


def test_vectors_have_unit_length_and_texts_of_one_kind_are_near() -> None:
    lines, kinds = texts()
    vectors = dense_vectors(TfidfVectorizer().fit_transform(lines))
    assert vectors.shape == (120, 100)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
    alike = (vectors @ vectors.T)[np.triu_indices(120, 1)]
    same = (kinds[:, None] == kinds)[np.triu_indices(120, 1)]
    assert alike[same].mean() > alike[~same].mean() + 0.1


@pytest.mark.parametrize("shape", [(1, 500), (2, 500), (40, 500), (40, 3), (40, 1), (1, 1)])
def test_matrices_of_any_shape_have_vectors(shape: tuple[int, int]) -> None:
    vectors = dense_vectors(sparse.csc_matrix(np.random.default_rng(0).poisson(0.5, size=shape)))
    assert len(vectors) == shape[0]
    assert vectors.shape[1] <= 100
    assert np.isfinite(vectors).all()


def test_empty_rows_stay_at_zero() -> None:
    assert not dense_vectors(sparse.csr_matrix((5, 300))).any()
    rows = sparse.lil_matrix((5, 300))
    rows[1, 7] = rows[3, 9] = 2
    lengths = np.linalg.norm(dense_vectors(rows), axis=1)
    np.testing.assert_allclose(lengths, [0, 1, 0, 1, 0], atol=1e-12)


def test_a_row_that_is_no_number_is_named() -> None:
    rows = sparse.csr_matrix(np.eye(4))
    rows.data[2] = np.nan
    with pytest.raises(InvalidInput, match="item 2 holds NaN or infinity"):
        dense_vectors(rows)


class Halved(Wrapper):
    """A classifier half as sure as the one it wraps."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> "Halved":
        self.model_ = self._fit_model(X, y, None)
        self.classes_ = self.model_.classes_
        return self

    def _changed(self, probs: Any, X: Any) -> Any:
        return (probs + 1 / probs.shape[-1]) / 2


@pytest.mark.parametrize("model", [LogisticRegression(), Halved(LogisticRegression())], ids=["plain", "wrapped"])
@pytest.mark.parametrize("name", ["diverse_margin", "badge", "coreset", "cluster_margin"])
def test_strategies_that_embed_work_on_sparse_items(name: str, model: Any) -> None:
    lines, kinds = texts()
    items = TfidfVectorizer().fit_transform(lines)
    session = cusal.Session(items, model, name, labelled=(range(20), kinds[:20]))
    assert len(set(session.ask(6).indices.tolist())) == 6
    assert session.view.embeddings.shape == (100, 100)


def test_vectors_are_computed_once_for_all_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, kinds = texts()
    counted: list[int] = []
    monkeypatch.setattr(fitted_round, "item_vectors", lambda rows: counted.append(rows.shape[0]) or item_vectors(rows))
    session = cusal.Session(
        TfidfVectorizer().fit_transform(lines), LogisticRegression(), "diverse_margin", labelled=(range(4), kinds[:4])
    )
    for _ in range(3):
        query = session.ask(5)
        session.tell(query.indices, kinds[query.indices])
    assert counted == [120]


class OwnEmbedding(LogisticRegression):
    """Logistic regression whose embedding is one column."""

    def embed(self, X: Any) -> np.ndarray:
        return np.asarray(X.sum(axis=1)).reshape(-1, 1)


def test_a_models_own_embedding_of_sparse_items_comes_first() -> None:
    X, y = load_digits(return_X_y=True)
    session = cusal.Session(sparse.csr_matrix(X), OwnEmbedding(max_iter=2000), labelled=(range(20), y[:20]))
    np.testing.assert_allclose(session.view.embeddings[:, 0], X[20:].sum(axis=1))


def test_dense_items_without_an_embedding_still_miss_the_method() -> None:
    answers = Predictions(LogisticRegression(), np.zeros((3, 2, 2)), 2, vectors=lambda: None)
    with pytest.raises(MissingMethod, match="has no method embed"):
        answers.embeddings(np.arange(3))
