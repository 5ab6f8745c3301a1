"""BADGE: gradients that are never built."""

from typing import Any

import numpy as np
import pytest

from cusal.strategies._view import View
from cusal.strategies.badge import Badge, FactorisedGradients, residuals


def built_gradients(probs: np.ndarray, features: np.ndarray) -> np.ndarray:
    labels = np.eye(probs.shape[1])[probs.argmax(axis=1)]
    return ((labels - probs)[:, :, None] * features[:, None, :]).reshape(len(probs), -1)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_factorised_distances_are_those_of_the_gradients(dtype: Any, tolerance: float) -> None:
    rng = np.random.default_rng(0)
    probs, features = rng.dirichlet(np.ones(7), 40), rng.normal(size=(40, 11))
    gradients = built_gradients(probs, features)
    factorised = FactorisedGradients(residuals(probs.astype(dtype)), features.astype(dtype))
    for row in range(40):
        expected = ((gradients - gradients[row]) ** 2).sum(axis=1)
        np.testing.assert_allclose(factorised.distances(row), expected, atol=tolerance * expected.max())


def test_largest_gradient_comes_first() -> None:
    rng = np.random.default_rng(1)
    probs, features = rng.dirichlet(np.ones(4), 50), rng.normal(size=(50, 5))
    largest = (built_gradients(probs, features) ** 2).sum(axis=1).argmax()
    for seed in range(5):
        view = View.of_arrays(
            np.arange(50),
            np.random.default_rng(seed),
            probs=probs,
            reference=(probs[:0], np.empty(0, dtype=np.int64)),
            embeddings=features,
        )
        assert Badge().select(view, 3)[0] == largest
