"""The pointwise estimate: by hand, against golden values, and by what must hold for any input."""

import tracemalloc
from math import gamma
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cusal.calibration import pointwise_error
from cusal.errors import CusalError

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "golden.npz")
CASES = ["c01", "c03", "c05", "c06", "c09", "c11", "c13"]
EITHER = pytest.mark.parametrize("tolerance", [0, 1e-9], ids=["dense", "fast"])


def simplex(rng, rows, classes, sharpness=1.0):
    return rng.dirichlet(np.full(classes, sharpness), size=rows)


@EITHER
def test_two_labelled_points_by_hand(tolerance):
    """With b = 1 and K = 2 the kernel is Gamma(3) / (Gamma(h0 + 1) Gamma(h1 + 1)) * q0^h0 * q1^h1."""
    q, h, labels = np.array([0.7, 0.3]), np.array([[0.8, 0.2], [0.4, 0.6]]), [0, 1]
    kernels = [gamma(3) / (gamma(1 + a) * gamma(1 + b)) * q[0] ** a * q[1] ** b for a, b in h]
    ratio = np.array(kernels) / sum(kernels)
    estimate = pointwise_error([q], h, labels, bandwidth=1, tolerance=tolerance)
    assert estimate.error == pytest.approx([np.abs(ratio - q).sum()], abs=1e-9)
    assert estimate.log_density == pytest.approx([np.log(sum(kernels))], abs=1e-9)
    assert estimate.supported.all()


@EITHER
@pytest.mark.parametrize("case", CASES)
def test_equals_the_golden_values(case, tolerance):
    field = {name: GOLDEN[f"{case}/{name}"] for name in ("f_pool", "f_train", "y_train", "b", "p")}
    given_ = (field["f_pool"], field["f_train"], field["y_train"])
    options = {"bandwidth": float(field["b"]), "p": int(field["p"]), "tolerance": tolerance}
    floored = pointwise_error(*given_, **options)
    exact = pointwise_error(*given_, density_floor=None, **options)
    assert floored.error == pytest.approx(GOLDEN[f"{case}/ce_clamp"], abs=1e-9)
    assert exact.error == pytest.approx(GOLDEN[f"{case}/ce_exact"], abs=1e-9)
    assert exact.log_density == pytest.approx(GOLDEN[f"{case}/log_den"], abs=1e-9)
    assert (floored.supported == (GOLDEN[f"{case}/log_den"] >= np.log(1e-10))).all()


@EITHER
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 30), labelled=st.integers(1, 30), log_b=st.floats(-5, 0))
def test_lies_between_0_and_2(tolerance, seed, classes, labelled, log_b):
    rng = np.random.default_rng(seed)
    pool, reference = simplex(rng, 20, classes, 0.3), simplex(rng, labelled, classes, 0.3)
    labels = rng.integers(classes, size=labelled)
    for floor in (1e-10, None):
        estimate = pointwise_error(
            pool, reference, labels, bandwidth=10**log_b, density_floor=floor, tolerance=tolerance
        )
        assert (estimate.error >= 0).all()
        assert (estimate.error <= 2 + 1e-9).all()


@EITHER
@pytest.mark.parametrize("classes", [2, 10, 100])
def test_permutations_permute_the_result(classes, tolerance):
    rng = np.random.default_rng(classes)
    pool, reference = simplex(rng, 40, classes, 0.5), simplex(rng, 30, classes, 0.5)
    labels = rng.integers(classes, size=30)
    expected = pointwise_error(pool, reference, labels, bandwidth=0.01, tolerance=tolerance).error

    columns = rng.permutation(classes)
    renamed = np.argsort(columns)[labels]
    by_class = pointwise_error(pool[:, columns], reference[:, columns], renamed, bandwidth=0.01, tolerance=tolerance)
    assert by_class.error == pytest.approx(expected, abs=1e-8)

    rows = rng.permutation(40)
    by_pool = pointwise_error(pool[rows], reference, labels, bandwidth=0.01, tolerance=tolerance)
    assert by_pool.error == pytest.approx(expected[rows], abs=1e-8)

    order = rng.permutation(30)
    by_reference = pointwise_error(pool, reference[order], labels[order], bandwidth=0.01, tolerance=tolerance)
    assert by_reference.error == pytest.approx(expected, abs=1e-8)


