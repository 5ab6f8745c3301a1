"""Data sets by name, ready for a network.

>>> from cusal.apps.bench import datasets
>>> digits = datasets.load("digits")
>>> digits.train.shape, digits.test.shape
((1438, 1, 8, 8), (359, 1, 8, 8))
"""

from cusal.apps.bench.datasets.catalogue import Description, describe, find_source, load, names, where
from cusal.apps.bench.datasets.dataset import Dataset, Items, Source
from cusal.apps.bench.datasets.download import get
from cusal.apps.bench.datasets.files import data_folder

__all__ = [
    "Dataset",
    "Description",
    "Items",
    "Source",
    "data_folder",
    "describe",
    "find_source",
    "get",
    "load",
    "names",
    "where",
]
