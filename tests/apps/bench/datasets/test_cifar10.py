import functools
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets import cifar10, cifar10_lt
from cusal.errors import DataError, InvalidInput

BATCH = 20
DATA = Path(os.environ.get("CUSAL_DATA", "") or "nowhere")
BINARY, ARCHIVE = cifar10.BINARY, cifar10.ARCHIVE


@functools.cache
def batch(number):
    rng = np.random.default_rng(number)
    return rng.integers(0, 256, (BATCH, 3072), dtype=np.uint8), np.arange(BATCH) % 10


def content(name):
    """What the publisher's file of that name holds, with fewer images."""
    images, labels = batch(BINARY.index(name))
    return np.concatenate([labels[:, None].astype(np.uint8), images], axis=1).tobytes()


def write(folder, names):
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content(name))


def pack(folder, archive, names):
    with tarfile.open(folder / archive, "w:gz") as packed:
        for name in reversed(names):  # the publisher's order is not ours either
            member = tarfile.TarInfo(name)
            member.size = len(content(name))
            packed.addfile(member, io.BytesIO(content(name)))


def write_form(folder, form):
    if form == ARCHIVE:
        pack(folder, form, BINARY)
    else:
        write(folder, BINARY)


@pytest.mark.parametrize("form", ["unpacked", ARCHIVE])
def test_every_published_form_gives_the_same_data(tmp_path, form):
    write_form(tmp_path, form)
    loaded = cifar10.load(tmp_path, batch=BATCH)
    raw = np.concatenate([batch(number)[0] for number in range(5)]).reshape(-1, 3, 32, 32)
    mean, deviation = (np.reshape(values, (3, 1, 1)) for values in (cifar10.MEAN, cifar10.DEVIATION))
    np.testing.assert_allclose(loaded.train, (raw / 255 - mean) / deviation, atol=1e-5)
    assert loaded.train_labels.tolist() == (np.arange(5 * BATCH) % 10).tolist()
    assert loaded.test.shape == (BATCH, 3, 32, 32)
    assert loaded.classes[6] == "frog"


@pytest.mark.parametrize("kept", [0, 1, 100, 3073, -3073, -1])
def test_names_a_truncated_batch(tmp_path, kept):
    name = BINARY[2]
    write(tmp_path, BINARY)
    (tmp_path / name).write_bytes(content(name)[:kept])
    with pytest.raises(DataError, match=f"{name} is corrupt or truncated"):
        cifar10.load(tmp_path, batch=BATCH)


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99])
def test_names_a_truncated_archive(tmp_path, share):
    write_form(tmp_path, ARCHIVE)
    raw = (tmp_path / ARCHIVE).read_bytes()
    (tmp_path / ARCHIVE).write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(DataError, match=f"{ARCHIVE} is corrupt or truncated"):
        cifar10.load(tmp_path, batch=BATCH)


def test_names_what_an_archive_lacks(tmp_path):
    pack(tmp_path, "cifar-10-binary.tar.gz", BINARY[:5])
    with pytest.raises(DataError, match=r"does not hold cifar-10-batches-bin/test_batch\.bin"):
        cifar10.load(tmp_path, batch=BATCH)


def test_names_the_files_that_are_missing(tmp_path):
    write(tmp_path, BINARY[:5])
    with pytest.raises(DataError, match=f"cifar10: {BINARY[5]} not found in .*cusal data get cifar10"):
        datasets.load("cifar10", tmp_path)


@pytest.mark.parametrize("name", ["cifar10", "cifar10_lt"])
@pytest.mark.parametrize("pickled", cifar10.PICKLED)
def test_the_pickled_version_alone_says_what_to_do(tmp_path, name, pickled):
    (tmp_path / pickled).touch()
    with pytest.raises(DataError, match=f"{pickled} is the Python version, .* Run: cusal data get {name}"):
        datasets.load(name, tmp_path)


def test_the_pickled_version_beside_the_binary_one_is_left_alone(tmp_path):
    (tmp_path / cifar10.PICKLED[0]).mkdir()
    write(tmp_path, BINARY)
    assert len(cifar10.load(tmp_path, batch=BATCH).test) == BATCH


def test_the_long_tail_keeps_the_published_counts():
    labels = np.tile(np.arange(10), 5000)
    kept = cifar10_lt.long_tail(labels, 50.0)
    assert np.bincount(labels[kept]).tolist() == [5000, 3237, 2096, 1357, 878, 568, 368, 238, 154, 100]
    assert len(kept) == cifar10_lt.SOURCE.train
    assert (np.diff(kept) > 0).all()


def test_the_long_tail_is_a_part_of_the_whole(tmp_path):
    write(tmp_path, BINARY)
    whole, tail = cifar10.load(tmp_path, batch=BATCH), cifar10_lt.load(tmp_path, factor=10, batch=BATCH)
    kept = cifar10_lt.long_tail(whole.train_labels, 10)
    assert np.bincount(tail.train_labels).tolist() == [10, 7, 5, 4, 3, 2, 2, 1, 1, 1]
    assert np.array_equal(tail.train, whole.train[kept])
    assert np.array_equal(tail.test, whole.test)


def test_a_long_tail_grows_no_class(tmp_path):
    with pytest.raises(InvalidInput, match="factor"):
        cifar10_lt.load(tmp_path, factor=0.5)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The folder of the real CIFAR-10, in full or written by the script `expand` beside its compact form."""
    if (DATA / BINARY[0]).is_file():
        return DATA
    if not (DATA / "expand").is_file():
        pytest.skip("CUSAL_DATA names no folder that holds cifar-10-batches-bin/")
    pytest.importorskip("PIL")
    folder = tmp_path_factory.mktemp("expanded")
    subprocess.run([sys.executable, DATA / "expand", folder], check=True)
    return folder


@pytest.mark.slow
def test_the_real_images_are_centred_and_scaled(real):
    loaded = datasets.load("cifar10", real)
    assert loaded.train.shape == (50_000, 3, 32, 32)
    np.testing.assert_allclose(loaded.train.mean((0, 2, 3), dtype=float), 0, atol=1e-3)
    np.testing.assert_allclose(loaded.train.std((0, 2, 3), dtype=float), 1, atol=1e-3)
    assert np.bincount(loaded.train_labels).tolist() == [5000] * 10
