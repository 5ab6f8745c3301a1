"""What one fitted model says about a data set."""

import numpy as np

from cusal._items import Subset


def test_a_subset_is_indexed_like_the_array_it_stands_for():
    items, rows = np.arange(40.0).reshape(10, 4), np.array([2, 3, 7])
    subset = Subset(items, rows)
    assert (len(subset), subset.shape) == (3, (3, 4))
    assert subset[np.array([2, 0])].tolist() == items[[7, 2]].tolist()
    assert subset[1:3].tolist() == items[[3, 7]].tolist()


def test_a_subset_of_a_list_is_a_list():
    assert Subset(["a", "b", "c", "d"], np.array([1, 3]))[np.array([1, 0])] == ["d", "b"]
