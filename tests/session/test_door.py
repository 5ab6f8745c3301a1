"""What newcomers try first: each gets the right answer, or an error that says what to do."""

import copy
import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import cusal
from cusal.errors import CusalError, InvalidInput, MissingMethod, UnknownName

X, Y = load_digits(return_X_y=True)
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])


def late_classes(labels, **options):
    """A session whose classes are met one after the other, in an order that is not sorted."""
    session = cusal.Session(X[:600], LogisticRegression(max_iter=300), "margin", **options)
    for number in (7, 2, 9, 0, 4, 1, 8, 3, 6, 5):
        rows = np.flatnonzero(Y[:600] == number)[:12]
        session.tell(rows, labels[rows])
    return session


@pytest.mark.parametrize("labels", [Y, NAMES[Y]], ids=["numbers", "names"])
def test_columns_are_sorted_however_late_a_class_was_met(labels):
    session = late_classes(labels)
    probs = session.predict_proba(X[600:])
    assert session.classes_.tolist() == sorted(set(labels.tolist()))
    truth = np.mean(session.predict(X[600:]) == labels[600:])
    assert truth > 0.75
    assert cusal.metrics.accuracy(probs, labels[600:], classes=session.classes_) == pytest.approx(truth)
    assert session.evaluate(X[600:], labels[600:]).recalibrated["accuracy"] == pytest.approx(truth)
    if labels is Y:  # numbers are columns once all of them were met
        assert cusal.metrics.accuracy(probs, Y[600:]) == pytest.approx(truth)
    query = session.ask(5)
    assert np.allclose(query.probs, session.model.predict_proba(X[query.indices])[:, session.class_columns])


def test_given_classes_set_the_order_of_columns():
    session = late_classes(NAMES[Y], classes=NAMES)
    assert session.classes_.tolist() == NAMES.tolist()
    assert cusal.metrics.accuracy(session.predict_proba(X[600:]), Y[600:]) > 0.75


def test_predicted_labels_are_of_the_kind_that_was_told():
    assert late_classes(Y).predict(X[:2]).dtype == np.int64
    assert late_classes(NAMES[Y]).predict(X[:2]).dtype.kind == "U"
    assert {type(label) for label in late_classes(Y).labels.values()} == {int}
    session = cusal.Session(X, GaussianNB(), labelled={0: np.int64(3), 1: np.int64(4)})
    assert session.labels == {0: 3, 1: 4}
    assert type(session.labels[0]) is int


def test_metrics_refuse_labels_that_cannot_be_columns():
    probs = np.full((3, 2), 0.5)
    with pytest.raises(InvalidInput, match="expected class numbers from 0 to 1"):
        cusal.metrics.ece(probs, ["a", "b", "a"])
    with pytest.raises(InvalidInput, match="row 1 is 'c', which is not one of the classes"):
        cusal.metrics.ece(probs, ["a", "c", "a"], classes=["a", "b"])
    with pytest.raises(InvalidInput, match="names 3 classes, but probs has 2 columns"):
        cusal.metrics.nll(probs, ["a", "b", "a"], classes=["a", "b", "c"])


def test_objects_say_their_state_in_a_line():
    session = cusal.Session(X, GaussianNB(), "margin", labelled={0: "a", 1: "b"})
    session.skip([5])
    assert repr(session) == (
        "Session(1,797 items: 2 labelled, 1 skipped, 1,794 open; 2 classes; strategy margin; round -1)"
    )
    assert repr(session.pool) == "Pool(1,797 items: 2 labelled, 1 skipped, 1,794 open)"
    assert repr(session.ask(2)).startswith("Query(2 items by margin: [")
    assert "recalibrated: accuracy" in repr(session.evaluate(X[:5], ["a"] * 5))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
@pytest.mark.parametrize("asked", [False, True])
def test_copies_of_a_session_work_and_are_independent(copied, asked):
    session = late_classes(Y)
    if asked:
        session.ask(4)
    other = copied(session)
    query = other.ask(4)
    assert (query.indices == session.ask(4).indices).all()
    other.tell(query.indices, Y[query.indices])
    assert len(other.labels) == len(session.labels) + 4
    assert len(session.pool.labelled) == len(session.labels)
    assert np.allclose(copied(other).predict_proba(X[:5]), other.predict_proba(X[:5]))


