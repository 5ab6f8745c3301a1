"""Sessions in files: what comes back, what is refused, and what never runs code."""

import json
import pickle
import zipfile
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import cusal
from cusal.errors import DataError, InvalidInput
from cusal.recalibration import TemperatureScaled

X, Y = load_digits(return_X_y=True)
X = X[:300].astype(np.float32) / 16
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])[Y[:300]]


def begun(model, strategy="margin", **options):
    """A session in its third round, which has asked and not been told."""
    session = cusal.Session(X, model, strategy, labelled=(np.arange(30), NAMES[:30]), **options)
    for _ in range(2):
        query = session.ask(5)
        session.tell(query.indices, NAMES[query.indices])
    session.skip([200])
    session.ask(5)
    return session


def assert_continues_the_same(session, other):
    assert other.labels == session.labels
    assert repr(other) == repr(session)
    assert np.array_equal(other.classes_, session.classes_)
    for _ in range(2):
        ours, theirs = session.ask(5), other.ask(5)
        assert ours.indices.tolist() == theirs.indices.tolist()
        assert np.allclose(session.predict_proba(X[:20]), other.predict_proba(X[:20]), atol=1e-12)
        session.tell(ours.indices, NAMES[ours.indices])
        other.tell(theirs.indices, NAMES[theirs.indices])


PLAIN = {
    "logistic": lambda: LogisticRegression(max_iter=200),
    "forest": lambda: RandomForestClassifier(10),
    "pipeline": lambda: make_pipeline(StandardScaler(), GaussianNB()),
    "class weights": lambda: LogisticRegression(class_weight={"zero": 2.0}, max_iter=200),
    "a function of scikit-learn": lambda: make_pipeline(SelectKBest(chi2, k=20), GaussianNB()),
    "tempered": lambda: TemperatureScaled(GaussianNB(), method="cross-fit"),
}


@pytest.mark.parametrize("kind", PLAIN)
def test_a_scikit_learn_model_comes_back_without_trust(kind, tmp_path):
    session = begun(PLAIN[kind]())
    session.save(tmp_path / "session")
    with zipfile.ZipFile(tmp_path / "session") as archive:
        assert not [name for name in archive.namelist() if "pickle" in name]
    assert_continues_the_same(session, cusal.Session.load(tmp_path / "session", X))


def test_a_pipeline_of_texts_comes_back_without_trust(tmp_path):
    texts = [f"{'good' if i % 2 else 'bad'} film number {i % 7}" for i in range(40)]
    session = cusal.Session(texts, make_pipeline(TfidfVectorizer(), MultinomialNB()), labelled={0: "-", 1: "+"})
    query = session.ask(3)
    session.save(tmp_path / "session")
    assert cusal.Session.load(tmp_path / "session", texts).ask(3).indices.tolist() == query.indices.tolist()


@pytest.mark.parametrize("recalibrate", ["prequential", "cross-fit"])
def test_the_weights_of_a_network_come_back_without_trust(recalibrate, tmp_path):
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 8, 8)), torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 10)
    )
    session = begun(cusal.models.TorchClassifier(module, epochs=3), "badge", recalibrate=recalibrate)
    session.save(tmp_path / "session")
    with zipfile.ZipFile(tmp_path / "session") as archive:
        assert "weights.safetensors" in archive.namelist()
        assert not [name for name in archive.namelist() if "pickle" in name]
    assert_continues_the_same(session, cusal.Session.load(tmp_path / "session", X))


def test_an_unfitted_session_comes_back(tmp_path):
    session = cusal.Session(X, GaussianNB(), cusal.strategies.Cusal(bandwidth=0.01), classes=sorted(set(NAMES)))
    session.save(tmp_path / "session")
    other = cusal.Session.load(tmp_path / "session", X)
    assert other.strategy == session.strategy
    assert other.ask(4).indices.tolist() == session.ask(4).indices.tolist()


def doubled(items):
    """Return twice the items."""
    return 2 * items


class OwnModel(GaussianNB):
    """A model of the user's own."""


@dataclass(frozen=True)
class OwnStrategy(cusal.Strategy):
    """A strategy of the user's own."""

    def keys(self, view):
        return view.probs.max(axis=1)


