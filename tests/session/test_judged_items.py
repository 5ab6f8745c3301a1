"""Items, labels and new data that would go wrong without a word, or with the wrong one."""

import threading

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import cusal
from cusal._protocol import DenselyNumbered
from cusal.errors import CusalWarning, InvalidInput, MissingMethod, NotReady

X, Y = load_digits(return_X_y=True)
X, Y = X[:300] / 16, Y[:300]


def frame_and_labels():
    pandas = pytest.importorskip("pandas")
    shuffled = np.random.default_rng(0).permutation(300)
    frame = pandas.DataFrame(X[:, :20]).rename(columns=str).set_index(shuffled)
    return pandas, frame, pandas.Series(Y, index=shuffled)


def test_labels_looked_up_by_position_are_stored_and_by_index_refused():
    _, frame, y = frame_and_labels()
    session = cusal.Session(frame, LogisticRegression(max_iter=300))
    asked = session.ask(10)
    with pytest.raises(InvalidInput, match=r"belong to other items. Take labels by position, y\.iloc"):
        session.tell(asked.indices, y[asked.indices])
    assert session.labels == {}
    session.tell(asked, y.iloc[asked.indices])
    assert session.labels == {int(i): int(Y[i]) for i in asked.indices}


def test_labels_with_the_same_index_in_another_order_are_aligned():
    pandas, frame, y = frame_and_labels()
    session = cusal.Session(frame, LogisticRegression(max_iter=300))
    session.tell([5, 2, 9], y.iloc[[9, 5, 2]])
    session.tell([7, 8], pandas.Series(["new", "other"]).replace({"new": int(Y[7]), "other": int(Y[8])}))
    assert session.labels == {int(i): int(Y[i]) for i in (5, 2, 9, 7, 8)}


def test_new_frames_are_matched_by_the_names_of_their_columns():
    _, frame, _ = frame_and_labels()
    session = cusal.Session(frame, LogisticRegression(max_iter=300), labelled=(range(100), Y[:100]))
    expected = session.predict_proba(frame.iloc[100:])
    other = frame.iloc[100:, ::-1].assign(more=1.0)
    assert (session.predict_proba(other) == expected).all()
    with pytest.raises(InvalidInput, match="the new items have no column '7'"):
        session.predict_proba(frame.drop(columns=["7"]))


class Noisy:
    """A data set whose transform draws at random."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 50

    def __getitem__(self, row):
        return X[int(row)] + self.rng.normal(size=64), int(Y[int(row)])


def test_a_data_set_that_transforms_at_random_is_refused_with_the_remedy():
    with pytest.raises(InvalidInput, match="item 0 differs when it is read twice"):
        cusal.Session(Noisy(), LogisticRegression())


HOLES = X.copy()
HOLES[7, 3] = np.nan


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (HOLES, "item 7 holds NaN, which LogisticRegression does not take"),
        (["a text", None, "another"], "item 1 is None among texts"),
        (np.array(["a text", None], dtype=object), "item 1 is None among texts"),
        ([b"a", b"b"], "items are bytes"),
        (np.array([b"a", b"b"]), "items are bytes"),
        (X[:, 0], r"Give items\[:, None\]"),
        ([{"a": 1}, {"a": 2}], "items are records"),
        (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), "records of the fields a, b"),
    ],
    ids=["NaN", "None", "None in an array", "bytes", "array of bytes", "one axis", "records", "structured"],
)
def test_items_are_judged_when_they_are_given(items, message):
    with pytest.raises(InvalidInput, match=message):
        cusal.Session(items, LogisticRegression())


def test_missing_values_are_no_trouble_for_the_default_model():
    session = cusal.Session(HOLES, labelled=(range(40), Y[:40]))
    assert session.predict_proba(HOLES[:10]).shape == (10, 10)
    assert len(session.ask(5)) == 5


def test_a_machine_without_probabilities_names_the_remedy_and_the_remedy_works():
    with pytest.raises(MissingMethod, match=r"CalibratedClassifierCV\(SVC\(...\)\)"):
        cusal.Session(X, SVC())
    session = cusal.Session(X, CalibratedClassifierCV(SVC()), labelled=(range(20), Y[:20]), classes=range(10))
    with pytest.warns(CusalWarning, match="the model fits 5 folds and needs as many labels of each class, but") as said:
        query = session.ask(5)
    assert len(said) == 1
    assert query.strategy == "cold_start"
    with pytest.raises(NotReady, match="5 folds"):
        session.predict(X)
    session.tell(np.arange(200), Y[:200])
    assert session.ask(5).strategy == "diverse_margin"


def test_a_search_needs_two_classes_that_fill_its_folds():
    search = GridSearchCV(LogisticRegression(max_iter=300), {"C": [0.1, 1.0]}, cv=3)
    labels = (Y > 4).astype(int)
    few = [*np.flatnonzero(labels == 0)[:2], *np.flatnonzero(labels == 1)[:5]]
    session = cusal.Session(X, search, labelled=(few, labels[few]))
    with pytest.warns(
        CusalWarning, match="the model fits 3 folds and needs as many labels of two classes, but 0 has 2"
    ):
        session.ask(5)
    more = np.flatnonzero(labels == 0)[2:3]
    session.tell(more, labels[more])
    assert session.ask(5).strategy == "diverse_margin"


class Dense(LogisticRegression):
    """A classifier that takes class numbers without gaps alone, as XGBoost's does."""

    def fit(self, X, y):
        met = np.unique(y)
        if met.tolist() != list(range(len(met))):
            raise ValueError(f"Invalid classes inferred from unique values of `y`. Expected: 0.., got {met}")
        return super().fit(X, y)


