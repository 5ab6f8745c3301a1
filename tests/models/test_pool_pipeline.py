"""Features that are learned from the whole pool, and a classifier of them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

import cusal
from cusal._items import Subset
from cusal.features import TextFeatures
from cusal.models import PoolClassifier, PoolPipeline, pool_pipeline

WORDS = {"+": ("good", "fine", "superb"), "-": ("bad", "poor", "awful")}


def films(count=120, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(WORDS), count)
    texts = [f"{rng.choice(WORDS[label])} film {i} of {rng.integers(9)}" for i, label in enumerate(labels)]
    return texts, labels


def test_words_of_unlabelled_texts_are_known():
    texts, labels = films()
    alone = PoolPipeline(TfidfVectorizer(), MultinomialNB()).fit(texts[:4], labels[:4])
    pooled = PoolPipeline(TfidfVectorizer(), MultinomialNB()).fit(texts[:4], labels[:4], unlabelled=texts[4:])
    assert set(alone.features_.vocabulary_) < set(pooled.features_.vocabulary_) >= {"superb", "awful"}
    assert pooled.classes_.tolist() == ["+", "-"]
    assert pooled.predict_proba(texts[:7]).shape == (7, 2)


def test_a_session_of_texts_is_one_of_their_features():
    texts, labels = films()
    rows = TextFeatures().fit(texts).transform(texts)
    start = (range(8), labels[:8])
    session, featured = cusal.Session(texts, labelled=start), cusal.Session(rows, PoolClassifier(), labelled=start)
    for _ in range(2):
        query = session.ask(5)
        assert query.indices.tolist() == featured.ask(5).indices.tolist()
        for one in (session, featured):
            one.tell(query.indices, labels[query.indices])
    np.testing.assert_allclose(session.predict_proba(texts), featured.predict_proba(rows))


def test_a_session_learns_the_features_once(monkeypatch):
    made = []

    class Counted(pool_pipeline.LearnedFeatures):
        def __init__(self, features, pool):
            made.append(len(pool))
            super().__init__(features, pool)

    monkeypatch.setattr(pool_pipeline, "LearnedFeatures", Counted)
    texts, labels = films()
    session = cusal.Session(texts, labelled=(range(8), labels[:8]))
    for _ in range(3):
        query = session.ask(5)
        session.tell(query.indices, labels[query.indices])
    assert session.calibration is not None
    assert made == [120]


def test_other_settings_and_other_items_have_features_of_their_own():
    texts, labels = films()
    others = [text.upper() for text in texts]

    def fitted(features, pool):
        return PoolPipeline(features, PoolClassifier()).fit(
            pool[:9], labels[:9], unlabelled=Subset(pool, np.arange(9, 120))
        )

    first = fitted(TextFeatures(), texts)
    assert fitted(TextFeatures(), texts).learned_ is first.learned_
    assert fitted(TextFeatures(dense=True, components=5), texts).learned_ is not first.learned_
    assert fitted(TextFeatures(), others).learned_ is not first.learned_


@pytest.mark.parametrize("form", ["list", "array", "series"])
def test_texts_come_in_every_container(form):
    texts, labels = films()
    given = {"list": texts, "array": np.array(texts)}
    if form == "series":
        given["series"] = pytest.importorskip("pandas").Series(texts)
    session = cusal.Session(given[form], labelled=(range(8), labels[:8]))
    assert isinstance(session.model, PoolPipeline)
    query = session.ask(40)
    session.tell(query.indices, labels[query.indices])
    assert session.predict(["a superb film", "an awful film"]).tolist() == ["+", "-"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_joined_and_predicted(library):
    frames = pytest.importorskip(library)
    sizes = np.arange(60.0)
    frame = frames.DataFrame({"size": sizes, "kind": ["a", "b"] * 30})
    from cusal.features import TableFeatures

    model = PoolPipeline(TableFeatures(), PoolClassifier()).fit(frame[::4], sizes[::4] > 30, unlabelled=frame[1::4])
    assert np.mean(model.predict(frame) == (sizes > 30)) > 0.9
    session = cusal.Session(frame, labelled={i: bool(i > 30) for i in range(0, 60, 10)})
    assert len(session.ask(5)) == 5
    assert session.view.embeddings.shape[0] == 54


def test_an_interrupted_session_asks_for_the_same():
    texts, labels = films()
    session = cusal.Session(texts, labelled=(range(8), labels[:8]))
    session.ask(5)
    again = cusal.Session.resume(pickle.loads(pickle.dumps(session.checkpoint())), texts)
    for one in (session, again):
        query = one.ask(5)
        one.tell(query.indices, labels[query.indices])
    assert session.ask(5).indices.tolist() == again.ask(5).indices.tolist()
    np.testing.assert_allclose(session.predict_proba(texts), again.predict_proba(texts))


def test_a_saved_session_of_texts_needs_no_trust(tmp_path):
    texts, labels = films()
    session = cusal.Session(texts, labelled=(range(8), labels[:8]))
    session.ask(5)
    session.save(tmp_path / "session")
    assert cusal.Session.load(tmp_path / "session", texts).ask(5).indices.tolist() == session.ask(5).indices.tolist()


def test_samples_are_those_of_the_classifier():
    texts, labels = films()
    forest = PoolPipeline(TfidfVectorizer(), RandomForestClassifier(10, random_state=0))
    session = cusal.Session(texts, forest, "bald", labelled=(range(8), labels[:8]))
    assert len(session.ask(5)) == 5


def test_it_is_cloned_with_its_parts():
    model = PoolPipeline(TextFeatures(components=7), LogisticRegression(C=3))
    copy = clone(model).set_params(model__C=5)
    assert (copy.features.components, copy.model.C, model.model.C) == (7, 5, 3)
