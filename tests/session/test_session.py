"""Ask and tell, as a user with a model of their own would."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import cusal
from cusal.errors import (
    CusalError,
    CusalWarning,
    DataError,
    InvalidInput,
    MissingMethod,
    NotReady,
    PoolExhausted,
    UnknownName,
)
from cusal.models.networks import SmallNet
from cusal.models.torch_classifier import TorchClassifier
from cusal.recalibration.temperature import fit_temperature

X, Y = load_digits(return_X_y=True)
X = X / 16
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])


def digits(strategy="cusal", *, labelled=20, size=400, model=None, **options):
    start = {int(i): int(Y[i]) for i in range(labelled)}
    return cusal.Session(
        X[:size], LogisticRegression(max_iter=500) if model is None else model, strategy, labelled=start, **options
    )


def state(session):
    return (session.labels, session.pool.state.tolist(), session.round, session.classes_.tolist())


def test_a_loop_gets_better_than_where_it_started():
    session = digits(size=1200)
    session.fit()
    before = cusal.metrics.accuracy(session.predict_proba(X[1200:]), Y[1200:])
    for _ in range(8):
        query = session.ask(10)
        session.tell(query.indices, Y[query.indices])
    after = cusal.metrics.accuracy(session.predict_proba(X[1200:]), Y[1200:])
    assert len(session.labels) == 100
    assert after > before + 0.1


def test_a_query_carries_scores_and_not_only_indices():
    query = digits().ask(5)
    assert len(query) == 5
    assert query.probs.shape == (5, 10)
    assert query.error.shape == query.confidence.shape == query.decided_by.shape == (5,)
    assert (np.diff(query.error) <= 1e-6).all()


@pytest.mark.parametrize("name", cusal.strategies.names())
def test_every_strategy_works_with_a_plain_scikit_learn_model(name):
    model = (
        RandomForestClassifier(20)
        if "samples" in cusal.strategies.find(name).needs
        else LogisticRegression(max_iter=500)
    )
    session = digits(name, model=model)
    query = session.ask(7)
    assert len(set(query.indices.tolist()) - set(session.labels)) == 7
    session.tell(query.indices, Y[query.indices])
    assert len(session.ask(3)) == 3


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression()), BaggingClassifier(n_estimators=5)],
    ids=lambda model: type(model).__name__,
)
def test_any_scikit_learn_classifier_works_as_it_is(model):
    session = digits("entropy", model=model)
    assert session.predict_proba(X[:3]).shape == (3, 10)
    assert len(session.ask(3)) == 3


def test_labels_come_in_any_order_in_parts_and_for_items_never_asked():
    one, other = digits("margin"), digits("margin")
    query = one.ask(6)
    one.tell(query.indices, Y[query.indices])
    one.tell([390], [Y[390]])
    other.tell([390], [Y[390]])
    for index in query.indices[::-1]:
        other.tell(index, Y[index])
    assert one.labels == other.labels
    assert (one.ask(5).indices == other.ask(5).indices).all()


def test_telling_again_corrects():
    session = digits()
    session.tell([3], [7])
    assert session.labels[3] == 7
    session.tell([3], [int(Y[3])])
    assert session.labels == digits().labels
    assert (session.ask(4).indices == digits().ask(4).indices).all()


def test_a_skipped_item_is_not_asked_again_unless_reopened_or_told():
    session = digits("least_confidence")
    first = session.ask(1).indices
    session.skip(first)
    assert session.ask(1).indices[0] != first[0]
    session.reopen(first)
    assert session.ask(1).indices[0] == first[0]
    session.skip(first)
    session.tell(first, Y[first])
    assert first[0] in session.labels
    with pytest.raises(InvalidInput, match="has a label already"):
        session.skip(first)


def test_reopening_takes_a_label_back():
    session = digits()
    session.reopen([5])
    assert 5 not in session.labels
    assert 5 in session.pool.open


def test_asking_twice_before_telling_gives_the_same_items():
    for strategy in ("random", "badge", "cusal"):
        session = digits(strategy)
        assert (session.ask(5).indices == session.ask(5).indices).all()


def test_strings_come_back_as_given():
    session = cusal.Session(
        X[:300], LogisticRegression(max_iter=500), labelled={i: str(NAMES[Y[i]]) for i in range(20)}
    )
    query = session.ask(3)
    session.tell(query.indices, NAMES[Y[query.indices]])
    assert set(session.labels.values()) <= set(NAMES.tolist())
    assert session.classes_.tolist() == sorted(set(NAMES[Y[:20]].tolist()))
    assert session.labels[0] == "zero"


def test_a_class_met_late_takes_its_place_among_the_sorted_columns():
    session = cusal.Session(X[:300], GaussianNB(), labelled={0: "b", 1: "c"})
    session.tell([2], ["a"])
    assert session.classes_.tolist() == ["a", "b", "c"]
    probs = session.predict_proba(X[:3])
    assert probs.argmax(axis=1).tolist() == [1, 2, 0]
    assert session.ask(2).probs.shape == (2, 3)
    raw = session.model.predict_proba(X[:3])
    assert np.allclose(session.view.probs_of(np.array([7])).sum(), 1)
    assert raw.argmax(axis=1).tolist() == [0, 1, 2]  # by class number: the order in which classes were met


def test_given_classes_that_nobody_labelled_have_probability_zero():
    session = cusal.Session(X[:300], GaussianNB(), labelled={0: 0, 1: 1}, classes=range(10))
    probs = session.predict_proba(X[:4])
    assert probs.shape == (4, 10)
    assert (probs[:, 2:] == 0).all()


def test_without_labels_the_cold_start_chooses_from_most_classes():
    session = cusal.Session(X, LogisticRegression(max_iter=500), seed=1)
    first = session.ask(20)
    assert first.strategy == "cold_start"
    assert first.probs is None
    assert first.confidence is None
    assert len(set(first.indices.tolist())) == 20
    assert len(set(Y[first.indices].tolist())) >= 8


def test_one_class_is_asked_about_by_the_cold_start_which_says_so():
    session = cusal.Session(X, LogisticRegression(), labelled={0: "cat", 5: "cat"})
    with pytest.warns(CusalWarning, match="all 2 labels are 'cat', and a classifier needs two classes"):
        query = session.ask(3)
    assert query.strategy == "cold_start"
    assert not set(query.indices.tolist()) & {0, 5}
    assert session.ask(3, strategy="random").strategy == "random"
    with pytest.raises(NotReady, match="all 2 labels are 'cat'"):
        session.predict(X)
    with pytest.raises(NotReady, match="no item has a label"):
        cusal.Session(X, LogisticRegression()).predict_proba(X)


def test_texts_work_through_a_pipeline():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"{'good' if i % 2 else 'bad'} film number {i}" for i in range(40)]
    session = cusal.Session(texts, make_pipeline(TfidfVectorizer(), LogisticRegression()), labelled={0: "-", 1: "+"})
    query = session.ask(4)
    session.tell(query.indices, ["+" if i % 2 else "-" for i in query.indices])
    assert session.predict_proba(["a good film"]).shape == (1, 2)


def test_the_users_model_is_left_alone():
    model = RandomForestClassifier(5)
    session = digits(model=model)
    session.ask(2)
    assert not hasattr(model, "estimators_")
    assert model.random_state is None
    assert session.model is not model


def test_the_same_seed_gives_the_same_queries_whatever_numpy_is_doing():
    def picks(seed):
        session = digits("badge", model=RandomForestClassifier(5), seed=seed)
        chosen = []
        for _ in range(3):
            query = session.ask(4)
            chosen.append(query.indices.tolist())
            np.random.default_rng().random()
            session.tell(query.indices, Y[query.indices])
        return chosen

    assert picks(0) == picks(0)
    assert picks(0) != picks(1)


@pytest.mark.parametrize("reference", ["fitted", "cross-fit", "held-out"])
def test_each_reference_gives_a_query(reference):
    session = digits(reference=reference)
    query = session.ask(5)
    expected = 4 if reference == "held-out" else 20
    assert session.view.reference_probs.shape == (expected, 10)
    assert len(query) == 5


def test_out_of_fold_references_are_less_sure_of_their_labels_than_fitted_ones():
    def own(reference):
        view = digits(labelled=100, reference=reference).view
        return view.reference_probs[np.arange(100), view.reference_labels].mean()

    assert own("cross-fit") < own("fitted")


@pytest.mark.parametrize("method", ["cross-fit", "held-out"])
def test_out_of_sample_copies_of_a_warm_network_are_trained_as_long_as_it(method):
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    network = TorchClassifier(SmallNet(64, 10), epochs=30)
    labelled = {i: int(y[i]) for i in range(20)}
    session = cusal.Session(X[:600], network, "random", labelled=labelled, classes=range(10), recalibrate=method)
    for _ in range(20):
        query = session.ask(10)
        session.tell(query.indices, y[query.indices])
    raw = session.model.predict_proba(X[600:])
    best = fit_temperature(np.log(raw), y[600:], strength=0)
    assert 0.6 * best < session.recalibration.temperature < 1.7 * best


def test_saving_and_loading_in_a_new_process_goes_on_as_if_it_had_not_stopped(tmp_path):
    session = digits("cusal", model=RandomForestClassifier(10), size=300)
    for _ in range(3):
        query = session.ask(5)
        session.tell(query.indices, Y[query.indices])
    half = session.ask(5)
    session.tell(half.indices[:2], Y[half.indices[:2]])
    session.save(tmp_path / "session.pickle")

    program = f"""
        import cusal
        from sklearn.datasets import load_digits
        X, Y = load_digits(return_X_y=True)
        session = cusal.Session.load({str(tmp_path / "session.pickle")!r}, X[:300] / 16)
        for _ in range(3):
            query = session.ask(5)
            print(*query.indices)
            session.tell(query.indices, Y[query.indices])
        print(session.calibration.temperature, session.calibration.evidence)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    lines = []
    for _ in range(3):
        query = session.ask(5)
        lines.append(" ".join(map(str, query.indices)))
        session.tell(query.indices, Y[query.indices])
    lines.append(f"{session.calibration.temperature} {session.calibration.evidence}")
    assert out.stdout.splitlines() == lines


