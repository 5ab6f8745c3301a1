"""Diverse margin: the least decided item of each cluster of undecided ones."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.errors import InvalidInput
from cusal.strategies._view import View
from cusal.strategies.diverse_margin import DiverseMargin
from cusal.strategies.margin import Margin


def groups_view(seed: int = 1, *, embeddings: bool = True) -> View:
    """Thirty undecided items in three far groups, the first group least decided, and thirty decided ones."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2, 3], [4, 10, 16, 30])
    top = np.array([0.5, 0.6, 0.7, 0.95])[group] + rng.uniform(0, 0.04, 60)
    return View.of_arrays(
        np.arange(60),
        np.random.default_rng(seed),
        probs=np.column_stack([top, 1 - top]),
        embeddings=50 * np.eye(4)[group] + rng.normal(size=(60, 4)) if embeddings else None,
    )


@pytest.mark.parametrize("seed", range(5))
def test_takes_the_least_decided_item_of_each_group_best_first(seed: int) -> None:
    view = groups_view(seed)
    margins = np.abs(view.probs[:, 0] - view.probs[:, 1])
    expected = [group[np.argmin(margins[group])] for group in np.split(np.arange(30), [4, 14])]
    assert DiverseMargin().select(view, 3).tolist() == expected


def test_picks_are_ordered_by_margin() -> None:
    view = groups_view()
    picks = DiverseMargin().select(view, 8)
    assert (np.diff(np.abs(view.probs[picks, 0] - view.probs[picks, 1])) >= 0).all()


def test_only_the_shortlist_is_clustered() -> None:
    view = groups_view()
    shortlist = Margin().select(view, 12)
    assert set(DiverseMargin(factor=3).select(view, 4)) <= set(shortlist)


def test_without_embeddings_it_is_margin() -> None:
    view = groups_view(embeddings=False)
    np.testing.assert_array_equal(DiverseMargin().query(view, 9).indices, Margin().query(view, 9).indices)


def test_fewer_clusters_than_picks_are_filled_up_by_margin() -> None:
    top = np.linspace(0.5, 0.9, 20)
    view = View.of_arrays(
        np.arange(20),
        np.random.default_rng(0),
        probs=np.column_stack([top, 1 - top]),
        embeddings=np.repeat([[0.0], [1.0]], 10, axis=0),  # two distinct rows
    )
    assert DiverseMargin().select(view, 4).tolist() == [0, 1, 2, 10]


def test_embeddings_far_from_the_origin_or_huge_give_the_same_picks() -> None:
    view = groups_view()
    expected = DiverseMargin().select(groups_view(), 3).tolist()
    for embeddings in (view.embeddings + 1e9, view.embeddings * 1e200):
        moved = View.of_arrays(np.arange(60), np.random.default_rng(1), probs=view.probs, embeddings=embeddings)
        assert DiverseMargin().select(moved, 3).tolist() == expected


class EmbeddingCounter(LogisticRegression):
    """Logistic regression that counts the rows it embeds."""

    rows = 0

    def embed(self, X: np.ndarray) -> np.ndarray:
        type(self).rows += len(X)
        return X


def test_only_the_shortlist_is_embedded() -> None:
    X, y = load_digits(return_X_y=True)
    session = cusal.Session(X, EmbeddingCounter(max_iter=2000), "diverse_margin", labelled=(range(20), y[:20]))
    assert len(session.ask(5)) == 5
    assert EmbeddingCounter.rows == 50


@pytest.mark.parametrize("factor", [0, -1, 1.5, True, None])
def test_a_factor_that_is_no_count_is_refused(factor: object) -> None:
    with pytest.raises(InvalidInput, match=r"factor is .*; expected a whole number of at least 1"):
        DiverseMargin(factor=factor)  # type: ignore[arg-type]
