"""The model file: the same predictions after reading, no pickle in it, and no code of it run."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.deploy.model_file import load_model, model_state, write_model
from cusal.deploy.session_model import model_of
from cusal.errors import CusalError, DataError, InvalidInput
from cusal.features import GivenVectors, OwnVectors, TableFeatures, TableVectors, TextFeatures, WordVectors

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAMES = dict(enumerate(WORDS))


def session_over(items, labels, model=None, count=80, **options):
    session = cusal.Session(items, model, audit=0.1, **options)
    for _ in range(count // 20):
        query = session.ask(20)
        session.tell(query.indices, labels[query.indices])
    return session


def written(path, session, vectoriser, names=NAMES):
    model = model_of(session, vectoriser, names)
    write_model(path, model_state(*model), "# card")
    return model.classifier


MODELS = {
    "the default": None,
    "logistic regression": LogisticRegression(max_iter=500),
    "without recalibration": LogisticRegression(max_iter=500),
}


@pytest.mark.parametrize("kind", MODELS)
def test_predictions_are_those_of_the_session(kind, tmp_path):
    options = {"recalibrate": None} if kind.startswith("without") else {}
    session = session_over(X[:1000], Y[:1000], MODELS[kind], **options)
    model = written(tmp_path / "model.cusal", session, GivenVectors())
    loaded = load_model(tmp_path / "model.cusal")
    assert loaded.classes_.tolist() == list(NAMES.values())
    for rows in (X[:1000], X[1000:]):
        assert np.abs(model.predict_proba(rows) - session.predict_proba(rows)).max() < 1e-12
        assert np.abs(loaded.predict_proba(rows) - session.predict_proba(rows)).max() < 1e-6
    assert loaded.predict(X[1000:1010]).tolist() == [NAMES[label] for label in session.predict(X[1000:1010])]


def test_the_vector_scaling_of_a_session_comes_back(tmp_path):
    session = session_over(X[:600], Y[:600], LogisticRegression(C=1e-4, max_iter=500), recalibrate="vector")
    written(tmp_path / "model.cusal", session, GivenVectors())
    assert session.recalibration.scaling.offsets.any()
    assert np.abs(load_model(tmp_path / "model.cusal").predict_proba(X) - session.predict_proba(X)).max() < 1e-6


def test_texts_are_classified_from_the_vocabulary_in_the_file(tmp_path):
    rng = np.random.default_rng(0)
    words = ["card", "lost", "transfer", "fee", "top", "up", "cash", "pin", "rate", "refund", "limit", "abroad"]
    texts = [" ".join(rng.choice(words, 7)) for _ in range(500)]
    labels = np.array([int("cash" in text) for text in texts])
    features = TextFeatures().fit(texts[:400])
    session = session_over(features.transform(texts[:400]), labels, count=40)
    written(tmp_path / "model.cusal", session, WordVectors(features), {0: "other", 1: "cash"})
    loaded = load_model(tmp_path / "model.cusal")
    ours = session.predict_proba(features.transform(texts))
    assert np.abs(loaded.predict_proba(texts) - ours).max() < 1e-6
    assert loaded.features == "tfidf"
    with zipfile.ZipFile(tmp_path / "model.cusal") as archive:
        content = archive.read("content.json").decode()
    assert texts[0] not in content


def test_rows_of_a_table_are_classified_whatever_the_order_of_their_columns(tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"age": int(age), "town": str(rng.choice(["Bern", "Rome"]))} for age in rng.integers(0, 90, 300)]
    labels = np.array([int(row["age"] > 40) for row in rows])
    cells = np.array([[row["age"], row["town"]] for row in rows], dtype=object)
    features = TableFeatures().fit(cells)
    session = session_over(features.transform(cells), labels, count=40)
    written(tmp_path / "model.cusal", session, TableVectors(("age", "town"), features), {0: "young", 1: "old"})
    loaded = load_model(tmp_path / "model.cusal")
    turned = [{"other": 1, "town": row["town"], "age": row["age"]} for row in rows]
    assert np.abs(loaded.predict_proba(turned) - session.predict_proba(features.transform(cells))).max() < 1e-6
    with pytest.raises(InvalidInput, match="no column town"):
        loaded.predict([{"age": 3}])


def test_a_class_that_is_gone_is_not_predicted(tmp_path):
    session = session_over(X[:600], Y[:600])
    names = {known: name for known, name in NAMES.items() if known != 3}
    model = written(tmp_path / "model.cusal", session, GivenVectors(), names)
    probs = load_model(tmp_path / "model.cusal").predict_proba(X[:50])
    assert "three" not in model.classes_
    assert probs.shape == (50, 9)
    assert np.allclose(probs.sum(axis=1), 1)


def test_there_is_no_pickle_in_the_file_and_the_card_is(tmp_path):
    written(tmp_path / "model.cusal", session_over(X[:300], Y[:300], LogisticRegression(max_iter=500)), GivenVectors())
    with zipfile.ZipFile(tmp_path / "model.cusal") as archive:
        names = archive.namelist()
        assert archive.read("card.md") == b"# card"
    assert not [name for name in names if not name.endswith((".json", ".npy", ".md"))]


OWN = """
import numpy as np
from pathlib import Path
Path({mark!r}).write_text("ran")