class LooksFitted(GaussianNB):
    """An estimator of another library that has attributes of a fitted one as soon as it is made."""

    def __init__(self, *, priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.initialized_ = False


TRUSTED = {
    "an estimator that looks fitted": lambda: begun(LooksFitted()),
    "a model class": lambda: begun(OwnModel()),
    "a warm model": lambda: begun(SGDClassifier(loss="log_loss", warm_start=True)),
    "a function": lambda: begun(make_pipeline(FunctionTransformer(doubled), GaussianNB())),
    "a function of NumPy": lambda: begun(make_pipeline(FunctionTransformer(np.log1p), GaussianNB())),
    "a setting out of its range": lambda: begun(GaussianNB(var_smoothing=2.0)),
    "a strategy class": lambda: begun(GaussianNB(), OwnStrategy()),
}


@pytest.mark.parametrize("kind", TRUSTED)
def test_what_would_run_code_is_read_only_with_trust(kind, tmp_path):
    session = TRUSTED[kind]()
    session.save(tmp_path / "session")
    with pytest.raises(DataError, match="load it with trusted=True"):
        cusal.Session.load(tmp_path / "session", X)
    assert_continues_the_same(session, cusal.Session.load(tmp_path / "session", X, trusted=True))


def test_other_items_of_the_same_number_are_refused(tmp_path):
    begun(GaussianNB()).save(tmp_path / "session")
    for other in (X + 1, X[::-1], np.roll(X, 1, axis=1)):
        with pytest.raises(InvalidInput, match="was saved over other items"):
            cusal.Session.load(tmp_path / "session", other)
    with pytest.raises(InvalidInput, match="saved over 300 items, but 299"):
        cusal.Session.load(tmp_path / "session", X[:299])
    assert cusal.Session.load(tmp_path / "session", X.astype(np.float64)).round == 2


def test_texts_and_frames_are_recognised_by_what_they_hold(tmp_path):
    pandas = pytest.importorskip("pandas")
    for items in ([f"text {i}" for i in range(40)], pandas.DataFrame({"a": range(40), "b": ["x"] * 40})):
        cusal.Session(items, GaussianNB()).save(tmp_path / "session")
        assert len(cusal.Session.load(tmp_path / "session", items).pool) == 40
        changed = items.copy()
        if isinstance(items, list):
            changed[7] = "another"
        else:
            changed.loc[7, "b"] = "y"
        with pytest.raises(InvalidInput, match="other items"):
            cusal.Session.load(tmp_path / "session", changed)


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('code of the file ran')",))


def test_a_pickle_is_no_session(tmp_path):
    (tmp_path / "old").write_bytes(pickle.dumps({"kind": "cusal.Session", "state": Bomb()}))
    with pytest.raises(DataError, match=r"not a saved cusal\.Session"):
        cusal.Session.load(tmp_path / "old", X)


@pytest.mark.parametrize("at", [0.0, 0.3, 0.6, 0.95])
def test_damaged_files_are_named(at, tmp_path):
    begun(GaussianNB()).save(tmp_path / "session")
    content = (tmp_path / "session").read_bytes()
    (tmp_path / "cut").write_bytes(content[: int(at * len(content))])
    with pytest.raises(DataError, match="cut"):
        cusal.Session.load(tmp_path / "cut", X)
    tree = {"#": "dict", "of": [["kind", "cusal.Session"], ["format", 99], ["cusal", "9.0"]]}
    with zipfile.ZipFile(tmp_path / "later", "w") as archive:
        archive.writestr("content.json", json.dumps(tree))
    with pytest.raises(DataError, match=r"has format 99, written by cusal 9\.0"):
        cusal.Session.load(tmp_path / "later", X)


def test_files_of_another_kind_say_what_reads_them(tmp_path):
    begun(GaussianNB()).save(tmp_path / "session.cusal")
    begun(LogisticRegression()).export(tmp_path / "model.cusal")
    with pytest.raises(DataError, match=r"is a model; .* cusal\.load_model"):
        cusal.Session.load(tmp_path / "model.cusal", X)
    for read in (cusal.load_model, cusal.Audit.load):
        with pytest.raises(DataError, match=r"is a saved session; .* cusal\.Session\.load"):
            read(tmp_path / "session.cusal")