def test_a_model_that_takes_no_gaps_is_fitted_while_a_class_is_not_met():
    rows = np.flatnonzero(np.isin(Y, [0, 2, 7]))[:60]
    session = cusal.Session(X, Dense(max_iter=300), labelled=(rows, Y[rows]), classes=range(10))
    probs = session.predict_proba(X)
    assert isinstance(session.model, DenselyNumbered)
    assert (probs[:, [1, 3, 4, 5, 6, 8, 9]] < 1e-9).all()
    assert (probs[rows].argmax(axis=1) == Y[rows]).mean() > 0.9
    assert len(session.ask(5)) == 5
    session.tell(np.arange(200), Y[:200])
    session.fit()
    assert isinstance(session.model, Dense)


@pytest.mark.parametrize("over", [2e-16, 1e-7])
def test_what_rounding_makes_of_a_probability_is_accepted(over):
    probs = np.array([[1 + over, -over], [0.5, 0.5], [0.2, 0.8]])
    assert cusal.query(probs, batch_size=1).indices.tolist() == [1]
    assert cusal.metrics.ece(probs, [0, 0, 1]) < 1
    audit = cusal.Audit(confidence=np.array([1 + over, 0.5]), predicted=["a", "b"])
    assert len(audit.ask(1)) == 1


def test_threads_that_share_a_session_lose_no_label():
    session = cusal.Session(X, LogisticRegression(max_iter=300), labelled=(range(20), Y[:20]))
    errors = []

    def work(start):
        try:
            for row in range(start, 300, 4):
                session.tell([row], [int(Y[row])])
                session.predict_proba(X[:5])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in (20, 21, 22, 23)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert session.labels == {i: int(Y[i]) for i in range(300)}


def test_a_batch_size_in_the_second_place_is_named():
    with pytest.raises(InvalidInput, match=r"write cusal\.query\(pool_probs, batch_size=10\)"):
        cusal.query(X, 10)
    assert cusal.query([[0.9, 0.1], [0.6, 0.4]], batch_size=1).strategy == "margin"


def test_an_evaluation_says_how_rare_classes_fare():
    from sklearn.metrics import balanced_accuracy_score, f1_score

    session = cusal.Session(X, LogisticRegression(max_iter=300), labelled=(range(60), Y[:60]))
    raw = session.evaluate(X[60:], Y[60:]).raw
    predicted = session.model.predict_proba(X[60:])[:, session.class_columns].argmax(axis=1)
    assert raw["macro_f1"] == pytest.approx(f1_score(Y[60:], predicted, average="macro"))
    assert raw["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(Y[60:], predicted))


def test_rounds_become_a_frame_and_a_figure(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    session = cusal.Session(X, LogisticRegression(max_iter=300), "random")
    rounds = list(cusal.simulate(session, Y, rounds=3, batch_size=20, test=(X, Y)))
    frame = cusal.to_frame(rounds)
    assert frame["labelled"].tolist() == [20, 40, 60, 80]
    assert frame["test_accuracy"].tolist() == [one.test.recalibrated["accuracy"] for one in rounds]
    figure = cusal.plot(rounds, metrics=["accuracy", "ece", "nll"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["accuracy", "ece", "nll"]
    figure.savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5000
    with pytest.raises(InvalidInput, match="no round has scores"):
        cusal.plot([])