@EITHER
def test_twice_the_same_evidence_changes_the_density_alone(tolerance):
    rng = np.random.default_rng(0)
    pool, reference, labels = simplex(rng, 30, 5), simplex(rng, 20, 5), rng.integers(5, size=20)
    options = {"bandwidth": 0.1, "density_floor": None, "tolerance": tolerance}
    once = pointwise_error(pool, reference, labels, **options)
    twice = pointwise_error(pool, np.tile(reference, (2, 1)), np.tile(labels, 2), **options)
    assert twice.error == pytest.approx(once.error, abs=1e-8)
    assert twice.log_density == pytest.approx(once.log_density + np.log(2), abs=1e-8)


@EITHER
def test_a_point_far_from_all_evidence_is_unsupported_with_error_one(tolerance):
    estimate = pointwise_error([[0.01, 0.99]], [[0.99, 0.01], [0.98, 0.02]], [0, 0], tolerance=tolerance)
    assert estimate.error == pytest.approx([1.0], abs=1e-9)
    assert not estimate.supported.any()


@EITHER
def test_exact_zeros_and_ones_give_finite_numbers(tolerance):
    corners = np.eye(4)
    estimate = pointwise_error(corners, corners, [0, 1, 2, 2], tolerance=tolerance)
    assert np.isfinite(estimate.error).all()
    assert np.isfinite(estimate.log_density).all()
    assert estimate.error == pytest.approx([0, 0, 0, 2], abs=1e-9)


@EITHER
@pytest.mark.parametrize("classes", [2, 14, 100, 1000])
@pytest.mark.parametrize("bandwidth", [1e-5, 1e-3, 1.0])
def test_any_number_of_classes_and_any_bandwidth_stays_finite(classes, bandwidth, tolerance):
    rng = np.random.default_rng(1)
    pool, reference = simplex(rng, 10, classes, 0.1), simplex(rng, 12, classes, 0.1)
    labels = rng.integers(classes, size=12)
    for floor in (1e-10, None):
        options = {"bandwidth": bandwidth, "density_floor": floor, "tolerance": tolerance}
        estimate = pointwise_error(pool, reference, labels, **options)
        assert np.isfinite(estimate.error).all()
        assert np.isfinite(estimate.log_density).all()


@EITHER
def test_one_labelled_point_is_enough(tolerance):
    estimate = pointwise_error([[0.6, 0.4]], [[0.6, 0.4]], [1], tolerance=tolerance)
    assert estimate.error == pytest.approx([1.2], abs=1e-9)


def test_no_labelled_point_supports_nothing():
    estimate = pointwise_error([[0.6, 0.4]], np.empty((0, 2)), np.empty(0, dtype=int))
    assert estimate.error == pytest.approx([1.0])
    assert not estimate.supported.any()
    with pytest.raises(CusalError, match="no labelled points"):
        pointwise_error([[0.6, 0.4]], np.empty((0, 2)), np.empty(0, dtype=int), density_floor=None)


def test_torch_and_numpy_and_float32_agree():
    rng = np.random.default_rng(2)
    pool, reference = simplex(rng, 30, 10), simplex(rng, 20, 10)
    labels = rng.integers(10, size=20)
    expected = pointwise_error(pool, reference, labels, bandwidth=0.1).error
    from_torch = pointwise_error(
        torch.tensor(pool, requires_grad=True), torch.tensor(reference), torch.tensor(labels), bandwidth=0.1
    )
    assert (from_torch.error == expected).all()
    single = pointwise_error(pool.astype(np.float32), reference.astype(np.float32), labels, bandwidth=0.1)
    assert single.error == pytest.approx(expected, abs=1e-4)


@EITHER
def test_other_powers_follow_the_formula(tolerance):
    rng = np.random.default_rng(3)
    pool, reference, labels = simplex(rng, 5, 3), simplex(rng, 6, 3), rng.integers(3, size=6)
    p2 = pointwise_error(pool, reference, labels, bandwidth=0.2, p=2, tolerance=tolerance).error
    p1 = pointwise_error(pool, reference, labels, bandwidth=0.2, p=1, tolerance=tolerance).error
    assert (p2 <= p1 + 1e-9).all()
    assert (p2 >= p1**2 / 3 - 1e-9).all()  # Cauchy-Schwarz