def test_a_loaded_session_answers_before_new_labels_exactly_as_before(tmp_path):
    session = digits("random", model=RandomForestClassifier(10))
    asked, probs = session.ask(5).indices, session.predict_proba(X[:10])
    session.save(tmp_path / "s")
    loaded = cusal.Session.load(tmp_path / "s", X[:400])
    assert (loaded.predict_proba(X[:10]) == probs).all()
    assert (loaded.ask(5).indices == asked).all()
    assert loaded.round == session.round


def test_files_that_are_no_sessions_are_named(tmp_path):
    with pytest.raises(DataError, match="no file"):
        cusal.Session.load(tmp_path / "none", X)
    (tmp_path / "bad").write_bytes(b"not a pickle")
    for trusted in (False, True):
        with pytest.raises(DataError, match=r"bad is not a saved cusal\.Session"):
            cusal.Session.load(tmp_path / "bad", X, trusted=trusted)
    digits().save(tmp_path / "good")
    with pytest.raises(InvalidInput, match="saved over 400 items, but 1797"):
        cusal.Session.load(tmp_path / "good", X)


BAD = [
    (lambda s: s.ask(0), "batch_size is 0"),
    (lambda s: s.ask(2.5), "batch_size is 2.5"),
    (lambda s: s.ask(True), "batch_size is True"),
    (lambda s: s.ask(381), "asked for 381 items, but only 380 are open"),
    (lambda s: s.ask(2, strategy="badger"), "did you mean 'badge'"),
    (lambda s: s.ask(2, strategy="bald"), "has no method sample_proba"),
    (lambda s: s.tell([400], [1]), "holds 400, but the data set has 400 items"),
    (lambda s: s.tell([-1], [1]), "holds -1"),
    (lambda s: s.tell([1.5], [1]), "expected a list of integers"),
    (lambda s: s.tell([1, 1], [1, 2]), "holds 1 twice"),
    (lambda s: s.tell([1, 2], [1]), "told 1 labels for 2 items"),
    (lambda s: s.tell([30, 31], [1, None]), "label 1 is None"),
    (lambda s: s.tell([30, 31], [1, float("nan")]), "label 1 is nan"),
    (lambda s: s.tell([30, 31], [1, [2]]), "must be hashable"),
    (lambda s: s.skip([4000]), "holds 4000"),
    (lambda s: s.reopen(["a"]), "expected a list of integers"),
]


