"""Classifiers of scikit-learn as arrays: the same predictions, and no array that hangs a reader."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PowerTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cusal.deploy.array_models import CLOSE, ArrayModel, as_arrays
from cusal.errors import DataError

X, Y = load_wine(return_X_y=True)
MODELS = {
    "logistic regression": LogisticRegression(max_iter=50),
    "scaled logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "scaled twice": make_pipeline(MinMaxScaler(), StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
    "discriminant analysis": LinearDiscriminantAnalysis(),
    "gaussian": GaussianNB(),
    "counts": MultinomialNB(),
    "neighbours": KNeighborsClassifier(5),
    "near neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(7, weights="distance")),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(20, random_state=0),
    "random trees": make_pipeline(MaxAbsScaler(), ExtraTreesClassifier(20, random_state=0)),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", MODELS)
def test_the_arrays_predict_what_the_classifier_does(kind, classes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 50 steps are not enough for unscaled columns
        model = MODELS[kind].fit(X[::2], np.minimum(Y, classes - 1)[::2])
    found = as_arrays(model, X[::2])
    assert found is not None
    assert np.abs(ArrayModel.restore(found.state()).predict_proba(X) - model.predict_proba(X)).max() < CLOSE
    assert found.predict_proba(X[:0]).shape == (0, classes)


def test_sparse_rows_are_predicted_alike():
    model = make_pipeline(MaxAbsScaler(), LogisticRegression()).fit(csr_matrix(X), Y)
    found = as_arrays(model, csr_matrix(X))
    assert np.abs(found.predict_proba(csr_matrix(X)) - model.predict_proba(X)).max() < 1e-12


def test_what_has_no_such_form_is_left_as_it_is():
    class Own(LogisticRegression):
        """A class of a user's, which may predict otherwise."""

    for model in (GradientBoostingClassifier(n_estimators=2), make_pipeline(PowerTransformer(), GaussianNB())):
        assert as_arrays(model.fit(X, Y), X) is None
    assert as_arrays(Own(max_iter=5000).fit(X, Y), X) is None


@pytest.mark.parametrize("damage", ["a loop", "a child out of range", "no roots", "other values"])
def test_trees_that_lead_nowhere_are_refused(damage):
    state = as_arrays(DecisionTreeClassifier(random_state=0).fit(X, Y), X).state()
    parts = state["parts"]
    if damage == "a loop":
        parts["children"][0] = 0
    elif damage == "a child out of range":
        parts["children"][0, 1] = 10**6
    elif damage == "no roots":
        parts["roots"] = parts["roots"][:0]
    else:
        parts["values"] = parts["values"][:-1]
    with pytest.raises((DataError, ValueError), match=r"do not fit each other|zero-size"):
        ArrayModel.restore(state)