@pytest.mark.parametrize("bandwidth", [1e-3, 1.0])
@pytest.mark.parametrize("classes", [10, 60])
def test_a_few_items_have_the_errors_that_they_have_among_many(classes, bandwidth):
    rng = np.random.default_rng(3)
    pool, labelled = simplex(rng, 400, classes, 0.1), simplex(rng, 300, classes, 0.1)
    labels = rng.integers(0, classes, 300)
    many = pointwise_error(pool, labelled, labels, bandwidth=bandwidth)
    for count in (1, 20, 150):
        few = pointwise_error(pool[:count], labelled, labels, bandwidth=bandwidth)
        assert np.allclose(few.error, many.error[:count], rtol=0, atol=2e-9)
        assert np.allclose(few.log_density, many.log_density[:count], rtol=0, atol=1e-8)


def test_one_column_of_scores_is_half_the_two_column_error():
    rng = np.random.default_rng(4)
    pool, reference, labels = rng.random(20), rng.random(15), rng.integers(2, size=15)
    one = pointwise_error(pool, reference, labels, bandwidth=0.05)
    both = pointwise_error(
        np.stack([1 - pool, pool], 1), np.stack([1 - reference, reference], 1), labels, bandwidth=0.05
    )
    assert one.error == pytest.approx(both.error / 2, abs=1e-9)
    assert (pointwise_error(pool[:, None], reference[:, None], labels, bandwidth=0.05).error == one.error).all()


@EITHER
@pytest.mark.parametrize(("pool", "labelled", "classes"), [(30_000, 500, 10), (300, 20_000, 10), (2_000, 3_000, 1000)])
def test_extra_memory_stays_under_64_megabytes(pool, labelled, classes, tolerance):
    rng = np.random.default_rng(5)
    pool_probs = rng.random((pool, classes), dtype=np.float32)
    pool_probs /= pool_probs.sum(axis=1, keepdims=True)
    labelled_probs = rng.random((labelled, classes), dtype=np.float32)
    labelled_probs /= labelled_probs.sum(axis=1, keepdims=True)
    labels = rng.integers(classes, size=labelled)
    pointwise_error(pool_probs[:8], labelled_probs[:8], labels[:8], tolerance=tolerance)  # compile first
    tracemalloc.start()
    try:
        pointwise_error(pool_probs, labelled_probs, labels, tolerance=tolerance)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


GOOD = ([[0.5, 0.5], [0.9, 0.1]], [[0.8, 0.2]], [0])


@pytest.mark.parametrize(
    ("pool", "labelled", "labels", "message"),
    [
        ([[0.5, np.nan]], GOOD[1], [0], "row 0 holds NaN"),
        (GOOD[0][0], GOOD[1], [0], r"pool_probs has shape \(2,\) .* a single item, give a table with one row"),
        ([[0.5, 0.5], [np.inf, 0.0]], GOOD[1], [0], "row 1 holds infinity"),
        ([[1.2, -0.2]], GOOD[1], [0], "never negative"),
        ([[0.5, 0.4]], GOOD[1], [0], "row 0 sums to 0.9"),
        (GOOD[0], [[0.2, 0.3, 0.5]], [0], "3 classes, but 2"),
        (GOOD[0], GOOD[1], [2], "row 0 is 2"),
        (GOOD[0], GOOD[1], [-1], "row 0 is -1"),
        (GOOD[0], GOOD[1], [0, 1], r"shape \(2,\); expected \(1,\)"),
        (GOOD[0], GOOD[1], [0.5], "float64; expected class numbers"),
        (np.zeros((2, 2, 2)), GOOD[1], [0], r"shape \(2, 2, 2\)"),
        ([["a", "b"]], GOOD[1], [0], "expected floating-point"),
    ],
)
def test_bad_input_is_named(pool, labelled, labels, message):
    with pytest.raises(CusalError, match=message):
        pointwise_error(pool, labelled, labels)


@pytest.mark.parametrize("setting", [{"bandwidth": 0}, {"bandwidth": np.nan}, {"p": 0.5}, {"density_floor": -1}])
def test_bad_settings_are_named(setting):
    with pytest.raises(CusalError, match=next(iter(setting))):
        pointwise_error(*GOOD, **setting)
