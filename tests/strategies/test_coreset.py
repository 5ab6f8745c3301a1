"""Coreset: covering the pool."""

import numpy as np

from cusal.strategies._view import View
from cusal.strategies.coreset import Coreset


def view_of(pool: np.ndarray, labelled: np.ndarray) -> View:
    return View.of_arrays(
        np.arange(len(pool)) + 10,
        np.random.default_rng(0),
        probs=np.full((len(pool), 2), 0.5),
        reference=(np.full((len(labelled), 2), 0.5), np.zeros(len(labelled), dtype=np.int64)),
        embeddings=pool,
        reference_embeddings=labelled,
    )


def test_takes_the_item_farthest_from_labelled_and_chosen_ones() -> None:
    view = view_of(np.array([[1.0], [5.0], [9.0], [6.5]]), np.array([[0.0]]))
    assert Coreset().select(view, 3).tolist() == [12, 11, 13]


def test_with_nothing_labelled_the_central_item_comes_first() -> None:
    view = view_of(np.array([[0.0], [5.5], [9.0]]), np.empty((0, 1)))
    assert Coreset().select(view, 3).tolist() == [11, 10, 12]
