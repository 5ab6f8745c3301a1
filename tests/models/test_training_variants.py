"""What a session gives to models that use unlabelled items, or score the pool in a way of their own."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from cusal import Session, strategies
from cusal.recalibration.temperature_scaled import TemperatureScaled
from cusal.session import simulate

X, Y = load_digits(return_X_y=True)
X = X[:300] / 16
Y = Y[:300]


class Counting(LogisticRegression):
    """A classifier that keeps how many unlabelled items it saw, and the first of them."""

    uses_unlabelled = True

    def fit(self, X, y, *, unlabelled=None):
        self.unlabelled_ = (len(unlabelled), unlabelled.shape, unlabelled[np.array([0])])
        return super().fit(X, y)


class Timid(LogisticRegression):
    """A classifier that shows strategies flatter probabilities than it predicts, and embeds in its own way."""

    def scoring_proba(self, X):
        probs = self.predict_proba(X)
        return 0.5 * probs + 0.5 / probs.shape[1]

    def scoring_embed(self, X):
        return -X


def start(model, strategy="margin"):
    start = {i: int(Y[i]) for i in range(20)}
    return Session(X, model, strategy, labelled=start, classes=range(10), recalibrate="prequential")


def test_a_model_that_uses_unlabelled_items_is_given_the_open_ones():
    session = start(Counting())
    session.fit()
    count, shape, first = session.model.unlabelled_
    assert (count, shape) == (280, (280, 64))
    assert first.tolist() == X[20:21].tolist()
    session.tell([20], [Y[20]])
    session.fit()
    assert session.model.unlabelled_[0] == 279


def test_copies_without_some_labels_are_given_the_open_items_as_the_model_is():
    session = start(Counting())
    session.reference = "cross-fit"
    assert len(session.view.reference_probs) == 20
    seen = []

    def predict(model, items, classes):
        seen.append(model.unlabelled_[:2])
        return np.full((len(items), classes), 1 / classes)

    session._fitted().out_of_sample("cross-fit", predict)
    assert seen == [(280, (280, 64))] * 5


@pytest.mark.parametrize("reference", ["cross-fit", "held-out"])
def test_evidence_out_of_sample_is_scored_as_the_pool_is(reference):
    labelled = {i: int(Y[i]) for i in range(50)}
    session = Session(X, Timid(), "cusal", labelled=labelled, classes=range(10), reference=reference)
    assert session.view.reference_probs.min() >= 0.05  # what the scoring adds
    assert session.view.reference_probs.max() <= 0.55


def test_strategies_see_the_scoring_and_users_the_prediction():
    session = start(Timid())
    view = session.view
    predicted = session.model.predict_proba(X[view.candidates])
    np.testing.assert_allclose(view.probs, 0.5 * predicted + 0.05)
    np.testing.assert_allclose(view.reference_probs, 0.5 * session.model.predict_proba(X[:20]) + 0.05)
    np.testing.assert_allclose(session.open_probs, predicted)
    assert view.embeddings[0].tolist() == (-X[20]).tolist()


def test_evidence_is_the_prediction_and_not_the_scoring():
    session = start(Timid())
    query = session.ask(5)
    predicted = session.model.predict_proba(X[query.indices])
    session.tell(query.indices, Y[query.indices])
    probs, labels = (session.recalibration.probs, session.recalibration.labels)
    assert sorted(labels.tolist()) == sorted(Y[query.indices].tolist())
    np.testing.assert_allclose(np.sort(probs.max(axis=1)), np.sort(predicted.max(axis=1)))


def test_scoring_and_samples_of_a_model_that_has_not_met_every_class_get_its_columns():
    labelled = {i: int(Y[i]) for i in range(300) if Y[i] in (0, 2)}
    few = Session(X, Timid(), labelled=labelled, classes=range(10))
    probs = few.view.probs
    assert (probs[:, [1, 3, 4, 5, 6, 7, 8, 9]] == 0).all()
    forest = TemperatureScaled(RandomForestClassifier(10, random_state=0), random_state=0)
    session = Session(X, forest, "bald", labelled=labelled, classes=range(10))
    assert len(session.ask(5).indices) == 5
    assert session.view.sampled_probs(4).shape[2] == 10


@pytest.mark.parametrize("name", ["margin", "badge", "cusal", "random"])
def test_any_strategy_runs_on_the_scoring(name):
    session = start(Timid(), strategies.find(name)())
    records = list(simulate(session, Y, rounds=2, batch_size=5, test=(X, Y)))
    assert [record.labelled for record in records] == [20, 25, 30]
