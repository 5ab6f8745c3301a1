"""Herding, ProbCover and TypiClust against their formulas, written out; power margin against its distribution."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cusal.errors import CusalError, MissingMethod
from cusal.strategies import _cover, find
from cusal.strategies._uncertainty import margin
from cusal.strategies._view import View
from cusal.strategies.prob_cover import pure_radius


def draw(seed, size=300, labelled=30, features=5):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, features)) * 3
    points = centres[rng.integers(8, size=size + labelled)] + rng.normal(size=(size + labelled, features))
    return {
        "probs": rng.dirichlet(np.ones(4), size),
        "embeddings": points[:size],
        "reference_embeddings": points[size:],
    }


def view_of(arrays, seed=0):
    return View.of_arrays(np.arange(len(arrays["probs"])), np.random.default_rng(seed), **arrays)


def greedy(kernels, to_labelled, weights, count):
    reached, picks = to_labelled, []
    for _ in range(count):
        gains = np.maximum(kernels - reached, 0) @ weights  # (candidates,)
        gains[picks] = -1
        picks.append(int(np.argmax(gains)))
        reached = np.maximum(reached, kernels[picks[-1]])
    return picks


@pytest.mark.parametrize("uncertainty", ["margin", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_herding_takes_the_items_of_its_formula(uncertainty, seed):
    arrays = draw(seed)
    points, labelled = arrays["embeddings"], arrays["reference_embeddings"]
    distances = cdist(points, points)
    median = np.median(distances[np.triu_indices(300, 1)])
    between = cdist(labelled, labelled)
    np.fill_diagonal(between, np.inf)
    radius = max(min(median / 2, np.quantile(between.min(axis=1), 0.1)), median / 1000)
    weights = margin(arrays["probs"]) if uncertainty == "margin" else np.ones(300)
    kernels = np.exp(-((distances / radius) ** 2))
    expected = greedy(kernels, np.exp(-((cdist(points, labelled).min(axis=1) / radius) ** 2)), weights, 20)
    query = find("herding")(uncertainty=uncertainty).query(view_of(arrays), 20)
    assert query.indices.tolist() == expected


def test_prob_cover_takes_the_items_of_its_formula():
    arrays = draw(1)
    points, labelled = arrays["embeddings"], arrays["reference_embeddings"]
    radius = pure_radius(points, classes=4, purity=0.95, rng=np.random.default_rng(0))
    kernels = (cdist(points, points) <= radius).astype(float)
    expected = greedy(kernels, (cdist(points, labelled).min(axis=1) <= radius).astype(float), np.ones(300), 10)
    assert find("prob_cover")().query(view_of(arrays), 10).indices.tolist() == expected


def test_typiclust_takes_one_item_from_each_group_without_a_label():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 25)
    points = groups[:, None] * 100.0 + rng.normal(size=(100, 3))
    labelled = np.array([[0.0] * 3, [100.0] * 3])
    arrays = {"probs": np.full((100, 2), 0.5), "embeddings": points, "reference_embeddings": labelled}
    picks = find("typiclust")().query(view_of(arrays), 2).indices
    assert sorted(groups[picks]) == [2, 3]
    for pick in picks:  # it is the most typical of its group
        own = points[groups == groups[pick]]
        spread = np.sort(cdist(own, own), axis=1)[:, 1:21].mean(axis=1)
        assert np.array_equal(own[np.argmin(spread)], points[pick])


def test_power_margin_draws_in_proportion_to_its_power():
    probs = np.array([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]])  # doubt 1, .5 and 0
    arrays = {"probs": probs}
    drawn = [int(find("power_margin")(beta=2).query(view_of(arrays, seed), 1).indices[0]) for seed in range(2000)]
    shares = np.bincount(drawn, minlength=3) / 2000
    np.testing.assert_allclose(shares, [0.8, 0.2, 0], atol=0.04)


@pytest.mark.parametrize("name", ["herding", "prob_cover", "typiclust"])
def test_pools_with_more_items_than_are_looked_at_give_good_picks_too(name, monkeypatch):
    monkeypatch.setattr(_cover, "CANDIDATES", 100)
    monkeypatch.setattr(_cover, "COVERED", 500)
    rng = np.random.default_rng(0)
    groups = rng.integers(10, size=5000)
    points = np.eye(10)[groups] * 30 + rng.normal(size=(5000, 10))
    arrays = {"probs": np.full((5000, 10), 0.1), "embeddings": points, "reference_embeddings": np.empty((0, 10))}
    picks = find(name)().query(view_of(arrays), 10).indices
    assert len(np.unique(groups[picks])) == 10


@pytest.mark.parametrize("name", ["herding", "prob_cover", "typiclust"])
def test_without_embeddings_the_error_says_so(name):
    assert find(name).needs == {"embeddings"}
    with pytest.raises(MissingMethod, match="needs embeddings"):
        find(name)().query(view_of({"probs": np.full((5, 2), 0.5)}), 2)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("herding", {"uncertainty": "doubt"}), ("prob_cover", {"purity": 2}), ("power_margin", {"beta": 0})],
)
def test_a_setting_out_of_range_is_refused(name, settings):
    with pytest.raises(CusalError):
        find(name)(**settings)


def test_equal_gains_go_to_the_more_doubtful_item_then_to_the_lower_position():
    arrays = {
        "probs": np.array([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4]]),
        "embeddings": np.zeros((3, 2)),
        "reference_embeddings": np.empty((0, 2)),
    }
    assert find("herding")().query(view_of(arrays), 3).indices.tolist() == [1, 2, 0]
