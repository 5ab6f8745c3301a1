"""scikit-activeml drives our strategies in its own loop, and our sessions and grids drive its strategies."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.apps.bench.grid import read_grid
from cusal.errors import CusalError, InvalidInput, MissingMethod

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore:.*'base_estimator' could not be fitted")]

GRID = """
extends = "digits"
model = {name = "sklearn.linear_model:LogisticRegression", max_iter = 200}
warm_up = 20
rounds = 2
batch_size = 5
pool = 100
seeds = 1
estimator_every = 0
strategies = ["margin", {name = "skactiveml.pool:UncertaintySampling", method = "margin_sampling"}]
"""


@pytest.fixture(scope="module")
def digits():
    items, labels = load_digits(return_X_y=True)
    return items[:400] / 16, labels[:400]


def forest():
    from skactiveml.classifier import SklearnClassifier

    return SklearnClassifier(RandomForestClassifier(5, random_state=0), classes=range(10))


@pytest.mark.parametrize("name", cusal.strategies.names())
def test_its_loop_labels_by_our_strategy(digits, name):
    from skactiveml.utils import unlabeled_indices

    from cusal.adapters import SkactivemlStrategy

    items, labels = digits
    y, strategy = np.full(len(items), np.nan), SkactivemlStrategy(name, random_state=0)
    for _ in range(3):
        picks = strategy.query(items, y, forest(), batch_size=10)
        assert set(picks) <= set(unlabeled_indices(y))
        y[picks] = labels[picks]
    assert len(unlabeled_indices(y)) == len(items) - 30


def test_the_picks_are_those_of_a_session_with_the_same_model(digits):
    from skactiveml.classifier import SklearnClassifier

    from cusal.adapters import SkactivemlStrategy

    items, labels = digits
    y = np.where(np.arange(len(items)) < 60, labels, np.nan)
    for strategy in (cusal.strategies.Cusal(bandwidth=0.01), "margin", "entropy"):
        model = LogisticRegression(max_iter=200)
        session = cusal.Session(items, model, strategy=strategy, labelled=(range(60), labels[:60]), classes=range(10))
        theirs = SkactivemlStrategy(strategy).query(items, y, SklearnClassifier(model, classes=range(10)), batch_size=8)
        np.testing.assert_array_equal(theirs, session.ask(8).indices)


def test_labels_may_be_words_and_candidates_items_of_their_own(digits):
    from skactiveml.classifier import SklearnClassifier

    from cusal.adapters import SkactivemlStrategy

    items, labels = digits
    words = np.array([f"digit {label}" for label in labels], dtype=object)
    words[60:] = None
    model = SklearnClassifier(
        RandomForestClassifier(5, random_state=0), classes=sorted(set(words[:60])), missing_label=None
    )
    strategy = SkactivemlStrategy("bald", missing_label=None, random_state=0)
    whole = strategy.query(items, words, model, batch_size=5)
    apart = strategy.query(items[:60], words[:60], model, candidates=items[60:], batch_size=5)
    np.testing.assert_array_equal(whole, apart + 60)


def test_a_session_asks_by_a_strategy_of_theirs(digits):
    items, labels = digits
    for method, ours in [
        ("margin_sampling", "margin"),
        ("entropy", "entropy"),
        ("least_confident", "least_confidence"),
    ]:
        strategy = cusal.strategies.make("skactiveml.pool:UncertaintySampling", method=method)
        sessions = [
            cusal.Session(items, LogisticRegression(max_iter=200), strategy=each, labelled=(range(60), labels[:60]))
            for each in (strategy, ours)
        ]
        theirs, same = (session.ask(10) for session in sessions)
        np.testing.assert_array_equal(theirs.indices, same.indices)
        assert theirs.strategy == "skactiveml.pool:UncertaintySampling"


@pytest.mark.parametrize(
    "name",
    ["QueryByCommittee", "GreedyBALD", "BatchBALD", "Badge", "CoreSet", "TypiClust", "DiscriminativeAL", "Quire"],
)
def test_their_strategies_get_the_model_the_samples_or_the_embeddings(digits, name):
    items, labels = digits[0][:120], digits[1][:120]
    # Their BatchBALD picks an item twice where every tree is certain of it.
    model = RandomForestClassifier(20, min_samples_leaf=3, random_state=0)
    session = cusal.Session(items, model, strategy=f"skactiveml.pool:{name}", labelled=(range(40), labels[:40]))
    query = session.ask(3)
    assert len(set(query.indices)) == 3
    assert query.indices.min() >= 40
    assert pickle.loads(pickle.dumps(session)).ask(3).indices.tolist() == query.indices.tolist()


def test_those_that_simulate_labels_and_those_that_want_a_classifier_of_theirs_work(digits):
    from skactiveml.classifier import ParzenWindowClassifier

    items, labels = digits[0][:50, :20], digits[1][:50]
    for name, model in [
        ("MonteCarloEER", LogisticRegression()),
        ("ProbabilisticAL", ParzenWindowClassifier(classes=range(10))),
    ]:
        session = cusal.Session(items, model, strategy=f"skactiveml.pool:{name}", labelled=(range(40), labels[:40]))
        assert len(session.ask(2)) == 2


@pytest.mark.needs("sqlalchemy")
def test_a_grid_runs_a_strategy_of_theirs(tmp_path):
    from cusal.apps.bench.experiment import Experiment

    (tmp_path / "grid.toml").write_text(GRID)
    ours, theirs = read_grid(str(tmp_path / "grid.toml")).specs()
    assert theirs.strategy == "skactiveml.pool:UncertaintySampling"
    picked = [Experiment(spec).start().ask(5).indices.tolist() for spec in (ours, theirs)]
    assert picked[0] == picked[1]


def test_what_does_not_fit_is_said():
    with pytest.raises(CusalError, match="did you mean 'UncertaintySampling'"):
        cusal.strategies.find("skactiveml.pool:UncertantySampling")
    with pytest.raises(CusalError, match=r"no setting of skactiveml\.pool:UncertaintySampling named 'metod'"):
        cusal.strategies.make("skactiveml.pool:UncertaintySampling", metod="margin")
    with pytest.raises(InvalidInput, match="needs a regressor"):
        cusal.strategies.find("skactiveml.pool:GreedySamplingTarget")
    with pytest.raises(MissingMethod, match="use it in a Session"):
        cusal.query([[0.5, 0.5]], batch_size=1, strategy="skactiveml.pool:UncertaintySampling")
    texts = ["a b", "c d", "a d", "b c"]
    session = cusal.Session(texts, strategy="skactiveml.pool:Badge", labelled={0: "x", 1: "y"})
    with pytest.raises(MissingMethod, match="turn them into vectors first"):
        session.ask(1)
