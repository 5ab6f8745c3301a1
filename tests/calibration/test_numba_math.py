"""The compiled exp and lgamma against SciPy's and NumPy's."""

import numpy as np
from scipy.special import gammaln

from cusal.calibration.numba_math import PER_UNIT, exp_below_zero, log_above, log_gamma_1p, log_gamma_1p_small


def test_exp_is_right_to_the_last_places():
    x = -np.concatenate([[0.0, 1e-300, 1e-9, np.log(2) / 2, 699.99], np.random.default_rng(0).uniform(0, 700, 100_000)])
    assert np.allclose(each(exp_below_zero, x), np.exp(x), rtol=5e-16, atol=0)


def test_exp_stays_tiny_and_positive_far_below():
    far = each(exp_below_zero, np.array([-700.0, -1e6, -np.inf]))
    assert np.all((far > 0) & (far < 1e-303))


def test_log_gamma_agrees_with_scipy_on_both_sides_of_its_table():
    x = np.concatenate([[0.0, 1e-300, 1e-12, 3.9999999999, 4.0, 1e5], np.random.default_rng(1).uniform(0, 8, 100_000)])
    assert np.allclose(each(log_gamma_1p, x), gammaln(1 + x), rtol=1e-15, atol=2e-15)


def test_log_gamma_of_small_numbers_is_the_same():
    x = np.linspace(0, 1 / PER_UNIT, 1000, endpoint=False)
    assert np.allclose(each(log_gamma_1p_small, x), gammaln(1 + x), rtol=0, atol=5e-16)


def test_log_above_is_an_upper_bound_and_close():
    x = np.exp(np.random.default_rng(2).uniform(-700, 0.1, 100_000))
    above = each(log_above, np.concatenate([x, [1.0, 0.5, np.nextafter(1, 0), np.finfo(np.float64).tiny]]))
    above[:-4] -= np.log(x)
    above[-4:] -= np.log([1.0, 0.5, np.nextafter(1, 0), np.finfo(np.float64).tiny])
    assert np.all((above > 0) & (above < 1e-5))
    assert np.isfinite(log_above(0.0))


def each(function, values):
    return np.array([function(value) for value in values])
