"""A model to take away from a session: what it predicts by itself, in another process, and what its card says."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import cusal
from cusal.errors import InvalidInput

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def learned(items, labels, model=None, rounds=3, **options):
    session = cusal.Session(items, model, audit=0.2, **options)
    for _ in range(rounds):
        query = session.ask(20)
        session.tell(query.indices, [labels[i] for i in query.indices])
    return session


def texts():
    rng = np.random.default_rng(0)
    found = [" ".join(rng.choice(["card", "lost", "fee", "top", "cash", "pin", "rate"], 6)) for _ in range(200)]
    return found, ["cash" if "cash" in text else "other" for text in found]


def frame():
    rng = np.random.default_rng(0)
    found = pandas.DataFrame({"age": rng.integers(0, 90, 200), "town": rng.choice(["Bern", "Rome"], 200)})
    return found, ["old" if age > 40 else "young" for age in found["age"]]


SESSIONS = {
    "the default": lambda: (learned(X[:500], Y), X[500:]),
    "logistic regression": lambda: (learned(X[:500], Y.astype(str), LogisticRegression(max_iter=500)), X[500:]),
    "a forest": lambda: (learned(X[:500], Y, RandomForestClassifier(20)), X[500:]),
    "boosting": lambda: (learned(X[:500], Y, GradientBoostingClassifier(n_estimators=3), recalibrate=None), X[500:]),
    "texts": lambda: (learned(*texts()), texts()[0]),
    "a pipeline of texts": lambda: (learned(*texts(), make_pipeline(TfidfVectorizer(), MultinomialNB())), texts()[0]),
}
CODE = """
import json, sys, numpy, cusal
model = cusal.load_model(sys.argv[1])
items = numpy.load(sys.argv[2]) if sys.argv[2].endswith("npy") else json.load(open(sys.argv[2]))
numpy.save(sys.argv[3], model.predict_proba(items))
print(json.dumps(model.predict(items).tolist()))
"""


@pytest.mark.parametrize("kind", SESSIONS)
def test_another_process_predicts_what_the_session_does(kind, tmp_path):
    session, new = SESSIONS[kind]()
    session.export(tmp_path / "model.cusal")
    given = tmp_path / ("new.json" if isinstance(new, list) else "new.npy")
    given.write_text(json.dumps(new)) if isinstance(new, list) else np.save(given, new)
    command = [sys.executable, "-c", CODE, tmp_path / "model.cusal", given, tmp_path / "probs.npy"]
    predicted = json.loads(subprocess.check_output(command, text=True))
    assert np.abs(np.load(tmp_path / "probs.npy") - session.predict_proba(new)).max() < 1e-6
    assert predicted == session.predict(new).tolist()
    with zipfile.ZipFile(tmp_path / "model.cusal") as archive:
        assert not [name for name in archive.namelist() if not name.endswith((".json", ".npy", ".md"))]
        assert "90 % confidence" in archive.read("card.md").decode()


def test_the_network_of_a_session_is_taken_away(tmp_path):
    torch = pytest.importorskip("torch")
    images = X.reshape(-1, 1, 8, 8) / 16
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10)
    )
    session = learned(images[:300], Y, cusal.models.TorchClassifier(module, epochs=5), rounds=2)
    session.export(tmp_path / "model.cusal")
    found = cusal.load_model(tmp_path / "model.cusal").predict_proba(images[300:400])
    assert np.abs(found - session.predict_proba(images[300:400])).max() < 1e-6


def test_the_rows_of_a_frame_are_classified_whatever_the_order_of_their_columns(tmp_path):
    items, labels = frame()
    session = learned(items, labels)
    session.export(tmp_path / "model.cusal")
    loaded = cusal.load_model(tmp_path / "model.cusal")
    turned = items[["town", "age"]].assign(other=1)
    assert np.abs(loaded.predict_proba(turned) - session.predict_proba(items)).max() < 1e-6


def test_it_is_a_classifier_of_scikit_learns_kind():
    session = learned(X[:500], Y, LogisticRegression(max_iter=500))
    model = session.classifier()
    assert model.classes_.tolist() == list(range(10))
    assert model.score(X[500:], Y[500:]) == np.mean(model.predict(X[500:]) == Y[500:])
    assert permutation_importance(model, X[500:520], Y[500:520], n_repeats=1).importances.shape == (64, 1)
    with pytest.raises(InvalidInput, match="tell its session"):
        model.fit(X, Y)


def test_the_card_says_what_the_model_rests_on():
    session = learned(X[:500], Y, LogisticRegression(max_iter=500))
    card = session.classifier().card
    assert card["data"] == {"items": 500, "open": 440}
    assert sum(one["labels"] for one in card["classes"]) == card["labels"]["items"] == 60
    accuracy = card["model"]["accuracy"]
    assert accuracy["low"] <= accuracy["estimate"] <= accuracy["high"]
    assert {"cusal", "numpy", "scikit-learn"} <= card["versions"].keys()


def test_lists_of_rows_are_taken_and_what_is_no_table_is_refused(tmp_path):
    items, labels = frame()
    session = learned(items, labels)
    session.export(tmp_path / "model.cusal")
    model = cusal.load_model(tmp_path / "model.cusal")
    rows = items[:20].to_dict("records")
    assert model.predict(rows).tolist() == session.predict(items[:20]).tolist()
    for one in (rows[0], items.iloc[0]):
        with pytest.raises(InvalidInput, match=r"give a frame of one row: frame\.iloc\[\[0\]\]"):
            model.predict(one)
    for cells in (items.to_numpy(), items.to_numpy().tolist()):
        with pytest.raises(
            InvalidInput, match=r"without the names .* data frame .* columns (age, town|town, age)[,;.]"
        ):
            model.predict(cells)


def test_at_most_ten_columns_are_named_and_each_once():
    wide = pandas.DataFrame(X[:300], columns=[f"pixel{place}" for place in range(64)])
    model = learned(wide, Y).classifier()
    for given in (wide.to_numpy(), pandas.DataFrame({"size": [1, 2]}), wide[["pixel3"]]):
        with pytest.raises(InvalidInput, match=r"and 5\d more") as refused:
            model.predict(given)
        named = [word.strip(",.;") for word in str(refused.value).split() if word.startswith("pixel")]
        assert len(named) == len(set(named)) == 10


@pytest.mark.parametrize("kind", [*SESSIONS, "table"])
def test_a_name_of_a_file_is_no_item_list(kind, tmp_path):
    session = learned(*frame()) if kind == "table" else SESSIONS[kind]()[0]
    model = session.classifier()
    wanted = {"table": "a data frame", "vectors": "an array"}.get(model.features, "a list of texts")
    for given in ("test.csv", tmp_path / "test.csv", b"text"):
        with pytest.raises(InvalidInput, match=f"expected {wanted}"):
            model.predict(given)
    with pytest.raises(InvalidInput, match=f"expected {wanted}"):
        model.predict(3)
