"""The bandwidth by leave-one-out likelihood."""

from pathlib import Path

import numpy as np
import pytest

from cusal.calibration import select_bandwidth
from cusal.calibration.bandwidth import log_likelihood
from cusal.errors import CusalError

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "golden.npz")


@pytest.mark.parametrize("case", ["bw1", "bw2"])
def test_equals_the_golden_likelihoods(case):
    probs, grid = GOLDEN[f"{case}/f"], GOLDEN[f"{case}/grid"].astype(float)
    found = [log_likelihood(probs, b) for b in grid]
    assert found == pytest.approx(GOLDEN[f"{case}/loglik_loo"], rel=1e-9)
    assert select_bandwidth(probs, grid) == pytest.approx(float(GOLDEN[f"{case}/b_loo"]))


def test_tight_clusters_ask_for_a_smaller_bandwidth_than_spread_points():
    rng = np.random.default_rng(0)
    spread = rng.dirichlet(np.ones(3), size=300)
    centres = rng.dirichlet(np.ones(3), size=5)
    tight = np.concatenate([rng.dirichlet(2000 * centre, size=60) for centre in centres])
    assert select_bandwidth(tight) < select_bandwidth(spread)


def test_takes_one_column():
    scores = np.random.default_rng(1).random(100)
    assert select_bandwidth(scores) == select_bandwidth(np.stack([1 - scores, scores], axis=1))


@pytest.mark.parametrize(
    ("probs", "grid", "message"),
    [([[0.5, 0.5]], [0.1], "at least two"), (np.eye(2), [], "empty"), (np.eye(2), [0.0], "grid")],
)
def test_bad_input_is_named(probs, grid, message):
    with pytest.raises(CusalError, match=message):
        select_bandwidth(probs, grid)
