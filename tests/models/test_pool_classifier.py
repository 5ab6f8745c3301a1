"""The classifier on features that are smoothed over the pool."""

from sklearn.utils.estimator_checks import parametrize_with_checks
from cusal.models import PoolClassifier


@parametrize_with_checks([PoolClassifier()])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)
