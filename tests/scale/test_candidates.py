"""Candidates: merged in any order and grouping, they are the best rows of the whole."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cusal.scale.candidates import Candidates, from_cut
from cusal.strategies._strategy import top_rows


def candidates_of(keys: np.ndarray, start: int, count: int) -> Candidates:
    rows = top_rows(keys, min(count, len(keys)))
    return Candidates(
        keys=keys[rows],
        rows=start + rows,
        ids=(start + rows).astype(np.str_),
        confidence=keys[rows, 1],
        error=keys[rows, 0],
        supported=keys[rows, 0] > 1,
        **from_cut(keys[rows], *np.unique(keys[:, 0], return_counts=True)),
    )


@given(
    first=st.lists(st.integers(0, 6), min_size=1, max_size=60),
    count=st.integers(1, 20),
    cuts=st.lists(st.integers(1, 59), max_size=5),
    seed=st.integers(0, 99),
)
def test_merging_the_parts_gives_the_best_rows_of_the_whole(
    first: list[int], count: int, cuts: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    keys = np.column_stack([first, rng.integers(0, 3, len(first))]).astype(float)
    edges = sorted({0, len(keys), *(cut for cut in cuts if cut < len(keys))})
    parts = [candidates_of(keys[a:b], a, count) for a, b in itertools.pairwise(edges)]
    merged = parts.pop(rng.integers(len(parts)))
    while parts:  # in a random order
        merged = Candidates.merge([merged, parts.pop(rng.integers(len(parts)))], count)

    expected = top_rows(keys, min(count, len(keys)))
    np.testing.assert_array_equal(merged.rows, expected)
    np.testing.assert_array_equal(merged.ids.astype(int), expected)
    shared = (keys[:, :1] == keys[expected, 0]).sum(axis=0)
    np.testing.assert_array_equal(merged.alone, shared == 1)
    assert len(merged.shared_key) <= count
