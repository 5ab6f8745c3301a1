"""The split of a data set that comes without one: stratified by class and the same every time."""

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.dataset import Labels

TEST_SHARE = 0.2


def split_stratified(labels: Labels, *, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the train and the test items, ascending: a fifth of each class is for the test.

    A class of one or two items stays in the train split, so that it can be learned at all.
    """
    rng = np.random.default_rng(seed)
    in_test = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        in_test[rng.permutation(members)[: round(TEST_SHARE * len(members))]] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)
