"""Classifiers around others are scikit-learn estimators, whatever kind the labels are of."""

from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from cusal.errors import InvalidInput, NotReady
from cusal.models import Ensemble, Uncalibrated
from cusal.recalibration import TemperatureScaled

pytest.importorskip("sklearn", minversion="1.6")  # before, a wrapper cannot say what items its model takes

CHECKS = parametrize_with_checks(
    [
        TemperatureScaled(LogisticRegression()),
        TemperatureScaled(LogisticRegression(), method="cross-fit", random_state=0),
        Uncalibrated(LogisticRegression(), random_state=0),
        Ensemble(DecisionTreeClassifier(), random_state=0),
    ]
)


@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_wrapper_is_a_scikit_learn_classifier(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        if "SCIPY_ARRAY_API" not in str(reason):  # which the process must set before it starts
            raise


@pytest.fixture(scope="module")
def digits():
    images, labels = load_digits(return_X_y=True)
    return images[:300] / 16, labels[:300]


@pytest.mark.parametrize("kind", [TemperatureScaled, Uncalibrated, Ensemble])
def test_words_are_numbered_and_named_again(digits, kind):
    X, y = digits
    words = np.array([f"digit {label}" for label in y])
    forest = RandomForestClassifier(10, random_state=0)
    numbers, names = (kind(clone(forest), random_state=0).fit(X, labels) for labels in (y, words))
    np.testing.assert_array_equal(names.predict_proba(X), numbers.predict_proba(X))
    np.testing.assert_array_equal(names.sample_proba(X, 2), numbers.sample_proba(X, 2))
    assert names.classes_.tolist() == sorted(set(words))
    assert (names.predict(X) == words).mean() > 0.9


def test_settings_of_the_model_inside_a_pipeline_are_searched(digits):
    model = TemperatureScaled(make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)))
    search = GridSearchCV(model, {"model__logisticregression__C": [1e-4, 1.0]}, cv=3).fit(*digits)
    assert search.best_params_ == {"model__logisticregression__C": 1.0}


def test_errors_are_those_of_both_libraries(digits):
    for error in (NotReady, NotFittedError):
        with pytest.raises(error, match="call fit"):
            TemperatureScaled(LogisticRegression()).predict(digits[0])
    with pytest.raises(InvalidInput, match="3 labels for 2 items"):
        Uncalibrated(LogisticRegression()).fit(digits[0][:2], [0, 1, 1])


def test_a_warm_model_keeps_the_names_of_its_classes(digits):
    X, words = digits[0], np.where(digits[1] % 2, "odd", "even")
    model = Uncalibrated(RandomForestClassifier(5, random_state=0, warm_start=True), random_state=0).fit(X, words)
    with pytest.raises(InvalidInput, match="did not know"):
        model.fit(X, np.where(digits[1] > 5, "large", "even"))
