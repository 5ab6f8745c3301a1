"""Texts and frames have embeddings, whatever model classifies them."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cusal
from cusal import _protocol as protocol
from cusal.features.dense_vectors import item_vectors
from cusal.session.cold_start import typical_items

TOPICS = ("goal match team", "share market bank", "vote party law", "star planet orbit")


def news(count: int = 200) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(0)
    topics = rng.integers(len(TOPICS), size=count)
    words = np.array(["the", "new", "old", "big", "last", "first", "some", "many"])
    return [" ".join([*rng.choice(words, 5), rng.choice(TOPICS[t].split())]) for t in topics], topics


@pytest.mark.parametrize(
    "model", [None, make_pipeline(TfidfVectorizer(), LogisticRegression())], ids=["default", "pipeline"]
)
def test_diverse_margin_differs_from_margin_with_texts(model: object) -> None:
    texts, topics = news()
    session = cusal.Session(texts, model, labelled=(range(12), topics[:12]))  # type: ignore[arg-type]
    diverse, plain = session.ask(10), session.ask(10, strategy="margin")
    assert diverse.strategy == "diverse_margin"
    assert set(diverse.indices.tolist()) != set(plain.indices.tolist())


def test_a_pipeline_embeds_the_items_as_its_last_step_sees_them() -> None:
    X = np.arange(12.0).reshape(6, 2)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, [0, 1] * 3)
    np.testing.assert_allclose(protocol.embed(pipeline, X), StandardScaler().fit_transform(X))
    alone = make_pipeline(LogisticRegression()).fit(X, [0, 1] * 3)
    np.testing.assert_allclose(protocol.embed(alone, X), X)


def test_frames_with_categories_have_vectors_and_a_cold_start() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kinds = np.repeat(["a", "b", "c"], [60, 40, 20])
    frame = pandas.DataFrame(
        {"kind": kinds, "size": np.repeat([1.0, 2.0, 3.0], [60, 40, 20]) + rng.normal(size=120) / 9}
    )
    frame.loc[3, "size"] = None
    vectors = item_vectors(frame)
    assert vectors is not None
    assert vectors.shape == (120, 5)  # the size, whether it is missing, three kinds
    first = typical_items(frame, np.arange(120), 3, rng=rng)
    assert sorted(kinds[first]) == ["a", "b", "c"]


def test_items_that_are_neither_have_no_vectors() -> None:
    assert item_vectors(np.zeros((3, 2))) is None
    assert item_vectors([{"text": "one"}]) is None
    assert item_vectors(["!", "?"]) is None
