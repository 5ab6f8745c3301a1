"""The matrices that turn ten products of a convolution into six."""

import numpy as np

from cusal.models._image_vectors import INPUT, KERNEL, OUTPUT


def test_six_products_give_two_results_of_a_convolution():
    rng = np.random.default_rng(0)
    for _ in range(20):
        pixels, weights = rng.standard_normal(6), rng.standard_normal(5)
        found = np.array(OUTPUT) @ ((KERNEL @ weights) * (np.array(INPUT) @ pixels))
        assert np.allclose(found, np.correlate(pixels, weights, "valid"), rtol=1e-12, atol=1e-12)
