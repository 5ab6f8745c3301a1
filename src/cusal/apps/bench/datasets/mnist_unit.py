"""MNIST with pixels from 0 to 1, not standardised: with few labels a network learns more slowly from them."""

from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset
from cusal.apps.bench.datasets.formats.idx import load_idx
from cusal.apps.bench.datasets.mnist import SOURCE

__all__ = ["SOURCE", "load"]


def load(folder: Path) -> Dataset:
    """Return MNIST with its pixels divided by 255 and nothing else."""
    return load_idx("mnist_unit", SOURCE, folder, classes=tuple("0123456789"), scale=(0.0, 1.0))