def squares(items):
    return np.asarray(items, dtype=np.float32) ** 2
"""


def test_features_of_the_users_own_need_trust(tmp_path, monkeypatch):
    mark = tmp_path / "mark"
    (tmp_path / "own_features_of_a_test.py").write_text(OWN.format(mark=str(mark)))
    monkeypatch.syspath_prepend(str(tmp_path))
    session = session_over(X[:300] ** 2, Y[:300], LogisticRegression(max_iter=2000))
    written(tmp_path / "model.cusal", session, OwnVectors("own_features_of_a_test:squares"))
    with pytest.raises(DataError, match=r"own_features_of_a_test:squares.*trusted=True"):
        load_model(tmp_path / "model.cusal")
    assert not mark.exists()
    assert "own_features_of_a_test" not in sys.modules
    loaded = load_model(tmp_path / "model.cusal", trusted=True)
    assert np.abs(loaded.predict_proba(X[300:400]) - session.predict_proba(X[300:400] ** 2)).max() < 1e-6


class Nearest:
    """A model of a user's own, which is neither cusal's nor scikit-learn's."""

    def fit(self, items, labels):
        self.classes_ = np.unique(labels)
        self.centres_ = np.stack([items[labels == one].mean(axis=0) for one in self.classes_])

    def predict_proba(self, items):
        near = np.exp(-((items[:, None] - self.centres_) ** 2).mean(axis=2))
        return near / near.sum(axis=1, keepdims=True)


def test_a_model_of_the_users_own_needs_trust(tmp_path):
    session = session_over(X[:300], Y[:300], Nearest())
    written(tmp_path / "model.cusal", session, GivenVectors())
    with pytest.raises(DataError, match=r"Nearest.*trusted=True"):
        load_model(tmp_path / "model.cusal")
    loaded = load_model(tmp_path / "model.cusal", trusted=True)
    assert np.abs(loaded.predict_proba(X[300:400]) - session.predict_proba(X[300:400])).max() < 1e-6


@pytest.mark.parametrize("damage", ["cut", "other", "format", "missing part", "none"])
def test_a_file_that_is_no_model_is_named(damage, tmp_path):
    path = tmp_path / "model.cusal"
    session = session_over(X[:200], Y[:200], count=20)
    written(path, session, GivenVectors())
    if damage == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "none":
        path.unlink()
    elif damage == "other":
        session.save(path)
    else:
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        if damage == "format":
            tree = json.loads(parts["content.json"])
            tree["of"] = [[key, 99 if key == "format" else value] for key, value in tree["of"]]
            parts["content.json"] = json.dumps(tree).encode()
        else:
            del parts[next(name for name in parts if name.endswith(".npy"))]
        with zipfile.ZipFile(path, "w") as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
    with pytest.raises(CusalError, match=r"model\.cusal"):
        load_model(path)


def test_reading_a_model_needs_no_database_and_no_server(tmp_path):
    written(tmp_path / "model.cusal", session_over(X[:200], Y[:200], count=20), GivenVectors())
    code = (
        "import sys, cusal, numpy; model = cusal.load_model(sys.argv[1]); model.predict(numpy.zeros((1, 64)));"
        "print([name for name in ('sqlalchemy', 'fastapi', 'torch', 'PIL') if name in sys.modules])"
    )
    said = subprocess.check_output([sys.executable, "-c", code, tmp_path / "model.cusal"], text=True)
    assert said.strip() == "[]"
