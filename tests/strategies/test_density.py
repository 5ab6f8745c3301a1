"""The density of features under one Gaussian for each class."""

from typing import Literal

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from cusal.strategies import ddu as density
from cusal.strategies.ddu import class_log_density


@pytest.mark.parametrize("covariance", ["shared", "per_class"])
def test_density_is_that_of_the_mixture(
    covariance: Literal["shared", "per_class"], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([2, 5], [30, 50])
    features = rng.normal(size=(80, 3)) * [1, 2, 3] + labels[:, None]
    points = rng.normal(size=(25, 3)) * 3
    monkeypatch.setattr(density, "TILE_NUMBERS", 40)
    means = {c: features[labels == c].mean(axis=0) for c in (2, 5)}
    residuals = features - np.stack([means[c] for c in labels])
    ridge = 0.1 * features.var(axis=0).mean() * np.eye(3)
    terms = []
    for c, share in ((2, 3 / 8), (5, 5 / 8)):
        own = residuals if covariance == "shared" else residuals[labels == c]
        matrix = own.T @ own / len(own) + ridge
        terms.append(np.log(share) + multivariate_normal(means[c], matrix).logpdf(points))
    found = class_log_density(points, (features, labels), covariance=covariance, jitter=0.1)
    np.testing.assert_allclose(found, logsumexp(terms, axis=0), rtol=1e-10)
