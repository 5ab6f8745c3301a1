"""The classifier for few labels: experts pooled by what they say out of fold."""

import json
import pickle
from unittest import SkipTest

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import cusal
from cusal._items import Subset
from cusal.errors import CusalError
from cusal.features import TextFeatures
from cusal.models import FewLabelClassifier, _learned_features, few_label_classifier
from cusal.models.few_label_classifier import pool_weights

WORDS = {"+": ("good", "fine", "superb"), "-": ("bad", "poor", "awful")}
CHECKS = parametrize_with_checks([FewLabelClassifier(["kernel", "ridge", "lda"], random_state=0)])
OF_FRAMES = "check_dataframe_column_names_consistency"  # frames have features of their own, with their own messages


# Old versions of scikit-learn hand pytest a generator, which it no longer takes.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_it_is_a_scikit_learn_classifier(estimator, check):
    if getattr(check, "func", check).__name__ == OF_FRAMES:
        pytest.skip("features of frames say it in their own words")
    try:
        check(estimator)
    except SkipTest as reason:
        if "SCIPY_ARRAY_API" not in str(reason):  # which the process must set before it starts
            raise


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def films(count=120, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(WORDS), count)
    texts = [f"{rng.choice(WORDS[label])} film {i} of {rng.integers(9)}" for i, label in enumerate(labels)]
    return texts, labels


def test_it_is_better_than_most_of_its_experts_and_honest_out_of_fold(digits):
    X, y = digits
    model = FewLabelClassifier(random_state=0).fit(X[:100], y[:100], unlabelled=X[100:900])
    alone = [
        FewLabelClassifier([name], random_state=0).fit(X[:100], y[:100], unlabelled=X[100:900]).score(X[900:], y[900:])
        for name in few_label_classifier.DEFAULT
    ]
    right = model.score(X[900:], y[900:])
    assert right > np.median(alone)
    assert right > max(alone) - 0.01
    assert abs(np.mean(model.out_of_fold_.argmax(axis=1) == y[:100]) - right) < 0.08


def test_out_of_fold_predictions_are_in_the_order_of_the_labels(digits):
    X, y = digits
    model = FewLabelClassifier(["ridge", "lda"], random_state=0).fit(X[:80], y[:80])
    back = FewLabelClassifier(["ridge", "lda"], random_state=0).fit(X[:80][::-1], y[:80][::-1])
    assert model.out_of_fold_.shape == (80, 10)
    assert np.corrcoef(model.out_of_fold_.ravel(), back.out_of_fold_[::-1].ravel())[0, 1] > 0.98


def test_with_few_labels_all_experts_count_alike(digits):
    X, y = digits
    model = FewLabelClassifier(random_state=0).fit(X[:12], y[:12])
    np.testing.assert_allclose(model.weights_, 0.25)


def test_of_texts_the_kernel_counts_most_at_first():
    texts, labels = films()
    model = FewLabelClassifier(random_state=0).fit(texts[:12], labels[:12], unlabelled=texts[12:])
    np.testing.assert_allclose(model.weights_, [0.7, 0.1, 0.1, 0.1])


def test_a_table_of_many_categories_is_no_embedding():
    rng = np.random.default_rng(0)
    X, y = (rng.random((60, 300)) < 0.1).astype(float), np.arange(60) % 2
    of_table = FewLabelClassifier(random_state=0).fit(X[:12], y[:12], unlabelled=X[12:])
    of_vectors = FewLabelClassifier(random_state=0).fit(X[:12] + rng.normal(size=(12, 300)), y[:12])
    np.testing.assert_allclose(of_table.weights_, 0.25)
    assert of_vectors.weights_[0] == pytest.approx(0.7)


def test_a_useless_expert_of_ones_own_gets_little_weight(digits):
    X, y = digits

    class Guess(LogisticRegression):
        def predict_proba(self, X):
            return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    model = FewLabelClassifier(["kernel", Guess(), GaussianNB()], random_state=0).fit(X[:120], y[:120])
    assert model.weights_.argmax() != 1
    assert model.weights_[1] < 0.1
    assert model.score(X[900:], y[900:]) > 0.85


def test_weights_are_those_of_the_largest_likelihood_under_the_prior():
    rng = np.random.default_rng(3)
    right = rng.random((3, 60)) ** np.array([[1.0], [2.0], [3.0]])
    weights = pool_weights(right, np.full(3, 1 / 3))

    def value(w):
        return np.log(w @ right).sum() + np.log(w).sum()

    for _ in range(200):
        other = np.abs(weights + rng.normal(scale=0.02, size=3)) + 1e-9
        assert value(other / other.sum()) <= value(weights) + 1e-6


def test_classes_without_a_label_share_a_mass(digits):
    X, y = digits
    labels = np.flatnonzero(y < 8)[:60]
    model = FewLabelClassifier(classes=range(10), random_state=0).fit(X[labels], y[labels])
    probs = model.predict_proba(X[:50])
    assert probs.shape == (50, 10)
    np.testing.assert_allclose(probs[:, 8:], model.unmet_mass_ / 2)
    np.testing.assert_allclose(probs.sum(axis=1), 1)
    assert model.classes_.tolist() == list(range(10))
    picked = FewLabelClassifier(classes=range(10), random_share=0.0, random_state=0).fit(X[labels], y[labels])
    assert picked.unmet_mass_ <= model.unmet_mass_
    with pytest.raises(CusalError, match="none of classes"):
        FewLabelClassifier(classes=range(5)).fit(X[:60], y[:60])


def test_the_only_label_of_a_class_is_met_by_nobody_out_of_fold():
    X, y = load_breast_cancer(return_X_y=True)
    y = y.copy()
    y[7] = 2
    model = FewLabelClassifier(random_state=0).fit(X[:60], y[:60])
    assert model.out_of_fold_[7, 2] == pytest.approx(1 / 60)  # one label of sixty is its class's only one
    np.testing.assert_allclose(model.out_of_fold_.sum(axis=1), 1)


