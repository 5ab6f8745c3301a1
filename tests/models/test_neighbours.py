"""The nearest points of a pool: the smallest distances of each row, found group by group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cusal.models import _neighbours
from cusal.models._neighbours import Neighbours, smallest


@given(st.integers(0, 5), st.integers(1, 1500), st.integers(1, 12), st.booleans())
@settings(deadline=None, max_examples=60)
def test_the_smallest_of_each_row_are_found_whatever_the_width(rows, columns, count, tied):
    rng = np.random.default_rng(columns)
    values = rng.normal(size=(rows, columns)).astype(np.float32)
    if tied:
        values = np.round(values)
    count = min(count, columns)
    found = smallest(values, count)
    assert found.shape == (rows, count)
    assert all(len(set(row)) == count for row in found.tolist())
    expected = np.sort(values, axis=1)[:, :count]
    np.testing.assert_array_equal(np.sort(np.take_along_axis(values, found, axis=1), axis=1), expected)


def test_cells_find_nearly_all_true_neighbours(monkeypatch: pytest.MonkeyPatch):
    points = np.random.default_rng(0).normal(size=(3000, 4)).astype(np.float32)
    exact = Neighbours(points).of_pool(10)
    monkeypatch.setattr(_neighbours, "EXACT", 1000)
    near = Neighbours(points).of_pool(10)
    shared = [len(set(one) & set(other)) for one, other in zip(exact.tolist(), near.tolist(), strict=True)]
    assert np.mean(shared) > 9
