import contextlib

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets.svhn import read_mat
from cusal.errors import DataError


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "svhn").mkdir()
    for part, count in (("train", 20), ("test", 10)):
        images = rng.integers(0, 256, (32, 32, 3, count), dtype=np.uint8)
        labels = np.arange(1, count + 1, dtype=np.uint8)[:, None] % 10
        content = {"X": images, "y": np.where(labels == 0, 10, labels)}
        savemat(tmp_path / "svhn" / f"{part}_32x32.mat", content, do_compression=True)
    return tmp_path


def test_loads_channels_first_and_reads_ten_as_zero(folder):
    loaded = datasets.load("svhn", folder)
    assert loaded.train.shape == (20, 3, 32, 32)
    assert loaded.train.dtype == np.float32
    assert loaded.train.flags.c_contiguous
    assert loaded.test_labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("kind", ["u1", "i2", "f4", "f8"])
def test_reads_what_scipy_reads(tmp_path, compressed, kind):
    rng = np.random.default_rng(0)
    written = {"X": rng.integers(0, 100, (4, 3, 2)).astype(kind), "longer_name": np.ones((1, 1), dtype=kind)}
    savemat(tmp_path / "a.mat", written, do_compression=compressed)
    ours, theirs = read_mat(tmp_path / "a.mat"), loadmat(tmp_path / "a.mat")
    assert list(ours) == ["X", "longer_name"]
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype
        assert np.array_equal(array, theirs[name])


@pytest.mark.parametrize("share", [0, 0.0005, 0.002, 0.01, 0.3, 0.7, 0.9, 0.999])
def test_names_a_truncated_file(folder, share):
    path = folder / "svhn" / "train_32x32.mat"
    raw = path.read_bytes()
    path.write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(DataError, match=r"train_32x32\.mat is corrupt or truncated"):
        datasets.load("svhn", folder)


@pytest.mark.parametrize("position", [0.0005, 0.001, 0.0025, 0.003, 0.1, 0.5, 0.9])
def test_names_a_file_with_a_damaged_stretch(folder, position):
    path = folder / "svhn" / "test_32x32.mat"
    raw = bytearray(path.read_bytes())
    start = max(124, int(position * len(raw)))
    raw[start : start + 24] = bytes(255 - byte for byte in raw[start : start + 24])
    path.write_bytes(bytes(raw))
    with pytest.raises(DataError, match=r"test_32x32\.mat is corrupt or truncated"):
        datasets.load("svhn", folder)


def test_names_a_file_without_labels(folder):
    savemat(folder / "svhn" / "test_32x32.mat", {"X": np.zeros((32, 32, 3, 5), dtype=np.uint8)})
    with pytest.raises(DataError, match="holds no array 'y'"):
        datasets.load("svhn", folder)


def test_a_damaged_header_ends_in_an_error_and_not_in_a_crash(folder):
    path = folder / "svhn" / "test_32x32.mat"
    savemat(path, {"X": np.zeros((32, 32, 3, 4), dtype=np.uint8), "y": np.ones((4, 1), dtype=np.uint8)})
    raw = path.read_bytes()
    for position in range(126, 192):
        path.write_bytes(raw[:position] + bytes([255 - raw[position]]) + raw[position + 1 :])
        with contextlib.suppress(DataError):
            datasets.load("svhn", folder)


def test_every_damage_ends_in_an_error_or_in_arrays(tmp_path):
    path, rng = tmp_path / "a.mat", np.random.default_rng(0)
    for compressed in (True, False):
        savemat(path, {"X": np.ones((4, 4, 3, 2), np.uint8), "y": np.ones((2, 1), np.uint8)}, do_compression=compressed)
        whole = path.read_bytes()
        for _ in range(200):
            damaged = bytearray(whole)
            damaged[rng.integers(120, len(whole))] = rng.integers(256)
            path.write_bytes(damaged)
            with contextlib.suppress(DataError):
                read_mat(path)


def test_names_images_of_another_shape(folder):
    content = {"X": np.zeros((5, 32, 32, 3), dtype=np.uint8), "y": np.ones((5, 1), dtype=np.uint8)}
    savemat(folder / "svhn" / "test_32x32.mat", content)
    with pytest.raises(DataError, match=r"X is uint8 of shape"):
        datasets.load("svhn", folder)


@pytest.mark.slow
def test_the_real_images_are_centred_and_scaled(real_svhn):
    loaded = datasets.load("svhn", real_svhn)
    np.testing.assert_allclose(loaded.train.mean((0, 2, 3)), 0, atol=0.05)
    np.testing.assert_allclose(loaded.train.std((0, 2, 3)), 1, atol=0.05)
    assert np.bincount(loaded.train_labels).argmax() == 1
