import subprocess
import sys

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.errors import DataError, UnknownName


def test_finds_every_data_set_by_its_file():
    assert datasets.names() == sorted(datasets.names())
    assert {"digits", "mnist", "fashion_mnist"} <= set(datasets.names())


def test_suggests_the_nearest_name():
    with pytest.raises(UnknownName, match="did you mean 'mnist'"):
        datasets.load("mnits")


def test_digits_always_load_and_are_split_the_same_way():
    first, second = datasets.load("digits"), datasets.load("digits")
    assert first.train.shape == (1438, 1, 8, 8)
    assert first.test.shape == (359, 1, 8, 8)
    assert np.array_equal(first.train, second.train)
    assert np.bincount(first.test_labels).min() >= 35


@pytest.mark.parametrize("name", datasets.names())
def test_describes_each_data_set_without_files(name, tmp_path):
    row = next(row for row in datasets.describe(tmp_path) if row.name == name)
    assert row.classes > 1
    assert row.train > row.test > 0
    assert row.present == (name == "digits")
    assert row.folder == datasets.where(name, tmp_path)


@pytest.mark.parametrize("name", [name for name in datasets.names() if name != "digits"])
def test_names_the_folder_of_a_data_set_that_is_not_there(name, tmp_path):
    with pytest.raises(DataError) as caught:
        datasets.load(name, tmp_path)
    assert str(datasets.where(name, tmp_path)) in str(caught.value)


def test_cusal_data_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSAL_DATA", str(tmp_path))
    assert datasets.where("mnist") == tmp_path / "mnist"


def test_the_cache_folder_is_used_without_cusal_data(monkeypatch):
    monkeypatch.delenv("CUSAL_DATA", raising=False)
    assert "cusal" in str(datasets.where("mnist"))


def test_importing_and_listing_load_nothing_heavy():
    code = (
        "import sys, cusal; before = set(sys.modules); import cusal.apps.bench.datasets as d; d.names(); "
        "print({'torch', 'pooch', 'PIL', 'matplotlib', 'sklearn'} & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
