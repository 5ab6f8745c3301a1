"""What out-of-fold evidence weighs by the distance of its items to what their models were fitted to."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.recalibration.covariate_weights import MOST, covariate_weights

X, Y = load_digits(return_X_y=True)
X = X / 16


def spread(count: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labelled items of which the last ten lie apart, their folds, and open items beside the others."""
    rng = np.random.default_rng(0)
    near = rng.normal(size=(count - 10, 3))
    far = 20 + 10 * rng.normal(size=(10, 3))
    return np.vstack([near, far]), np.arange(count) % 5, rng.normal(size=(300, 3))


def test_items_that_lie_apart_weigh_less() -> None:
    weights = covariate_weights(*spread())
    assert weights[-10:].max() < weights[:-10].min()


def test_weights_are_bounded() -> None:
    weights = covariate_weights(*spread())
    assert weights.min() >= 1 / MOST
    assert weights.max() <= MOST


def test_items_like_the_open_ones_weigh_about_the_same() -> None:
    rng = np.random.default_rng(1)
    weights = covariate_weights(rng.normal(size=(200, 2)), np.arange(200) % 5, rng.normal(size=(1000, 2)))
    assert weights.std() < 0.25 * weights.mean()


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
def test_unit_and_origin_play_no_part(scale: float) -> None:
    points, folds, others = spread()
    moved = covariate_weights(scale * (points + 7), folds, scale * (others + 7))
    np.testing.assert_allclose(moved, covariate_weights(points, folds, others), rtol=1e-3)


def test_equal_items_one_fold_and_no_open_items_weigh_the_same() -> None:
    points, folds, others = spread()
    assert (covariate_weights(np.ones((5, 2)), np.arange(5), np.ones((9, 2))) == 1).all()
    assert (covariate_weights(points, np.zeros_like(folds), others) == 1).all()
    assert (covariate_weights(points, folds, others[:0]) == 1).all()


def test_duplicates_do_no_harm() -> None:
    points, folds, others = spread()
    weights = covariate_weights(np.vstack([points, points]), np.concatenate([folds, folds + 1]), others)
    assert np.isfinite(weights).all()


def begun(recalibrate: str) -> cusal.Session:
    model = LogisticRegression(max_iter=300)
    session = cusal.Session(X[:900], model, labelled=dict(enumerate(Y[:20].tolist())), recalibrate=recalibrate)
    for _ in range(6):
        query = session.ask(10)
        session.tell(query.indices, Y[query.indices])
    return session


def test_the_default_weighs_evidence_by_likeness_and_vector_does_not() -> None:
    session = begun("auto")
    weights = session.recalibration.weights
    assert len(set(weights.round(6))) > 10
    assert weights.mean() == pytest.approx(1)
    assert len(set(begun("vector").recalibration.weights)) == 1


def test_a_resumed_session_weighs_evidence_alike() -> None:
    session = begun("auto")
    resumed = cusal.Session.resume(session.checkpoint(), X[:900])
    np.testing.assert_array_equal(resumed.recalibration.weights, session.recalibration.weights)


class Flat(LogisticRegression):
    """A model of images, without embeddings."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Flat":
        return super().fit(X.reshape(len(X), -1), y)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return super().predict_proba(X.reshape(len(X), -1))


def test_without_vectors_all_weigh_the_same() -> None:
    images = X[:900].reshape(-1, 8, 8)
    session = cusal.Session(images, Flat(max_iter=300), "margin", labelled=dict(enumerate(Y[:40].tolist())))
    assert len(set(session.recalibration.weights)) == 1
