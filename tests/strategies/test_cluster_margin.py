"""Cluster-Margin and its CUSAL sibling: unsure items from different clusters."""

import numpy as np
import pytest

from cusal.errors import InvalidInput
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View
from cusal.strategies.cluster_cusal import ClusterCusal
from cusal.strategies.cluster_margin import ClusterMargin
from cusal.strategies.cusal import Cusal
from cusal.strategies.margin import Margin


def groups_view() -> View:
    """Thirty unsure items in three groups, and thirty sure ones in a fourth."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2, 3], [4, 10, 16, 30])
    top = np.where(group < 3, 0.5 + rng.uniform(0, 0.1, 60), 0.95 + rng.uniform(0, 0.04, 60))
    return View.of_arrays(
        np.arange(60),
        np.random.default_rng(1),
        probs=np.column_stack([top, 1 - top]),
        reference=(np.array([[0.97, 0.03]]), np.array([0])),
        embeddings=50 * np.eye(4)[group] + rng.normal(size=(60, 4)),
    )


@pytest.mark.parametrize("strategy", [ClusterMargin(), ClusterCusal()])
def test_takes_one_item_of_each_group_the_smallest_first(strategy: Strategy) -> None:
    picks = strategy.select(groups_view(), 3)
    assert [int(np.searchsorted([4, 14, 30], pick, side="right")) for pick in picks] == [0, 1, 2]


def test_a_factor_of_one_keeps_the_first_stage() -> None:
    view = groups_view()
    assert set(ClusterMargin(factor=1).select(view, 8)) == set(Margin().select(view, 8))
    assert set(ClusterCusal(factor=1).select(view, 8)) == set(Cusal().select(view, 8))


def test_cluster_cusal_tells_what_decided() -> None:
    view = groups_view()
    query = ClusterCusal().explain(view, ClusterCusal().select(view, 3))
    np.testing.assert_allclose(query.error, 1, atol=1e-6)
    assert query.decided_by.tolist() == ["uncertainty"] * 3


@pytest.mark.parametrize("setting", [{"factor": 0}, {"factor": 1.5}, {"picks_per_cluster": 0}])
@pytest.mark.parametrize("strategy", [ClusterMargin, ClusterCusal])
def test_settings_out_of_range_are_refused(strategy: type[Strategy], setting: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(setting))):
        strategy(**setting)
