"""small-text drives our strategies in its own loop, and its wheel's tests of query strategies pass."""

import unittest

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from small_text import (
    ConfidenceEnhancedLinearSVC,
    PoolBasedActiveLearner,
    PoolExhaustedException,
    SklearnClassifier,
    SklearnClassifierFactory,
    SklearnDataset,
)
from tests.unit.small_text.query_strategies.test_strategies import SamplingStrategiesTests

import cusal
from cusal.adapters import SmallTextStrategy
from cusal.errors import InvalidInput

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore:Passing target_labels=None")]  # its mixin does

SAMPLING = {"bald", "batch_bald"}  # small-text's mixin has a linear model, which has no samples
WORDS = ["good film", "fine plot", "bad film", "dull plot", "good plot", "bad acting", "fine acting", "dull film"]


class OneStrategy(SamplingStrategiesTests):
    """What the mixin asks of a test of a query strategy."""

    name: str

    def _get_clf(self):
        return SklearnClassifier(ConfidenceEnhancedLinearSVC(), 2)

    def _get_query_strategy(self):
        return SmallTextStrategy(self.name)


for strategy in sorted({*cusal.strategies.names()} - SAMPLING):
    title = f"Test{strategy.title().replace('_', '')}"
    globals()[title] = type(title, (OneStrategy, unittest.TestCase), {"name": strategy, "__module__": __name__})


@pytest.fixture(scope="module")
def digits():
    items, labels = load_digits(return_X_y=True)
    return SklearnDataset(items[:400] / 16, labels[:400].astype(int), target_labels=np.arange(10))


def started(data, strategy, model):
    """Return small-text's learner after its first forty labels."""
    factory = SklearnClassifierFactory(model, 10)
    learner = PoolBasedActiveLearner(factory, SmallTextStrategy(strategy), data)
    learner.initialize_data(np.arange(40), data.y[:40])
    return learner


@pytest.mark.parametrize("name", cusal.strategies.names())
def test_its_loop_learns_what_our_strategy_picks(digits, name):
    learner = started(digits, name, RandomForestClassifier(5, random_state=0))
    for _ in range(3):
        picks = learner.query(num_samples=5)
        learner.update(digits.y[picks])
    assert len(set(learner.indices_labeled)) == 55


def test_the_picks_are_those_of_a_session(digits):
    for strategy in (cusal.strategies.Cusal(bandwidth=0.01), "margin", "coreset"):
        model = LogisticRegression(max_iter=200)
        learner = started(digits, strategy, model)
        known = (range(40), digits.y[:40])
        session = cusal.Session(digits.x, model, strategy=strategy, labelled=known, classes=range(10))
        np.testing.assert_array_equal(learner.query(num_samples=7), session.ask(7).indices)


def test_texts_have_vectors_and_classes_may_be_missing_at_first():
    texts = WORDS * 5
    data = SklearnDataset(TfidfVectorizer().fit_transform(texts), np.arange(40) % 4 // 2, target_labels=np.arange(3))
    learner = PoolBasedActiveLearner(
        SklearnClassifierFactory(LogisticRegression(), 3), SmallTextStrategy("badge"), data
    )
    learner.initialize_data(np.array([0, 2, 4]), np.array([0, 2, 0]))
    assert len(learner.query(num_samples=5)) == 5


def test_what_does_not_fit_is_said(digits):
    learner = started(digits, "margin", LogisticRegression(max_iter=200))
    with pytest.raises(PoolExhaustedException):
        learner.query(num_samples=361)
    many = TfidfVectorizer().fit_transform(WORDS)
    with pytest.raises(InvalidInput, match="several labels"):
        SmallTextStrategy("margin").query(learner.classifier, digits, np.arange(40, 50), np.arange(8), many)
