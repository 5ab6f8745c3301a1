"""CIFAR-10-LT, a long tail (Cui et al. 2019): class k keeps 5000 * factor^(-k/9) images of CIFAR-10."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from cusal._checks import as_positive
from cusal.apps.bench.datasets import cifar10
from cusal.apps.bench.datasets.dataset import Dataset, Labels

FACTOR = 50.0  # the paper's
SOURCE = replace(cifar10.SOURCE, title="CIFAR-10 with a long tail, factor 50", train=13_996)


def load(folder: Path, *, factor: float = FACTOR, batch: int = 10_000) -> Dataset:
    """Return CIFAR-10 with the first images of each class in published order kept, and the whole test set.

    `factor` is how many times larger the first class is than the last.
    """
    factor = as_positive(factor, "factor", least=1.0)
    return cifar10.load_part("cifar10_lt", folder, batch=batch, keep=lambda labels: long_tail(labels, factor))


def long_tail(labels: Labels, factor: float) -> Labels:
    """Return the positions, ascending, of what each class keeps: fewer and fewer from class 0 to the last."""
    members = [np.flatnonzero(labels == label) for label in range(SOURCE.classes)]
    steps = SOURCE.classes - 1
    kept = [positions[: int(len(positions) * factor ** (-k / steps))] for k, positions in enumerate(members)]
    return np.sort(np.concatenate(kept))
