"""The pruned estimator against the dense one, on inputs chosen to break its bounds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from cusal.calibration import Estimator, pruned
from cusal.calibration.pointwise import dense

EPS = np.finfo(np.float64).eps


def assert_close(pool, reference, labels, *, bandwidth=1e-3, p=1, density_floor=1e-10, tolerance=1e-9):
    """Pruned and dense agree within the tolerance and the rounding of log kernels, which grow like 1 / bandwidth."""
    estimator = Estimator(bandwidth, p, density_floor)
    error, log_density = pruned.pointwise(pool, reference, labels, estimator, tolerance=tolerance)
    want_error, want_log_density = dense(pool, reference, labels, estimator)
    rounding = 32 * EPS * np.maximum(np.abs(want_log_density), 12 / bandwidth)
    assert error.dtype == log_density.dtype == np.float64
    assert np.all(np.abs(log_density - want_log_density) <= tolerance + rounding)
    # an unsupported point's own log kernels are large, but they do not reach its error
    rounding = np.where(want_log_density < -1e3, 0, rounding) if density_floor else rounding
    assert np.all(np.abs(error - want_error) <= tolerance + 4 * p * rounding)
    return error


def draw(rng, count, classes, *, scale=3.0, dtype=np.float64):
    return softmax(scale * rng.standard_t(4, (count, classes)), axis=1).astype(dtype)


@pytest.mark.parametrize("classes", [2, 3, 10, 32, 33, 100, 1000])
@pytest.mark.parametrize("floor", [1e-10, None])
def test_agrees_with_the_dense_sum_for_any_number_of_classes(classes, floor):
    rng = np.random.default_rng(classes)
    pool, reference = draw(rng, 150, classes), draw(rng, 300, classes)
    assert_close(pool, reference, rng.integers(classes, size=300), density_floor=floor)


@pytest.mark.parametrize("bandwidth", [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0])
@pytest.mark.parametrize("classes", [4, 60])
def test_agrees_with_the_dense_sum_for_any_bandwidth(bandwidth, classes):
    rng = np.random.default_rng(1)
    pool, reference = draw(rng, 100, classes), draw(rng, 200, classes)
    assert_close(pool, reference, rng.integers(classes, size=200), bandwidth=bandwidth)
    assert_close(pool, reference, rng.integers(classes, size=200), bandwidth=bandwidth, density_floor=None)


@pytest.mark.parametrize("p", [1, 1.5, 2, 7])
@pytest.mark.parametrize("classes", [10, 50])
def test_agrees_with_the_dense_sum_for_any_power(p, classes):
    rng = np.random.default_rng(2)
    reference = draw(rng, 400, classes)
    pool = np.concatenate([draw(rng, 50, classes), reference[:50]])
    assert_close(pool, reference, rng.integers(classes, size=400), p=p)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-12])
def test_a_looser_tolerance_is_kept_as_well(tolerance):
    rng = np.random.default_rng(3)
    for classes in (10, 100):
        pool, reference = draw(rng, 200, classes), draw(rng, 500, classes)
        assert_close(pool, reference, rng.integers(classes, size=500), bandwidth=0.02, tolerance=tolerance)


ADVERSARIES = {
    "one corner": lambda rng, n, k: softmax(np.eye(k)[np.zeros(n, int)] * 30 + rng.normal(size=(n, k)), axis=1),
    "exact corners": lambda rng, n, k: np.eye(k)[rng.integers(k, size=n)],
    "one face": lambda rng, n, k: np.pad(rng.dirichlet(np.ones(2), n), ((0, 0), (0, k - 2))),
    "random faces": lambda rng, n, k: _on_faces(rng, n, k),
    "uniform rows": lambda rng, n, k: np.full((n, k), 1 / k),
    "heavy tails": lambda rng, n, k: softmax(rng.standard_cauchy((n, k)) * 5, axis=1),
    "flat Dirichlet": lambda rng, n, k: rng.dirichlet(np.ones(k), n),
    "copies of one row": lambda rng, n, k: np.repeat(rng.dirichlet(np.ones(k), 1), n, axis=0),
    "a lattice": lambda rng, n, k: rng.multinomial(4, np.full(k, 1 / k), size=n) / 4,
}


def _on_faces(rng, count, classes):
    rows = rng.dirichlet(np.ones(classes), count) * (rng.random((count, classes)) < 0.5)
    rows[:, 0] += 1e-6
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("of_pool", ADVERSARIES)
@pytest.mark.parametrize("of_reference", ADVERSARIES)
@pytest.mark.parametrize("classes", [2, 10, 40])
def test_agrees_with_the_dense_sum_on_adversarial_rows(of_pool, of_reference, classes):
    rng = np.random.default_rng(4)
    pool, reference = ADVERSARIES[of_pool](rng, 40, classes), ADVERSARIES[of_reference](rng, 70, classes)
    labels = rng.integers(classes, size=70)
    assert_close(pool, reference, labels)
    assert_close(pool, reference, labels, bandwidth=0.05, density_floor=None, p=2)


@pytest.mark.parametrize("classes", [2, 10, 100, 1000])
def test_one_labelled_point_is_enough(classes):
    rng = np.random.default_rng(5)
    reference = draw(rng, 1, classes)
    pool = np.concatenate([draw(rng, 20, classes), reference])
    assert_close(pool, reference, np.array([classes - 1]))
    assert_close(pool, reference, np.array([0]), density_floor=None)


def test_points_exactly_at_the_cut_do_not_matter():
    # copies of one labelled point, each just above or below the cut of another: whichever way, within tolerance
    tolerance, bandwidth = 1e-9, 1e-3
    for classes in (2, 40):
        near = np.full(classes, 0.1 / (classes - 1))
        near[0] = 0.9
        slack = np.log(1001 / tolerance) + 1
        for shift in np.linspace(0.99, 1.01, 21):
            far = near.copy()
            step = np.sqrt(2 * 0.09 * bandwidth * slack * shift)  # KL is step^2 / (2 p (1 - p)) nearby
            far[0] -= step
            far[1] += step
            reference = np.concatenate([near[None], np.repeat(far[None], 1000, axis=0)])
            assert_close(near[None], reference, np.array([0] + [1] * 1000), bandwidth=bandwidth)


@pytest.mark.parametrize("classes", [10, 50])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_takes_every_precision_layout_and_read_only_memory_maps(classes, dtype, tmp_path):
    rng = np.random.default_rng(6)
    pool, reference = draw(rng, 60, classes, dtype=dtype), draw(rng, 80, classes, dtype=dtype)
    labels = rng.integers(classes, size=80)
    want = assert_close(pool, reference, labels)
    for name, rows in {"pool": pool, "reference": reference}.items():
        np.save(tmp_path / f"{name}.npy", rows)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("pool", "reference")]
    assert np.array_equal(assert_close(*mapped, labels), want)
    strided = [np.repeat(rows, 2, axis=0)[::2] for rows in (pool, reference)]
    assert np.allclose(assert_close(*strided, labels), want, atol=1e-12)
    by_column = [np.asfortranarray(rows) for rows in (pool, reference)]
    assert np.allclose(assert_close(*by_column, labels), want, atol=1e-12)
    assert_close(pool.astype(np.float64), reference, labels)


@pytest.mark.parametrize("classes", [5, 50])
def test_rows_that_sum_to_one_only_roughly_are_within_the_bound_too(classes):
    rng = np.random.default_rng(7)
    for factor in (0.9905, 1.0095):
        pool, reference = draw(rng, 50, classes) * factor, draw(rng, 200, classes) * (2 - factor)
        reference[:25] = pool[:25]
        assert_close(pool, reference, rng.integers(classes, size=200))
        assert_close(pool, reference, rng.integers(classes, size=200), density_floor=None, bandwidth=1e-4)


@pytest.mark.parametrize("bandwidth", [1e-7, 30.0])
@pytest.mark.parametrize("classes", [1, 2, 40])
def test_agrees_with_the_dense_sum_at_the_narrowest_and_at_a_huge_bandwidth(bandwidth, classes):
    rng = np.random.default_rng(10)
    reference = draw(rng, 100, classes)
    pool = np.concatenate([draw(rng, 60, classes), reference[:40]])
    assert_close(pool, reference, rng.integers(classes, size=100), bandwidth=bandwidth)
    assert_close(pool[:30], reference, rng.integers(classes, size=100), bandwidth=bandwidth)


@pytest.mark.parametrize("classes", [33, 100])
def test_a_kernel_so_wide_that_all_pairs_matter_equals_the_dense_sum(classes):
    rng = np.random.default_rng(11)
    pool, reference, labels = draw(rng, 200, classes), draw(rng, 300, classes), rng.integers(classes, size=300)
    error, log_density = pruned.pointwise(pool, reference, labels, Estimator(10.0), tolerance=1e-9)
    want_error, want_log_density = dense(pool, reference, labels, Estimator(10.0))
    assert np.allclose(error, want_error, rtol=0, atol=1e-14)
    assert np.allclose(log_density, want_log_density, rtol=1e-14, atol=0)
    assert_close(pool[:50], reference, labels, bandwidth=10.0)  # too few to sample from


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 33])
def test_top_classes_of_any_size_fill_their_blocks(size):
    rng = np.random.default_rng(size)
    top = np.repeat(np.arange(3), [size, 1, 40])
    reference = softmax(np.eye(40)[top] * 6 + rng.normal(size=(len(top), 40)), axis=1)
    pool = np.concatenate([reference, draw(rng, 60, 40)])
    assert_close(pool, reference, rng.integers(40, size=len(top)))
    assert_close(pool, reference, rng.integers(40, size=len(top)), density_floor=None, bandwidth=0.02)


def test_a_pool_row_whose_largest_classes_are_nobodys_top_class_finds_its_neighbours():
    rng = np.random.default_rng(12)
    reference = softmax(np.eye(50)[rng.integers(20, size=300)] * 5 + rng.normal(size=(300, 50)), axis=1)
    away = np.eye(50)[rng.integers(20, 35, size=100)] + np.eye(50)[rng.integers(35, 50, size=100)]
    pool = softmax(away * 5 + rng.normal(size=(100, 50)), axis=1)
    assert_close(pool, reference, rng.integers(50, size=300), density_floor=None)
    assert_close(away / 2, reference, rng.integers(50, size=300), density_floor=None)


def test_an_empty_pool_gives_empty_arrays():
    error, log_density = pruned.pointwise(np.empty((0, 3)), np.eye(3), np.arange(3), Estimator(), tolerance=1e-9)
    assert error.shape == log_density.shape == (0,)


def test_inputs_are_left_as_they_were():
    rng = np.random.default_rng(8)
    for classes in (10, 50):
        pool, reference, labels = draw(rng, 30, classes), draw(rng, 40, classes), rng.integers(classes, size=40)
        copies = pool.copy(), reference.copy(), labels.copy()
        assert_close(pool, reference, labels)
        assert all(map(np.array_equal, (pool, reference, labels), copies))
        assert reference.flags.writeable


def test_pool_rows_do_not_depend_on_their_neighbours():
    rng = np.random.default_rng(9)
    for classes in (10, 50):
        pool, reference, labels = draw(rng, 3000, classes), draw(rng, 90, classes), rng.integers(classes, size=90)
        whole = assert_close(pool, reference, labels)
        for size in (1, 6, 100):
            part = slice(1234, 1234 + size)
            assert np.array_equal(assert_close(pool[part], reference, labels), whole[part])
        assert np.array_equal(assert_close(pool[::-1], reference, labels), whole[::-1])


@pytest.mark.parametrize("case", ["c01", "c03", "c05", "c06", "c09", "c11", "c13"])
def test_reproduces_the_golden_values(case):
    with np.load(Path(__file__).parents[1] / "golden" / "golden.npz") as golden:
        value = {field: golden[f"{case}/{field}"] for field in ("f_pool", "f_train", "y_train", "b", "p")}
        want = {field: golden[f"{case}/{field}"] for field in ("log_den", "ce_exact", "ce_clamp")}
    for floor, field in ((None, "ce_exact"), (1e-10, "ce_clamp")):
        estimator = Estimator(float(value["b"]), float(value["p"]), floor)
        error, log_density = pruned.pointwise(
            value["f_pool"], value["f_train"], value["y_train"], estimator, tolerance=1e-9
        )
        finite = np.isfinite(want[field])
        assert np.allclose(error[finite], want[field][finite], atol=2e-9, rtol=0)
        assert np.allclose(log_density, want["log_den"], atol=2e-9, rtol=1e-12)


@st.composite
def problems(draw):
    classes = draw(st.sampled_from([2, 3, 7, 31, 33, 48]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = st.sampled_from(sorted(ADVERSARIES))
    sizes = st.integers(1, 60)
    reference = np.concatenate([ADVERSARIES[draw(kinds)](rng, draw(sizes), classes) for _ in range(2)])
    pool = np.concatenate([ADVERSARIES[draw(kinds)](rng, draw(sizes), classes), reference[:5]])
    pool, reference = (rows.astype(draw(st.sampled_from([np.float32, np.float64]))) for rows in (pool, reference))
    return pool, reference, rng.integers(classes, size=len(reference))


@settings(max_examples=150, deadline=None)
@given(
    problem=problems(),
    bandwidth=st.floats(-5, 0).map(lambda power: 10.0**power),
    p=st.sampled_from([1, 1.5, 2]),
    floor=st.sampled_from([None, 1e-10, 1.0]),
)
def test_fast_and_dense_agree_on_whatever_hypothesis_finds(problem, bandwidth, p, floor):
    assert_close(*problem, bandwidth=bandwidth, p=p, density_floor=floor)
