"""The cache of features: names that stay what they are, so that what was computed once is found again."""

from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench.datasets.formats.image_folder import ImageFolder
from cusal.features.cache import cached_features
from cusal.features.images import WIDTH


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path))
    (tmp_path / "features").mkdir()
    return tmp_path / "features"


def put(cache: Path, name: str, rows: int) -> np.ndarray:
    features = np.full((rows, WIDTH), rows, dtype=np.float32)
    np.save(cache / name, features)
    return features


def test_features_of_arrays_are_found_under_the_name_that_they_always_had(cache: Path) -> None:
    train = put(cache, "my_pool-efficientnet_lite0-32-f2f9748d11d3-train.npy", 6)
    test = put(cache, "my_pool-efficientnet_lite0-32-f2f9748d11d3-test.npy", 2)
    images = [(np.arange(n * 64) % modulus).astype(np.float32).reshape(n, 1, 8, 8) for n, modulus in ((6, 17), (2, 13))]
    splits = dict(zip(("train", "test"), images, strict=True))
    found = cached_features(splits, title="npz:/some/where/my pool.npz", network="efficientnet_lite0", side=32)
    assert list(found) == ["train", "test"]
    np.testing.assert_array_equal(found["train"], train)
    np.testing.assert_array_equal(found["test"], test)


def test_features_of_files_are_found_under_the_name_that_they_always_had(cache: Path, tmp_path: Path) -> None:
    put(cache, "imagenet-efficientnet_lite0-32-a5d37f530110-train.npy", 2)
    put(cache, "imagenet-efficientnet_lite0-32-a5d37f530110-test.npy", 1)
    place = tmp_path / "kind"
    place.mkdir()
    for number in range(3):
        (place / f"{number}.bmp").write_bytes(bytes(4854))  # names and sizes count, not what the files hold
    settings = {"mean": (0.5,) * 3, "deviation": (0.2,) * 3, "side": 40, "crop": 32}
    paths = [str(place / f"{number}.bmp") for number in range(3)]
    splits = {"train": ImageFolder(tuple(paths[:2]), **settings), "test": ImageFolder(tuple(paths[2:]), **settings)}
    found = cached_features(splits, title="imagenet", network="efficientnet_lite0", side=32)
    assert {split: len(rows) for split, rows in found.items()} == {"train": 2, "test": 1}
