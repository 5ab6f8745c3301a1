"""The 8 x 8 handwritten digits that come with scikit-learn (Alpaydin and Kaynak 1998): no file is needed."""

from pathlib import Path

import numpy as np

from cusal.apps.bench.datasets.dataset import Dataset, Source, split_stratified

SOURCE = Source(
    title="digits of scikit-learn",
    classes=10,
    shape=(1, 8, 8),
    train=1438,
    test=359,
    licence="CC BY 4.0",
)


def load(folder: Path) -> Dataset:
    """Return the digits, split by class and normalised with the train split's mean and deviation."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    labels = labels.astype(np.int64)
    train, test = split_stratified(labels)
    items = images.reshape(-1, *SOURCE.shape)
    items = ((items - items[train].mean()) / items[train].std()).astype(np.float32)
    return Dataset("digits", items[train], labels[train], items[test], labels[test], classes=tuple("0123456789"))