def test_missing_values_of_arrays_are_those_of_frames(digits):
    pandas = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    of_array = FewLabelClassifier(random_state=0).fit(X[:80], y[:80], unlabelled=X[80:400])
    frame = pandas.DataFrame(X)
    of_frame = FewLabelClassifier(random_state=0).fit(frame[:80], y[:80], unlabelled=frame[80:400])
    np.testing.assert_allclose(of_array.predict_proba(X), of_frame.predict_proba(frame))
    assert of_array.score(X[400:], y[400:]) > 0.8


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_joined_and_predicted(library):
    frames = pytest.importorskip(library)
    sizes = np.arange(60.0)
    frame = frames.DataFrame({"size": sizes, "kind": ["a", "b"] * 30})
    model = FewLabelClassifier(random_state=0).fit(frame[::4], sizes[::4] > 30, unlabelled=frame[1::4])
    assert np.mean(model.predict(frame) == (sizes > 30)) > 0.9


def test_sparse_rows_and_texts_are_one_kind_of_items():
    texts, labels = films()
    rows = TextFeatures().fit(texts).transform(texts)
    of_texts = FewLabelClassifier(random_state=0).fit(texts[:30], labels[:30], unlabelled=texts[30:])
    of_rows = FewLabelClassifier(random_state=0).fit(rows[:30], labels[:30], unlabelled=rows[30:])
    np.testing.assert_allclose(of_texts.predict_proba(texts), of_rows.predict_proba(rows))
    assert of_texts.predict(["a superb film", "an awful film"]).tolist() == ["+", "-"]


def test_features_are_learned_from_the_pool():
    texts, labels = films()
    own = FewLabelClassifier([MultinomialNB()], features=TfidfVectorizer())
    alone, pooled = clone(own).fit(texts[:4], labels[:4]), clone(own).fit(texts[:4], labels[:4], unlabelled=texts[4:])
    assert set(alone.features_.vocabulary_) < set(pooled.features_.vocabulary_) >= {"superb", "awful"}


def test_a_session_learns_the_features_once(monkeypatch):
    made = []

    class Counted(_learned_features.LearnedFeatures):
        def __init__(self, features, pool):
            made.append(len(pool))
            super().__init__(features, pool)

    monkeypatch.setattr(_learned_features, "LearnedFeatures", Counted)
    texts, labels = films()
    session = cusal.Session(texts, FewLabelClassifier(["kernel", "lda"]), labelled=(range(8), labels[:8]))
    for _ in range(3):
        query = session.ask(5)
        session.tell(query.indices, labels[query.indices])
    assert session.calibration is not None
    assert made == [120]


def test_other_settings_and_other_items_have_features_of_their_own():
    texts, labels = films()
    others = [text.upper() for text in texts]

    def fitted(features, pool):
        model = FewLabelClassifier(["lda"], features=features)
        return model.fit(pool[:9], labels[:9], unlabelled=Subset(pool, np.arange(9, 120)))

    first = fitted(TextFeatures(), texts)
    assert fitted(TextFeatures(), texts).learned_ is first.learned_
    assert fitted(TextFeatures(dense=True, components=5), texts).learned_ is not first.learned_
    assert fitted(TextFeatures(), others).learned_ is not first.learned_


@pytest.mark.parametrize("form", ["list", "array", "series"])
def test_a_session_takes_texts_in_every_container(form):
    texts, labels = films()
    given = {"list": texts, "array": np.array(texts)}
    if form == "series":
        given["series"] = pytest.importorskip("pandas").Series(texts)
    session = cusal.Session(given[form], labelled=(range(8), labels[:8]))
    assert isinstance(session.model, FewLabelClassifier)
    query = session.ask(40)
    session.tell(query.indices, labels[query.indices])
    assert session.predict(["a superb film", "an awful film"]).tolist() == ["+", "-"]


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


@pytest.mark.parametrize("kind", ["dense", "sparse", "without a pool"])
def test_its_state_is_arrays_and_predicts_the_same(digits, kind):
    X, y = digits
    X = csr_matrix(X) if kind == "sparse" else X
    pool = None if kind == "without a pool" else X[60:400]
    model = FewLabelClassifier(classes=range(11), random_state=0).fit(X[:60], y[:60], unlabelled=pool)
    state = model.state()

    def plain(value):
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

    json.dumps(state, default=plain)  # nothing but numbers, strings, arrays, lists and dicts
    again = FewLabelClassifier.from_state(state)
    np.testing.assert_allclose(again.predict_proba(X[500:600]), model.predict_proba(X[500:600]), atol=1e-5)


def test_a_state_with_an_expert_of_ones_own_is_refused(digits):
    X, y = digits
    model = FewLabelClassifier(["lda", GaussianNB()]).fit(X[:60], y[:60])
    with pytest.raises(CusalError, match="fit with cusal's experts"):
        model.state()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"experts": "kernel"}, "expected a list of names"),
        ({"experts": ["oracle"]}, "oracle"),
        ({"experts": [object()]}, "predict_proba and get_params"),
        ({"random_share": 2}, "from 0 to 1"),
        ({"features": "words"}, "expected 'auto'"),
    ],
)
def test_settings_that_cannot_be_are_named(digits, settings, message):
    X, y = digits
    with pytest.raises(CusalError, match=message):
        FewLabelClassifier(**settings).fit(X[:30], y[:30])


def test_one_class_cannot_be_learned(digits):
    X, _ = digits
    with pytest.raises(CusalError, match="all of one class"):
        FewLabelClassifier().fit(X[:30], np.zeros(30))
