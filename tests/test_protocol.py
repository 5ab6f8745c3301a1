"""What cusal asks of a model, and how scikit-learn's models answer."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from cusal import _protocol as protocol
from cusal.errors import InvalidInput, MissingMethod

X, Y = load_digits(return_X_y=True)


def test_random_states_that_the_user_left_open_are_found_at_any_depth():
    assert protocol.unseeded(RandomForestClassifier()) == ["random_state"]
    assert protocol.unseeded(RandomForestClassifier(random_state=3)) == []
    assert protocol.unseeded(GaussianNB()) == []
    pipeline = make_pipeline(RandomForestClassifier())
    assert protocol.unseeded(pipeline) == ["randomforestclassifier__random_state"]
    fitted = protocol.fitted_copy(
        pipeline, (X[:50], Y[:50]), unlabelled=X[50:], seed=7, seeded=protocol.unseeded(pipeline)
    )
    assert fitted[-1].random_state == 7
    assert pipeline[-1].random_state is None


def test_classes_that_the_model_has_not_met_get_probability_zero():
    some = np.isin(Y, [2, 5])
    probs = protocol.predict_proba(GaussianNB().fit(X[some], Y[some]), X[:20], 10)
    assert probs.shape == (20, 10)
    assert (probs[:, [0, 1, 3, 4, 6, 7, 8, 9]] == 0).all()
    assert probs.sum(axis=1) == pytest.approx(1)


def test_a_model_of_more_classes_than_are_known_is_named():
    with pytest.raises(InvalidInput, match="GaussianNB predicts 10 classes, but 3 are known"):
        protocol.predict_proba(GaussianNB().fit(X, Y), X[:2], 3)


@pytest.mark.parametrize("ensemble", [RandomForestClassifier(8), BaggingClassifier(n_estimators=8, max_features=0.5)])
def test_members_of_an_ensemble_are_its_samples(ensemble):
    some = Y != 4
    ensemble.set_params(random_state=0).fit(X[some], Y[some])
    samples = protocol.sample_proba(ensemble, X[:30], 8, classes=10)
    assert samples.shape == (30, 8, 10)
    assert samples.mean(axis=1) == pytest.approx(protocol.predict_proba(ensemble, X[:30], 10))
    assert protocol.sample_proba(ensemble, X[:30], 5, classes=10).shape == (30, 5, 10)
    assert protocol.sample_proba(ensemble, X[:30], 50, classes=10).shape == (30, 8, 10)


@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=50), GradientBoostingClassifier(n_estimators=2)], ids=str
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_without_samples_says_what_to_use(model):
    with pytest.raises(MissingMethod, match="no method sample_proba"):
        protocol.sample_proba(model.fit(X[:100], Y[:100]), X[:2], 5, classes=10)


def test_tables_are_their_own_embedding_and_images_or_texts_are_not():
    assert (protocol.embed(GaussianNB(), X[:4]) == X[:4]).all()
    for items in (np.zeros((3, 8, 8)), np.array(["a", "b"])):
        with pytest.raises(MissingMethod, match=r"has no method embed\(X\)"):
            protocol.embed(GaussianNB(), items)