@pytest.mark.parametrize(("act", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_named_and_leaves_the_session_as_it_was(act, message):
    session = digits()
    session.fit()
    before = state(session)
    with pytest.raises(CusalError, match=message):
        act(session)
    assert state(session) == before
    assert (session.ask(3).indices == digits().ask(3).indices).all()


def test_an_unknown_class_is_named_when_all_were_given():
    session = cusal.Session(X, GaussianNB(), labelled={0: "cat", 1: "dog"}, classes=["cat", "dog"])
    with pytest.raises(InvalidInput, match="'dgo' is not one of the 2 classes; did you mean 'dog'"):
        session.tell([5], ["dgo"])
    assert 5 not in session.labels


def test_a_model_that_cannot_predict_is_named():
    with pytest.raises(MissingMethod, match="LinearSVC has no method predict_proba"):
        cusal.Session(X, LinearSVC())
    with pytest.raises(UnknownName, match="did you mean 'prequential'"):
        digits(recalibrate="preqential")
    with pytest.raises(UnknownName, match="reference"):
        digits(reference="holdout")


def test_a_failing_fit_leaves_the_model_as_it_was():
    class Fails(GaussianNB):
        def fit(self, X, y):
            if len(X) > 22:
                raise RuntimeError("out of memory")
            return super().fit(X, y)

    session = digits("margin", model=Fails())
    query = session.ask(5)
    good = session.model.predict_proba(X[:5])
    session.tell(query.indices, Y[query.indices])
    with pytest.raises(RuntimeError, match="out of memory"):
        session.ask(5)
    assert (session.model.predict_proba(X[:5]) == good).all()
    assert len(session.labels) == 25


def test_a_model_that_predicts_nonsense_is_named():
    class Broken(GaussianNB):
        def predict_proba(self, X):
            probs = super().predict_proba(X)
            probs[1] = np.nan
            return probs

    with pytest.raises(InvalidInput, match="the prediction of Broken: row 1 holds NaN"):
        digits(model=Broken()).ask(3)


def test_the_last_item_can_be_asked_for_and_then_no_more():
    session = cusal.Session(X[:12], LogisticRegression(max_iter=500), labelled={i: int(Y[i]) for i in range(11)})
    query = session.ask(1)
    session.tell(query.indices, Y[query.indices])
    with pytest.raises(PoolExhausted, match="only 0 are open"):
        session.ask(1)
    assert session.predict_proba(X[:2]).shape == (2, 10)
