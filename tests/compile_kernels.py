"""Call every numba kernel once, so that the processes that run the tests find it in numba's cache."""

import numpy as np

import cusal

rng = np.random.default_rng(0)
for classes in (10, 60):  # one kernel for few classes, another for many
    pool, reference = (rng.dirichlet(np.ones(classes), count) for count in (200, 100))
    labels = rng.integers(0, classes, len(reference))
    cusal.calibration.pointwise_error(pool, reference, labels)
    cusal.calibration.canonical_error(reference, labels, bandwidth=0.01)

pool, reference = (rng.dirichlet(np.ones(10), 3000) for _ in range(2))  # enough labelled points to bound errors first
cusal.query(pool, reference, rng.integers(0, 10, 3000), batch_size=5)
