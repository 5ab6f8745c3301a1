"""What all experts of a pool promise, and what each computes."""

import numpy as np
import pytest
from scipy import linalg
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from cusal.errors import UnknownName
from cusal.models import experts
from cusal.models._points import Anchors, Points, Space
from cusal.models._smoothed_pool import Settings
from cusal.models.experts import ridge
from cusal.models.experts._expert import Labelled, stratified
from cusal.models.experts._folded import Folded

SETTINGS = Settings(10, 0.5, "auto")


def labelled_of(X, y, pool=None, seed=0):
    space = Space.learn(X, pool, SETTINGS)
    points = Points(space, X)
    folds = stratified(y, np.random.RandomState(seed))
    anchors = Anchors.at(points, space.gamma(points.features))
    return space, Labelled(points, anchors, y, classes=int(y.max()) + 1, folds=folds, seed=seed)


def made(name):
    return Folded(LogisticRegression(max_iter=5000)) if name == "own" else experts.find(name)()


@pytest.fixture(scope="module", params=["dense", "pool", "sparse", "wide"])
def case(request):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    X, y = X[order], y[order]
    if request.param == "wide":
        X = np.hstack([X, X[:, ::-1] ** 2, np.random.default_rng(0).normal(size=(len(X), 60))])
    if request.param == "sparse":
        X = csr_matrix(X)
    space, labelled = labelled_of(X[:90], y[:90], None if request.param == "dense" else X[:700])
    return space, labelled, X[700:1100], y[700:1100]


@pytest.mark.parametrize("name", [*experts.names(), "own"])
def test_every_expert_learns_and_knows_how_well(case, name):
    space, labelled, X, y = case
    expert = made(name).fit(labelled)
    probs = expert.predict_proba(Points(space, X))
    for said, rows in ((probs, X.shape[0]), (expert.out_of_fold_, 90)):
        assert said.shape == (rows, 10)
        assert (said >= 0).all()
        np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-6)
    right = np.mean(probs.argmax(axis=1) == y)
    assert right > 0.6
    assert abs(np.mean(expert.out_of_fold_.argmax(axis=1) == labelled.numbers) - right) < 0.2


@pytest.mark.parametrize("name", [*experts.names(), "own"])
def test_no_expert_has_seen_the_label_that_it_predicts_out_of_fold(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 8)), rng.permutation(np.arange(200) % 2)
    _, labelled = labelled_of(X, y)
    expert = made(name).fit(labelled)
    assert np.mean(expert.out_of_fold_.argmax(axis=1) == y) < 0.6


@pytest.mark.parametrize("name", experts.names())
def test_every_expert_of_cusal_comes_back_from_its_state(case, name):
    space, labelled, X, _ = case
    expert = made(name).fit(labelled)
    again = experts.find(name).from_state(expert.state(), space, labelled.classes)
    np.testing.assert_allclose(
        again.predict_proba(Points(space, X)), expert.predict_proba(Points(space, X)), rtol=1e-5, atol=1e-6
    )


def test_leaving_one_out_equals_fits_without_it():
    X, y = load_wine(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[::4]
    Y = np.eye(3)[y[::4]]
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    values, vectors = ridge._eigen(K)
    probs, steepness, _ = ridge._leave_one_out(values, vectors, 0.1, Y)
    for left in (0, 20, 44):
        seen = np.delete(np.arange(len(Y)), left)
        centre = np.eye(len(seen)) - 1 / len(seen)
        alpha = linalg.solve(
            centre @ K[np.ix_(seen, seen)] @ centre + 0.1 * np.eye(len(seen)), Y[seen] - Y[seen].mean(axis=0)
        )
        f = Y[seen].mean(axis=0) + (K[left, seen] - K[np.ix_(seen, seen)].mean(axis=0)) @ alpha
        own = np.exp(steepness * f)
        np.testing.assert_allclose(probs[left], own / own.sum(), rtol=1e-6)


def test_discriminants_agree_with_scikit_learn_where_there_are_many_labels():
    X, y = load_wine(return_X_y=True)
    space, labelled = labelled_of(X, y)
    ours = experts.find("lda")().fit(labelled).predict_proba(Points(space, X))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(scaled, y).predict_proba(scaled)
    assert np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1)) > 0.98
    assert np.abs(ours - theirs).mean() < 0.02


def test_an_unknown_expert_is_named():
    with pytest.raises(UnknownName, match="oracle"):
        experts.find("oracle")
