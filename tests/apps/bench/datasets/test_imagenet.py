import pickle

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.errors import DataError

Image = pytest.importorskip("PIL.Image", reason="reading images needs pillow")
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture
def folder(tmp_path):
    for part, count in (("train", 3), ("val", 1)):
        for label, name in enumerate(("n01440764", "n01443537")):
            place = tmp_path / "imagenet" / part / name
            place.mkdir(parents=True)
            for number in range(count):
                colour = (40 * number, 100, 200 * label)
                picture = Image.new("RGB", (300 + 100 * number, 280), colour)
                picture.save(place / f"{name}_{number}.JPEG", quality=100, subsampling=0)
    return tmp_path


def test_images_are_read_when_they_are_indexed(folder):
    loaded = datasets.load("imagenet", folder)
    assert loaded.classes == ("n01440764", "n01443537")
    assert loaded.train_labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert loaded.train.shape == (6, 3, 224, 224)
    assert len(loaded.test) == 2
    images = loaded.train[np.array([5, 0])]
    assert images.shape == (2, 3, 224, 224)
    assert images.dtype == np.float32
    expected = (np.array([80, 100, 200]) / 255 - MEAN) / DEVIATION
    np.testing.assert_allclose(images[0].mean((1, 2)), expected, atol=0.03)


def test_indexing_follows_arrays(folder):
    train = datasets.load("imagenet", folder).train
    assert train[2].shape == (3, 224, 224)
    assert train[:2].shape == (2, 3, 224, 224)
    assert train[np.array([], dtype=np.int64)].shape == (0, 3, 224, 224)
    with pytest.raises(IndexError):
        train[np.array([6])]


def test_the_middle_is_cropped_from_the_resized_image(folder):
    picture = Image.new("RGB", (1024, 512), (0, 0, 0))
    picture.paste((255, 255, 255), (512, 0, 1024, 512))
    picture.save(folder / "imagenet" / "val" / "n01440764" / "n01440764_0.JPEG", quality=100)
    row = datasets.load("imagenet", folder).test[0][0, 112]
    assert row[:110].max() < row[114:].min()


def test_grey_images_get_three_channels(folder):
    Image.new("L", (300, 300), 128).save(folder / "imagenet" / "val" / "n01440764" / "n01440764_0.JPEG")
    assert datasets.load("imagenet", folder).test[[0]].shape == (1, 3, 224, 224)


def test_items_travel_to_other_processes(folder):
    train = datasets.load("imagenet", folder).train
    assert np.array_equal(pickle.loads(pickle.dumps(train))[[1]], train[[1]])


@pytest.mark.parametrize("share", [0, 0.3, 0.8])
def test_names_a_truncated_image(folder, share):
    path = folder / "imagenet" / "train" / "n01443537" / "n01443537_1.JPEG"
    raw = path.read_bytes()
    path.write_bytes(raw[: int(share * len(raw))])
    train = datasets.load("imagenet", folder).train
    with pytest.raises(DataError, match=r"n01443537_1\.JPEG is corrupt or truncated"):
        train[[4]]


def test_train_and_test_have_the_same_classes(folder):
    (folder / "imagenet" / "train" / "n09999999").mkdir()
    with pytest.raises(DataError, match="n09999999"):
        datasets.load("imagenet", folder)


def test_names_a_class_without_images(folder):
    (folder / "imagenet" / "val" / "n01440764" / "n01440764_0.JPEG").unlink()
    with pytest.raises(DataError, match="n01440764 holds no image"):
        datasets.load("imagenet", folder)


def test_says_how_to_obtain_it(tmp_path):
    with pytest.raises(DataError, match=r"register at image-net\.org"):
        datasets.get("imagenet", tmp_path)