ITEMS = {
    "array": lambda: X[:200],
    "list of lists": lambda: X[:200].tolist(),
    "list of arrays": lambda: list(X[:200]),
    "csr": lambda: sparse.csr_matrix(X[:200]),
    "coo": lambda: sparse.coo_matrix(X[:200]),
    "sparse array": lambda: sparse.csr_array(X[:200]),
    "pandas": lambda: pytest.importorskip("pandas").DataFrame(X[:200]),
    "polars": lambda: pytest.importorskip("polars").DataFrame(X[:200]),
    "tensor": lambda: pytest.importorskip("torch").from_numpy(X[:200]),
    "TensorDataset": lambda: tensor_dataset(),
    "Dataset": lambda: OwnDataset(),
    "Hugging Face style": lambda: Records(),
    "unmasked": lambda: np.ma.masked_array(X[:200], np.zeros(X[:200].shape, dtype=bool)),
}


def tensor_dataset():
    torch = pytest.importorskip("torch")
    return torch.utils.data.TensorDataset(torch.from_numpy(X[:200]), torch.from_numpy(Y[:200]))


class OwnDataset:
    """Takes one integer, as a torch data set of one's own does, and returns an item and its label."""

    def __len__(self):
        return 200

    def __getitem__(self, index):
        assert type(index) is int
        return X[index], Y[index]


class Records(OwnDataset):
    """Takes one integer and returns a record, and has a shape, as a data set of Hugging Face does."""

    shape = (200, 2)

    def __getitem__(self, index):
        assert type(index) is int
        return {"pixels": X[index], "label": int(Y[index])}


@pytest.mark.parametrize("kind", ITEMS)
def test_items_are_taken_as_people_have_them(kind):
    items = ITEMS[kind]()
    session = cusal.Session(items, LogisticRegression(max_iter=200), "margin")
    first = session.ask(30)
    session.tell(first.indices, Y[first.indices])
    query = session.ask(5)
    reference = cusal.Session(X[:200], LogisticRegression(max_iter=200), "margin", labelled=session.labels)
    assert (query.indices == reference.ask(5).indices).all()
    session.tell(query.indices, Y[query.indices])
    assert session.predict_proba(items).shape == (200, len(session.classes_))
    assert session.evaluate(items, Y[:200]).raw["accuracy"] > 0.7


def test_sparse_texts_and_plain_texts_work():
    texts = [f"{'good' if i % 2 else 'bad'} film number {i}" for i in range(60)]
    labels = np.array(["+" if i % 2 else "-" for i in range(60)])
    session = cusal.Session(TfidfVectorizer().fit_transform(texts), MultinomialNB(), "margin")
    query = session.ask(10)
    session.tell(query.indices, labels[query.indices])
    assert len(session.ask(3)) == 3
    plain = cusal.Session(texts, make_pipeline(TfidfVectorizer(), MultinomialNB()), labelled={0: "-", 1: "+"})
    assert plain.predict(["a good film"]).tolist() == ["+"]
    assert len(session.ask(3, strategy="badge")) == 3  # sparse rows have dense vectors in place of embeddings
    assert len(plain.ask(3, strategy="badge")) == 3  # and so have texts


@pytest.mark.parametrize("form", ["dict", "pair", "series"])
def test_first_labels_come_in_every_form(form):
    indices, labels = np.array([4, 2, 9]), NAMES[[1, 0, 1]]
    given = {"dict": dict(zip(indices, labels, strict=True)), "pair": (indices, labels)}
    if form == "series":
        given["series"] = pytest.importorskip("pandas").Series(labels, index=indices)
    session = cusal.Session(X, GaussianNB(), labelled=given[form])
    assert session.labels == {4: "one", 2: "zero", 9: "one"}


@pytest.mark.parametrize("names", [(0, 1), ("a", "b")], ids=str)
def test_class_weights_are_by_label_whichever_class_was_met_first(names):
    rng = np.random.default_rng(0)
    items = rng.normal(size=(400, 2))
    labels = np.array(names)[(items[:, 0] + rng.normal(size=400) > 1.5).astype(int)]
    weights = {names[0]: 1.0, names[1]: 20.0}
    plain = LogisticRegression(class_weight=weights).fit(items[:100], labels[:100])
    session = cusal.Session(items, LogisticRegression(class_weight=weights), "margin")
    rare, common = np.flatnonzero(labels[:100] == names[1]), np.flatnonzero(labels[:100] == names[0])
    session.tell(rare, labels[rare])
    session.tell(common, labels[common])
    assert (session.predict(items) == plain.predict(items)).mean() > 0.99
    with pytest.raises(InvalidInput, match="none of which was told as a label"):
        cusal.Session(items, LogisticRegression(class_weight={"x": 2}), labelled=(np.arange(100), labels[:100])).fit()


