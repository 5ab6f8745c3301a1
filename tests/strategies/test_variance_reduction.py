"""Variance reduction: unsure items that say most about other unsure ones."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.errors import InvalidInput
from cusal.strategies import variance_reduction
from cusal.strategies._view import View
from cusal.strategies.margin import Margin
from cusal.strategies.variance_reduction import NOISE, VarianceReduction


def make_view(size: int = 80, *, labelled: int = 7, embeddings: bool = True) -> View:
    rng = np.random.default_rng(0)
    probs, points = rng.dirichlet(np.ones(3), size), rng.normal(size=(size, 4))
    known = rng.normal(size=(labelled, 4))
    return View.of_arrays(
        np.arange(size),
        np.random.default_rng(1),
        probs=probs,
        embeddings=points if embeddings else None,
        reference_embeddings=known if embeddings else None,
    )


def kernel(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    apart = ((left[:, None] - right[None]) ** 2).sum(axis=2)
    return (left @ right.T + np.exp(-apart / 2)) / 2


def test_each_pick_lowers_the_weighted_variance_most() -> None:
    view = make_view()
    points, known = view.embeddings, view.reference_embeddings
    centre, unit = points.mean(axis=0), np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())
    points, known = (points - centre) / unit, (known - centre) / unit
    top = np.sort(view.probs, axis=1)
    doubt = 1 - (top[:, -1] - top[:, -2])
    shortlist = np.argsort(-doubt)[:15].tolist()
    expected: list[int] = []
    for _ in range(3):
        seen = np.vstack([known, points[expected]])
        inverse = np.linalg.inv(kernel(seen, seen) + NOISE * np.eye(len(seen)))
        covariance = kernel(points, points) - kernel(points, seen) @ inverse @ kernel(seen, points)
        gain = {x: doubt[x] * (covariance[x] ** 2 @ doubt) / (covariance[x, x] + NOISE) for x in shortlist}
        expected.append(max((x for x in shortlist if x not in expected), key=gain.__getitem__))
    assert VarianceReduction().select(view, 3).tolist() == expected


def test_items_beside_a_labelled_one_are_left_alone() -> None:
    points = np.repeat([[0.0, 3.0], [3.0, 0.0]], 10, axis=0)
    view = View.of_arrays(
        np.arange(20),
        np.random.default_rng(0),
        probs=np.tile([0.5, 0.5], (20, 1)),
        embeddings=points,
        reference_embeddings=np.tile([[0.0, 3.0]], (5, 1)),
    )
    assert VarianceReduction(factor=20).select(view, 1)[0] >= 10


def test_picks_are_of_the_shortlist() -> None:
    assert set(VarianceReduction(factor=2).select(make_view(), 6)) <= set(Margin().select(make_view(), 12))


def test_a_factor_of_one_is_margin() -> None:
    picks = VarianceReduction(factor=1).select(make_view(), 6)
    np.testing.assert_array_equal(picks, Margin().select(make_view(), 6))


def test_without_embeddings_it_is_margin() -> None:
    view = make_view(embeddings=False)
    np.testing.assert_array_equal(VarianceReduction().select(view, 9), Margin().select(view, 9))


def test_without_embeddings_of_labelled_items_none_count_as_labelled() -> None:
    view, bare = make_view(labelled=0), make_view(labelled=0)
    other = View.of_arrays(bare.candidates, np.random.default_rng(1), probs=bare.probs, embeddings=bare.embeddings)
    np.testing.assert_array_equal(VarianceReduction().select(view, 5), VarianceReduction().select(other, 5))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_of_the_embeddings_plays_no_part(scale: float) -> None:
    view = make_view()
    other = View.of_arrays(
        view.candidates,
        np.random.default_rng(1),
        probs=view.probs,
        embeddings=view.embeddings * scale,
        reference_embeddings=view.reference_embeddings * scale,
    )
    np.testing.assert_array_equal(VarianceReduction().select(view, 5), VarianceReduction().select(other, 5))


def test_a_labelled_item_far_away_does_no_harm() -> None:
    view = make_view()
    known = np.vstack([view.reference_embeddings, np.full((2, 4), 1e12)])
    far = View.of_arrays(
        view.candidates,
        np.random.default_rng(1),
        probs=view.probs,
        embeddings=view.embeddings,
        reference_embeddings=known,
    )
    assert len(set(VarianceReduction().select(far, 5).tolist())) == 5


def test_large_pools_and_many_labels_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variance_reduction, "SAMPLED", 20)
    monkeypatch.setattr(variance_reduction, "MOST_LABELLED", 4)
    picks = VarianceReduction().select(make_view(), 6)
    np.testing.assert_array_equal(picks, VarianceReduction().select(make_view(), 6))
    assert len(set(picks.tolist())) == 6


def test_it_beats_random_items_on_digits() -> None:
    X, y = load_digits(return_X_y=True)
    scores = {}
    for strategy in ("variance_reduction", "random"):
        session = cusal.Session(
            X[:1000] / 16,
            LogisticRegression(max_iter=500),
            strategy,
            labelled=dict(enumerate(y[:20].tolist())),
            recalibrate=None,
        )
        for _ in range(8):
            query = session.ask(10)
            session.tell(query.indices, y[query.indices])
        scores[strategy] = session.evaluate(X[1000:] / 16, y[1000:]).raw["accuracy"]
    assert scores["variance_reduction"] > scores["random"]


@pytest.mark.parametrize("factor", [0, -1, 2.5])
def test_a_factor_that_is_no_count_is_refused(factor: float) -> None:
    with pytest.raises(InvalidInput):
        VarianceReduction(factor=factor)  # type: ignore[arg-type]
