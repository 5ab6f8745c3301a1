import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets.formats.idx import STEMS, read_idx
from cusal.errors import DataError

REAL = Path(os.environ.get("CUSAL_DATA", ""), "mnist")
needs_real = pytest.mark.skipif(
    "CUSAL_DATA" not in os.environ or not REAL.is_dir(), reason="CUSAL_DATA names no folder that holds mnist/"
)


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    place = tmp_path / "mnist"
    place.mkdir()
    for stem, count in zip(STEMS, (30, 30, 10, 10), strict=True):
        shape = (count, 28, 28) if "images" in stem else (count,)
        array = rng.integers(0, 256 if "images" in stem else 10, shape, dtype=np.uint8)
        (place / f"{stem}.gz").write_bytes(gzip.compress(idx(array)))
    return tmp_path


def test_loads_images_with_one_channel_and_labels(folder):
    loaded = datasets.load("mnist", folder)
    assert loaded.train.shape == (30, 1, 28, 28)
    assert loaded.test.shape == (10, 1, 28, 28)
    assert loaded.train.dtype == np.float32
    assert loaded.train_labels.dtype == np.int64
    assert loaded.classes == tuple("0123456789")


def test_normalises_with_mean_and_deviation(folder):
    raw = read_idx(folder / "mnist" / f"{STEMS[0]}.gz", axes=3)
    loaded = datasets.load("mnist", folder)
    np.testing.assert_allclose(loaded.train[:, 0], (raw / 255 - 0.1307) / 0.3081, atol=1e-5)


def test_reads_unpacked_files_too(folder):
    for stem in STEMS:
        packed = folder / "mnist" / f"{stem}.gz"
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    assert len(datasets.load("mnist", folder).train) == 30


@pytest.mark.parametrize("kept", [0, 5, 9, 200, -9, -1])
def test_names_a_truncated_gzip_file(folder, kept):
    path = folder / "mnist" / f"{STEMS[0]}.gz"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=f"{STEMS[0]}.gz is corrupt or truncated"):
        datasets.load("mnist", folder)


@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw + b"0", lambda raw: b"\1" + raw[1:]])
def test_names_a_file_whose_header_and_length_disagree(folder, change):
    path = folder / "mnist" / f"{STEMS[2]}.gz"
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()))))
    with pytest.raises(DataError, match=STEMS[2]):
        datasets.load("mnist", folder)


def test_names_labels_out_of_range(folder):
    path = folder / "mnist" / f"{STEMS[1]}.gz"
    path.write_bytes(gzip.compress(idx(np.full(30, 10, dtype=np.uint8))))
    with pytest.raises(DataError, match=r"label 0 is 10, expected 0 to 9"):
        datasets.load("mnist", folder)


def test_names_labels_that_do_not_match_the_images(folder):
    path = folder / "mnist" / f"{STEMS[1]}.gz"
    path.write_bytes(gzip.compress(idx(np.zeros(29, dtype=np.uint8))))
    with pytest.raises(DataError, match="29 labels for 30 items"):
        datasets.load("mnist", folder)


def test_names_what_is_missing_the_folder_and_the_command(folder):
    (folder / "mnist" / f"{STEMS[3]}.gz").unlink()
    with pytest.raises(DataError) as caught:
        datasets.load("mnist", folder)
    message = str(caught.value)
    assert f"{STEMS[3]}.gz" in message
    assert STEMS[0] not in message
    assert str(folder / "mnist") in message
    assert "cusal data get mnist" in message


@needs_real
@pytest.mark.parametrize(("name", "counts"), [("mnist", (6742, 5421)), ("fashion_mnist", (6000, 6000))])
def test_the_real_files_have_the_published_counts(name, counts):
    loaded = datasets.load(name)
    source = datasets.find_source(name)
    assert loaded.train.shape == (source.train, *source.shape)
    assert loaded.test.shape == (source.test, *source.shape)
    per_class = np.bincount(loaded.train_labels)
    assert (per_class.max(), per_class.min()) == counts


@needs_real
def test_real_mnist_is_centred_and_scaled():
    train = datasets.load("mnist").train
    assert abs(train.mean()) < 1e-3
    assert abs(train.std() - 1) < 1e-3