def test_a_series_is_aligned_with_the_index_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:200]).assign(label=NAMES[Y[:200]]).sample(frac=1, random_state=0)
    session = cusal.Session(frame.drop(columns="label"), GaussianNB(), labelled=frame.label[:50])
    assert session.labels == dict(enumerate(frame.label[:50].tolist()))
    with pytest.raises(InvalidInput, match="which the items' index does not have"):
        cusal.Session(frame[:10], GaussianNB(), labelled=frame.label[:50])


def test_labels_are_unwrapped_and_put_in_order():
    torch = pytest.importorskip("torch")
    session = cusal.Session(X, GaussianNB(), labelled=dict(enumerate(torch.tensor(Y[:5]))))
    session.tell(50, torch.tensor(3))
    session.tell(51, np.array(4))
    session.tell([52, 53], [torch.tensor(1), np.int64(2)])
    session.tell([60, 61], {61: 8, 60: 7})
    assert [session.labels[i] for i in (50, 51, 52, 53, 60, 61)] == [3, 4, 1, 2, 7, 8]
    assert {type(label) for label in session.labels.values()} == {int}
    query = session.ask(2)
    session.tell(query, Y[query.indices])
    assert set(query.indices.tolist()) <= set(session.labels)


@dataclass(frozen=True)
class Odd(cusal.Strategy):
    """Returns whatever it is made with as keys."""

    made: object = None

    def keys(self, view):
        return self.made


@dataclass(frozen=True)
class OddChoice(cusal.Strategy):
    """Returns whatever it is made with as picks."""

    made: object = None

    def select(self, view, batch_size):
        return np.asarray(self.made)


class Softly:
    """No model at all."""


