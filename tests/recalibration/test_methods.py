"""Which recalibration a session uses, from counts alone."""

import itertools

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cusal.recalibration import Counts, choose_method


class SelfJudged(LogisticRegression):
    """A model that offers out-of-fold predictions."""

    out_of_fold_ = ((0.5, 0.5),)


class Network:
    """A model with a torch module, which starts from scratch in every fit."""

    module = warm_start = None


MODELS = {
    "self-judged": SelfJudged(),
    "pipeline of one": make_pipeline(StandardScaler(), SelfJudged()),
    "warm": SGDClassifier(warm_start=True),
    "network": Network(),
    "linear": LogisticRegression(),
    "kernel": make_pipeline(StandardScaler(), SVC()),
    "boosted": HistGradientBoostingClassifier(),
    "search": GridSearchCV(LogisticRegression(), {}),
}
COUNTS = [Counts(100, 64, 10), Counts(1000, 300, 10), Counts(1500, 1280, 10)]

TABLE = """
self-judged       checked temperature from out-of-fold predictions
self-judged       checked temperature from out-of-fold predictions
self-judged       checked temperature from out-of-fold predictions
pipeline of one   checked temperature from out-of-fold predictions
pipeline of one   checked temperature from out-of-fold predictions
pipeline of one   checked temperature from out-of-fold predictions
warm              temperature from past picks, discount 0.95
warm              temperature from past picks, discount 0.95
warm              temperature from past picks, discount 0.95
network           checked temperature from past picks, discount 0.9
network           checked temperature from past picks, discount 0.9
network           checked temperature from past picks, discount 0.9
linear            checked temperature from out-of-fold predictions, 5 copies a round
linear            checked temperature from out-of-fold predictions, 5 copies a round
linear            checked temperature from past picks, discount 0.9
kernel            checked temperature from out-of-fold predictions, 5 copies a round
kernel            checked temperature from out-of-fold predictions, 5 copies a round
kernel            checked temperature from past picks, discount 0.9
boosted           checked temperature from out-of-fold predictions, 5 copies a round
boosted           checked temperature from past picks, discount 0.9
boosted           checked temperature from past picks, discount 0.9
search            checked temperature from out-of-fold predictions, 5 copies a round
search            checked temperature from past picks, discount 0.9
search            checked temperature from past picks, discount 0.9
"""


def test_the_table_of_auto():
    lines = [
        f"{name:18}{choose_method('auto', model, counts)}"
        for (name, model), counts in itertools.product(MODELS.items(), COUNTS)
    ]
    print("\n".join(lines))
    assert lines == TABLE.strip().splitlines()


@pytest.mark.parametrize(
    ("recalibrate", "method", "judge"),
    [
        (None, "none", "out-of-fold"),
        ("prequential", "temperature from past picks", "out-of-fold"),
        ("held-out", "temperature from held-out predictions, 1 copy a round", "out-of-fold"),
        ("cross-fit", "temperature from out-of-fold predictions, 5 copies a round", "out-of-fold"),
        ("vector", "checked temperature and offsets from out-of-fold predictions, 5 copies a round", "out-of-fold"),
    ],
)
def test_a_method_by_name_is_that_method(recalibrate, method, judge):
    found = choose_method(recalibrate, LogisticRegression(), COUNTS[0])
    assert (str(found), found.judge) == (method, judge)
    assert found.by_name


def test_a_limit_of_none_and_of_any_work():
    judges = [choose_method("auto", SVC(), COUNTS[2], limit=limit).judge for limit in (0, float("inf"))]
    assert judges == ["past picks", "out-of-fold"]
    assert choose_method("auto", SelfJudged(), COUNTS[2], limit=0).judge == "out-of-fold"
