"""Clusters of rows by k-means."""

import numpy as np
import pytest

from cusal import _k_means
from cusal._k_means import k_means


def groups(size: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), size)
    return 100 * np.eye(4)[group] + rng.normal(size=(len(group), 4)), group


@pytest.mark.parametrize("exact_rows", [4000, 10], ids=["all rows at once", "mini-batches"])
def test_groups_far_apart_are_the_clusters(monkeypatch: pytest.MonkeyPatch, exact_rows: int) -> None:
    monkeypatch.setattr(_k_means, "EXACT_ROWS", exact_rows)
    points, group = groups()
    numbers = k_means(points, 4, rng=np.random.default_rng(0))
    assert numbers.dtype == np.int64
    assert len({*zip(numbers.tolist(), group.tolist(), strict=True)}) == 4


def test_the_same_generator_gives_the_same_clusters() -> None:
    points = np.random.default_rng(1).normal(size=(200, 5))
    one, other = (k_means(points, 12, rng=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_equal_rows_share_a_cluster(dtype: type) -> None:
    points = np.repeat(np.array([[0, 0], [3, 4]]), 5, axis=0).astype(dtype)
    numbers = k_means(points, 6, rng=np.random.default_rng(0))
    assert len(set(numbers[:5])) == len(set(numbers[5:])) == 1
    assert numbers[0] != numbers[5]


def test_as_many_clusters_as_rows_are_the_rows() -> None:
    assert k_means(np.zeros((3, 2)), 5, rng=np.random.default_rng(0)).tolist() == [0, 1, 2]