REFUSED = {
    "a class": (lambda: cusal.Session(X, LogisticRegression), "give an object of it: LogisticRegression"),
    "a strategy in place of the model": (
        lambda: cusal.Session(X, "margin"),
        "by its name: strategy='margin'",
    ),
    "labels in place of the model": (lambda: cusal.Session(X, list(range(len(X)))), "labelled=.position: label"),
    "another name of the batch size": (lambda: cusal.query(np.eye(3), n=2), "number of items to choose is batch_size"),
    "a function": (lambda: cusal.Session(X, lambda x: x), "function has no method fit"),
    "no classifier": (lambda: cusal.Session(X, Softly()), "Softly has no method fit"),
    "SVC": (lambda: cusal.Session(X, SVC()), "CalibratedClassifierCV"),
    "a regressor": (lambda: cusal.Session(X, LinearRegression()), "LinearRegression is a regressor"),
    "a strategy class": (
        lambda: cusal.Session(X, GaussianNB(), cusal.strategies.Margin),
        r"give an object of it: Margin\(\)",
    ),
    "a number as strategy": (lambda: cusal.Session(X, GaussianNB(), 3), "strategy is 3; expected a name"),
    "negative seed": (lambda: cusal.Session(X, GaussianNB(), seed=-1), "seed is -1"),
    "fractional seed": (lambda: cusal.Session(X, GaussianNB(), seed=0.5), "seed is 0.5"),
    "text as seed": (lambda: cusal.query([[0.5, 0.5]], batch_size=1, strategy="random", seed="a"), "seed is 'a'"),
    "ragged items": (lambda: cusal.Session([[1, 2], [3]], GaussianNB()), "items are ragged"),
    "ragged probs": (lambda: cusal.query([[0.5, 0.5], [1.0]], strategy="margin"), "pool_probs is ragged"),
    "masked items": (lambda: cusal.Session(np.ma.masked_equal([[1, 2]], 2), GaussianNB()), "masked values"),
    "masked probs": (lambda: cusal.metrics.ece(np.ma.masked_equal([[0.5, 0.5]], 0.5), [0]), "masked values"),
    "a text as items": (lambda: cusal.Session("abc", GaussianNB()), "items is a str"),
    "a generator": (lambda: cusal.Session((x for x in X), GaussianNB()), "items is a generator"),
    "records": (lambda: cusal.Session(Wide(), GaussianNB()).ask(1), "fields text, title, label"),
    "a list as labelled": (lambda: cusal.Session(X, GaussianNB(), labelled=[0, 1]), "labelled is a list"),
    "continuous": (
        lambda: cusal.Session(X, GaussianNB(), labelled=(np.arange(50), np.random.default_rng(0).normal(size=50))),
        "a number with a fraction; expected classes",
    ),
    "NaN with coreset": (lambda: nan_session().ask(1), "the embedding of item 3 holds NaN"),
    "unknown setting": (
        lambda: cusal.query([[0.5, 0.5]], batch_size=1, strategy="cusal", bandwith=0.1),
        "no setting of cusal named 'bandwith'; did you mean 'bandwidth'",
    ),
    "setting beside an object": (
        lambda: cusal.query([[0.5, 0.5]], strategy=cusal.strategies.Margin(), bandwidth=1),
        "bandwidth was given with a strategy object",
    ),
    "no labels for cusal": (lambda: cusal.query([[0.5, 0.5]], strategy="cusal"), "give labelled_probs and labels"),
    "half of the labels": (lambda: cusal.query([[0.5, 0.5]], [[0.5, 0.5]]), "labelled_probs was given without labels"),
    "negative bandwidth": (lambda: cusal.strategies.Cusal(bandwidth=-1), "bandwidth is -1"),
    "tiny bandwidth": (lambda: cusal.strategies.Cusal(bandwidth=1e-307), "at least 1e-07"),
    "tiny bandwidth in a query": (
        lambda: cusal.query([[0.5, 0.5]], [[0.5, 0.5]], [0], strategy="cusal", bandwidth=1e-307),
        "at least 1e-07",
    ),
    "labels in a set": (lambda: known().tell([5, 6], {1, 2}), "labels is a set"),
    "labels of other items": (lambda: known().tell([5, 6], {5: 1}), "no entry for item 6"),
    "a mask": (lambda: known().tell(Y == 3, Y[Y == 3]), "flatnonzero"),
    "text after numbers": (lambda: known().tell([5], ["3"]), "but the class 3 is a int; give all labels in one type"),
    "labels of another kind": (lambda: known().evaluate(X, Y.astype(str)), "none of the labels, such as '0'"),
    "keys of NaN": (lambda: known(Odd(np.full(1787, np.nan))).ask(2), "keys of candidate 0 are NaN"),
    "too few keys": (lambda: known(Odd(np.zeros(3))).ask(2), "expected an array of 1787 rows"),
    "no keys": (lambda: known(Odd()).ask(2), "keys returned NoneType"),
    "picks twice": (lambda: known(OddChoice([20, 20])).ask(2), "expected 2 distinct items"),
    "picks that are labelled": (lambda: known(OddChoice([0, 1])).ask(2), "expected 2 distinct items"),
    "a setting of margin": (
        lambda: cusal.query([[0.5, 0.5]], strategy="margin", bins=3),
        "margin has no settings, but bins",
    ),
    "recalibrate=False": (lambda: cusal.Session(X, GaussianNB(), recalibrate=False), "None"),
    "rounds beyond the pool": (
        lambda: list(cusal.simulate(known(), Y, rounds=500)),
        "at most 178 rounds are possible",
    ),
    "a test set without labels": (lambda: list(cusal.simulate(known(), Y, rounds=1, test=X)), "expected a pair"),
    "a folder that is not there": (lambda: known().save("no/such/folder/x"), "cannot be written"),
    "a pool in memory": (lambda: cusal.score_files(np.eye(3), batch_size=1), "For a pool in memory use cusal.query"),
    "p below one": (lambda: cusal.strategies.LeastCalibrated(p=0.5), "p is 0.5"),
    "a bad floor": (lambda: cusal.strategies.WeightedCusal(density_floor=0), "density_floor is 0"),
}


def known(strategy="margin"):
    return cusal.Session(X, GaussianNB(), strategy, labelled=(np.arange(10), Y[:10]))


