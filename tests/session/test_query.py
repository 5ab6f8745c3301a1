"""`cusal.query`: the order, the ties and what decided each pick."""

import numpy as np
import pytest
import torch

import cusal
from cusal.calibration import pointwise_error
from cusal.errors import CusalError


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    pool, labelled = rng.dirichlet(np.full(4, 0.4), size=300), rng.dirichlet(np.full(4, 0.4), size=40)
    return pool, labelled, rng.integers(4, size=40)


def brute_force(pool, labelled, labels, count, **options):
    error = np.round(pointwise_error(pool, labelled, labels, tolerance=0, **options).error / 1e-6)
    return sorted(range(len(pool)), key=lambda i: (-error[i], pool[i].max(), i))[:count]


@pytest.mark.parametrize("bandwidth", [1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("count", [1, 10, 100, 300])
def test_order_is_error_then_confidence_then_index(problem, bandwidth, count):
    query = cusal.query(*problem, batch_size=count, bandwidth=bandwidth, strategy="cusal")
    assert query.indices.tolist() == brute_force(*problem, count, bandwidth=bandwidth)
    assert query.indices.dtype == np.int64
    assert (query.confidence == problem[0].max(axis=1)[query.indices]).all()


def test_says_what_decided_each_pick(problem):
    query = cusal.query(*problem, batch_size=300, strategy="cusal")
    error = np.round(pointwise_error(*problem).error / 1e-6)
    for index, reason in zip(query.indices, query.decided_by, strict=True):
        assert reason == ("calibration" if (error == error[index]).sum() == 1 else "uncertainty")
    assert set(query.decided_by) == {"calibration", "uncertainty"}


def test_without_a_tolerance_rounding_noise_decides_nothing_but_exact_equality_ties():
    pool = np.array([[0.5, 0.5], [0.5, 0.5], [0.7, 0.3]])
    query = cusal.query(
        pool, [[0.9, 0.1]], [0], batch_size=3, tie_tolerance=0, density_floor=None, bandwidth=0.5, strategy="cusal"
    )
    assert query.decided_by[query.indices == 2] == "calibration"
    assert (query.decided_by[query.indices != 2] == "uncertainty").all()


def test_torch_gives_the_same_picks(problem):
    expected = cusal.query(*problem, strategy="cusal").indices
    assert (cusal.query(*(torch.tensor(part) for part in problem), strategy="cusal").indices == expected).all()


@pytest.mark.parametrize("tie_break", ["confidence", "margin", "entropy", "random", "diverse"])
def test_every_tie_break_stays_inside_the_tied_block(tie_break):
    rng = np.random.default_rng(1)
    far = rng.dirichlet(np.full(3, 50), size=30)  # unsupported: all tied at error 1
    near = np.tile([[0.97, 0.02, 0.01]], (10, 1))
    pool = np.concatenate([near, far])
    query = cusal.query(pool, [[0.97, 0.02, 0.01]], [0], batch_size=5, tie_break=tie_break, seed=3, strategy="cusal")
    assert (query.indices >= 10).all()
    assert len(set(query.indices.tolist())) == 5


def test_diverse_ties_are_farther_apart_than_confident_ones():
    rng = np.random.default_rng(2)
    pool = np.concatenate([rng.dirichlet(200 * centre, size=50) for centre in rng.dirichlet(np.full(5, 3), size=4)])
    reference, labels = np.eye(5)[:1] * 0.99 + 0.002, [0]

    def spread(tie_break):
        chosen = pool[cusal.query(pool, reference, labels, batch_size=8, tie_break=tie_break, strategy="cusal").indices]
        return np.linalg.norm(chosen[:, None] - chosen[None], axis=2).mean()

    assert spread("diverse") > spread("confidence")


def test_batch_aware_picks_do_not_repeat_one_place():
    """Fifty copies of one unsupported prediction and a second place: after one pick the copies are supported."""
    pool = np.concatenate([np.tile([[0.5, 0.5, 0.0]], (50, 1)), [[0.0, 0.55, 0.45]]])
    plain = cusal.query(pool, [[0.98, 0.01, 0.01]], [0], batch_size=2, strategy="cusal")
    aware = cusal.query(pool, [[0.98, 0.01, 0.01]], [0], batch_size=2, batch_aware=True, strategy="cusal")
    assert plain.indices.tolist() == [0, 1]
    assert aware.indices.tolist() == [0, 50]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": 2.5}, "batch_size is 2.5"),
        ({"batch_size": 301}, "asked for 301 items, but only 300"),
        ({"tie_break": "marginal"}, "did you mean 'margin'"),
        ({"tie_tolerance": -1.0}, "tie_tolerance"),
        ({"bandwidth": 0.0}, "bandwidth"),
    ],
)
def test_bad_settings_are_named(problem, change, message):
    with pytest.raises(CusalError, match=message):
        cusal.query(*problem, strategy="cusal", **change)


def test_one_item_left_and_all_items_equal():
    assert cusal.query([[0.5, 0.5]], [[0.9, 0.1]], [0], batch_size=1, strategy="cusal").indices.tolist() == [0]
    equal = np.full((20, 2), 0.5)
    assert cusal.query(equal, [[0.9, 0.1]], [0], batch_size=3, strategy="cusal").indices.tolist() == [0, 1, 2]


def test_points_that_cannot_reach_the_top_are_left_out_without_changing_anything():
    """With thousands of labelled points the top of the order is found without computing every error."""
    rng = np.random.default_rng(5)
    centres = np.eye(5) * 0.9 + 0.02

    def predictions(rows):
        return np.array([rng.dirichlet(60 * centres[i % 5] + 0.2) for i in range(rows)])

    labelled, pool = predictions(2500), predictions(4000)
    labels = np.where(rng.random(2500) < 0.97, np.arange(2500) % 5, rng.integers(5, size=2500))
    error = np.round(pointwise_error(pool, labelled, labels, bandwidth=0.01, tolerance=0).error / 1e-6)
    for count in (1, 20, 200):
        query = cusal.query(pool, labelled, labels, batch_size=count, bandwidth=0.01, strategy="cusal")
        assert query.indices.tolist() == brute_force(pool, labelled, labels, count, bandwidth=0.01)
        shared = np.array([(error == error[i]).sum() for i in query.indices])
        assert (query.decided_by == np.where(shared == 1, "calibration", "uncertainty")).all()
        assert query.error == pytest.approx(error[query.indices] * 1e-6, abs=1e-6)
