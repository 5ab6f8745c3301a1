"""Clusters of embeddings and the walk over them."""

import numpy as np
import pytest

from cusal.strategies import _clusters as clusters
from cusal.strategies._clusters import average_linkage, pick_across_clusters, round_robin


def blobs(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    centres = 100 * np.eye(len(sizes), 8)
    return centres[labels] + rng.normal(size=(len(labels), 8)), labels


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = len(np.unique(np.stack([a, b]), axis=1).T)
    return pairs == len(np.unique(a)) == len(np.unique(b))


def test_finds_separate_groups() -> None:
    points, labels = blobs([5, 20, 40])
    assert same_partition(average_linkage(points, 3, rng=np.random.default_rng(0)), labels)


def test_finds_separate_groups_through_micro_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "EXACT_ROWS", 100)
    monkeypatch.setattr(clusters, "MICRO_CLUSTERS", 40)
    points, labels = blobs([150, 200, 400])
    found = average_linkage(points.astype(np.float32), 3, rng=np.random.default_rng(0))
    assert same_partition(found, labels)


def test_equal_rows_through_micro_clusters_give_distinct_picks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "EXACT_ROWS", 20)
    monkeypatch.setattr(clusters, "MICRO_CLUSTERS", 10)
    rows = pick_across_clusters(np.ones((50, 3)), 30, picks_per_cluster=1, rng=np.random.default_rng(0))
    assert len(np.unique(rows)) == 30


def test_as_many_clusters_as_rows_leaves_each_alone() -> None:
    assert average_linkage(np.zeros((3, 2)), 5, rng=np.random.default_rng(0)).tolist() == [0, 1, 2]


def test_round_robin_walks_from_the_smallest_cluster() -> None:
    labels = np.array([7, 7, 7, 2, 2, 5])
    walk = labels[round_robin(labels, 6, rng=np.random.default_rng(0))]
    assert walk.tolist() == [5, 2, 7, 2, 7, 7]


def test_round_robin_draws_within_a_cluster_at_random() -> None:
    labels = np.zeros(4, dtype=np.int64)
    firsts = [int(round_robin(labels, 1, rng=np.random.default_rng(seed))[0]) for seed in range(400)]
    assert (np.bincount(firsts, minlength=4) > 70).all()


def test_picks_reach_every_separate_group() -> None:
    points, labels = blobs([2, 30, 60])
    rows = pick_across_clusters(points, 3, picks_per_cluster=1, rng=np.random.default_rng(1))
    assert labels[rows].tolist() == [0, 1, 2]


def test_more_picks_than_clusters_exhaust_the_small_ones() -> None:
    points, labels = blobs([2, 30, 60])
    rows = pick_across_clusters(points, 9, picks_per_cluster=3, rng=np.random.default_rng(1))
    assert labels[rows].tolist() == [0, 1, 2, 0, 1, 2, 1, 2, 1]