class Wide:
    """Records of several fields."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return {"text": "a", "title": "b", "label": 0}


class TolerantOfGaps(GaussianNB):
    """A model that fills in what is missing, so that only the strategy meets it."""

    def fit(self, X, y):
        return super().fit(np.nan_to_num(X), y)

    def predict_proba(self, X):
        return super().predict_proba(np.nan_to_num(X))


def nan_session():
    items = np.random.default_rng(0).normal(size=(20, 2))
    items[3] = np.nan
    return cusal.Session(items, TolerantOfGaps(), "coreset", labelled={0: 0, 1: 1})


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused_with_advice(case):
    act, message = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cusal.errors.CusalWarning)
        with pytest.raises(CusalError, match=message):
            act()


def test_a_model_that_cannot_read_texts_is_named_and_the_labels_are_kept():
    texts = [f"parcel {number} is late" for number in range(12)]
    session = cusal.Session(texts, LogisticRegression(), labelled={0: "a", 1: "b"})
    with pytest.raises(InvalidInput, match=r"LogisticRegression cannot be fitted to texts .*TextFeatures\(\)"):
        session.ask(2)
    assert session.labels == {0: "a", 1: "b"}


def test_a_network_that_predicts_more_classes_than_are_known_says_what_to_give():
    torch = pytest.importorskip("torch")
    model = cusal.models.TorchClassifier(torch.nn.Sequential(torch.nn.Linear(64, 10)), epochs=1)
    with pytest.raises(InvalidInput, match=r"predicts 10 classes, but 2 are known; give classes="):
        cusal.Session(X.astype(np.float32), model, labelled={0: 0, 1: 1}).ask(1)
    module = torch.nn.Linear(64, 10)
    with pytest.raises(MissingMethod, match=r"give cusal\.models\.TorchClassifier\(Linear"):
        cusal.Session(X, module)


def test_margin_and_others_need_no_labels():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    for strategy in ("margin", "entropy", "least_confidence", "random", "badge", "coreset", "cluster_margin"):
        query = cusal.query(probs, batch_size=5, strategy=strategy)
        assert len(set(query.indices.tolist())) == 5
        assert query.strategy == strategy
    with pytest.raises(MissingMethod, match="strategy bald: it needs sampled predictions"):
        cusal.query(probs, strategy="bald")


def test_a_strategy_of_ones_own_is_named_by_module_and_class(tmp_path, monkeypatch):
    (tmp_path / "door_strategies.py").write_text(
        "from dataclasses import dataclass\n"
        "import cusal\n"
        "@dataclass(frozen=True)\n"
        "class Surest(cusal.Strategy):\n"
        "    power: float = 1.0\n"
        "    def keys(self, view):\n"
        "        return view.probs.max(axis=1) ** self.power\n"
        "nothing = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    probs = [[0.5, 0.5], [0.9, 0.1]]
    query = cusal.query(probs, batch_size=1, strategy="door_strategies:Surest", power=2.0)
    assert query.indices.tolist() == [1]
    assert query.strategy == "door_strategies:Surest"
    with pytest.raises(InvalidInput, match=r"not a strategy; expected a class that derives from cusal\.Strategy"):
        cusal.strategies.find("door_strategies:nothing")
    with pytest.raises(UnknownName, match="named 'Sureest'; did you mean 'Surest'"):
        cusal.strategies.find("door_strategies:Sureest")
    with pytest.raises(InvalidInput, match="there is no module 'no_such_module'"):
        cusal.strategies.find("no_such_module:Name")
    with pytest.raises(UnknownName, match="did you mean 'margin'"):
        cusal.strategies.find("margn")


def test_a_session_without_a_model_takes_one_for_few_labels(tmp_path):
    session = cusal.Session(X[:400])
    assert type(session.model).__name__ == "FewLabelClassifier"
    for _ in range(3):
        query = session.ask(20)
        session.tell(query.indices, Y[query.indices])
    assert session.evaluate(X[400:], Y[400:]).recalibrated["accuracy"] > 0.8
    session.save(tmp_path / "session")
    again = cusal.Session.load(tmp_path / "session", X[:400])
    assert again.ask(5).indices.tolist() == session.ask(5).indices.tolist()


def test_texts_and_frames_without_a_model_work(tmp_path):
    pandas = pytest.importorskip("pandas")
    texts = [f"{'good' if i % 2 else 'bad'} film number {i % 9}" for i in range(80)]
    session = cusal.Session(texts, labelled={i: "+" if i % 2 else "-" for i in range(10)})
    assert session.predict(["a good film", "a bad film"]).tolist() == ["+", "-"]
    assert len(session.ask(3)) == 3
    frame = pandas.DataFrame({"size": np.arange(60.0), "kind": ["a", "b"] * 30})
    tabled = cusal.Session(frame, labelled={i: int(i > 30) for i in range(0, 60, 4)})
    tabled.save(tmp_path / "session")
    assert cusal.Session.load(tmp_path / "session", frame).ask(3).indices.tolist() == tabled.ask(3).indices.tolist()
    assert tabled.evaluate(frame, (np.arange(60) > 30).astype(int)).raw["accuracy"] > 0.9
