"""Rand-Entropy: the most even predictions among some drawn at random."""

import numpy as np
import pytest

from cusal.errors import InvalidInput
from cusal.strategies._view import ArrayAnswers, View
from cusal.strategies.entropy import Entropy
from cusal.strategies.rand_entropy import RandEntropy


def round_view(seed: int) -> View:
    probs = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    return View.of_arrays(
        np.arange(200), np.random.default_rng(seed), probs=probs, reference=(probs[:0], np.empty(0, dtype=np.int64))
    )


def test_a_large_factor_gives_the_highest_entropies_of_all() -> None:
    expected = Entropy().select(round_view(0), 5)
    np.testing.assert_array_equal(RandEntropy(factor=40).select(round_view(1), 5), expected)


def test_a_factor_of_one_gives_every_item_the_same_chance() -> None:
    drawn = np.concatenate([RandEntropy(factor=1).select(round_view(seed), 20) for seed in range(400)])
    counts = np.bincount(drawn, minlength=200)
    assert counts.min() > 15
    assert counts.max() < 70


def test_predicts_only_the_drawn_items() -> None:
    asked: list[int] = []
    probs = np.random.default_rng(0).dirichlet(np.ones(4), 200)

    class Counting(ArrayAnswers):
        def probs(self, indices, *, whole=True):
            assert not whole, "the whole pool was predicted"
            asked.extend(indices.tolist())
            return super().probs(indices)

    view = View(np.arange(200), np.random.default_rng(0), Counting(np.arange(200), probs=probs))
    chosen = RandEntropy(factor=3).select(view, 10)
    assert len(set(asked)) == 30
    assert set(chosen) <= set(asked)


def test_a_factor_of_zero_is_refused() -> None:
    with pytest.raises(InvalidInput, match="factor"):
        RandEntropy(factor=0)
