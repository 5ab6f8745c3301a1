"""What becomes of image files on their way to a page."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from cusal.apps.label.server.media import BrokenFile, MissingFile, Picture, PictureCache, draw, find_file, picture_tag


def opened(picture):
    return Image.open(io.BytesIO(picture.content))


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_of(width, height):
    """Return the bytes of a black grey-scale PNG, however large, without ever holding its pixels."""
    row = b"\0" * (1 + width)
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a_large_photo_becomes_a_small_jpeg(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (900, 2400, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    picture = draw(tmp_path / "photo.png", 1600)
    assert picture.media_type == "image/jpeg"
    assert opened(picture).size == (1600, 600)
    assert max(opened(draw(tmp_path / "photo.png", 200)).size) == 200


def test_a_small_image_keeps_every_pixel(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (28, 28), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "digit.png")
    picture = draw(tmp_path / "digit.png", 1600)
    assert picture.media_type == "image/png"
    assert np.array_equal(np.asarray(opened(picture)), pixels)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_is_turned_as_its_camera_was_held(tmp_path, orientation):
    upright = Image.new("RGB", (40, 20), "white")
    upright.paste("red", (0, 0, 10, 10))  # red in the upper left corner
    exif = Image.Exif()
    exif[0x0112] = orientation
    turned = {
        1: upright,
        2: upright.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        3: upright.transpose(Image.Transpose.ROTATE_180),
        4: upright.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        5: upright.transpose(Image.Transpose.TRANSPOSE),
        6: upright.transpose(Image.Transpose.ROTATE_90),
        7: upright.transpose(Image.Transpose.TRANSVERSE),
        8: upright.transpose(Image.Transpose.ROTATE_270),
    }[orientation]
    turned.save(tmp_path / "photo.png", exif=exif)
    shown = opened(draw(tmp_path / "photo.png", 1600))
    assert shown.size == (40, 20)
    assert shown.convert("RGB").getpixel((3, 3)) == (255, 0, 0)
    assert 0x0112 not in shown.getexif()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_kind_of_pixel_can_be_shown(tmp_path, mode):
    if mode == "I;16":
        image = Image.fromarray(np.arange(400, dtype=np.uint16).reshape(20, 20) * 100)
    elif mode in ("I", "F"):
        image = Image.fromarray(np.arange(400, dtype=np.int32).reshape(20, 20)).convert(mode)
    else:
        image = Image.new("RGB", (20, 20), "teal").convert(mode)
    image.save(tmp_path / "image.tiff")
    shown = opened(draw(tmp_path / "image.tiff", 200))
    assert shown.size == (20, 20)
    if mode in ("I;16", "I", "F"):  # stretched from black to white
        assert shown.getextrema() == (0, 255)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tiff", "gif", "bmp"])
def test_every_format_that_a_folder_may_hold_is_shown(tmp_path, suffix):
    path = tmp_path / f"image.{suffix}"
    Image.new("RGB", (30, 30), "teal").save(path)
    assert opened(draw(path, 200)).size == (30, 30)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff\xe0" + b"\0" * 100,
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"<!doctype html><script>alert(1)</script>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n",
    ],
    ids=["empty", "png", "gif", "jpeg", "svg", "html", "postscript"],
)
def test_what_is_no_raster_image_is_refused_whatever_its_name(tmp_path, content):
    path = tmp_path / "image.png"
    path.write_bytes(content)
    with pytest.raises(BrokenFile, match=r"image\.png cannot be shown as an image"):
        draw(path, 200)


def test_a_truncated_image_is_refused(tmp_path):
    Image.new("RGB", (300, 300), "teal").save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:-40])
    with pytest.raises(BrokenFile, match=r"cut\.png"):
        draw(tmp_path / "cut.png", 200)


def test_a_decompression_bomb_is_refused_before_it_is_decoded(tmp_path):
    (tmp_path / "bomb.png").write_bytes(png_of(30_000, 30_000))
    with pytest.raises(BrokenFile, match=r"bomb\.png has more than 89,478,485 pixels"):
        draw(tmp_path / "bomb.png", 200)


def test_finds_files_inside_the_folder(tmp_path):
    inside = tmp_path / "photos" / "cats"
    inside.mkdir(parents=True)
    (inside / "Äpfel ü 名.png").write_bytes(b"x")
    path, state = find_file(tmp_path / "photos", "cats/Äpfel ü 名.png")
    assert path.read_bytes() == b"x"
    assert state.st_size == 1


def test_reads_nothing_outside_the_folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"secret")
    (folder / "link.png").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop.png").symlink_to(folder / "loop.png")
    os.mkfifo(folder / "pipe.png")
    keys = [
        "../secret.png",
        str(secret),
        "link.png",
        "up/secret.png",
        "loop.png",
        "pipe.png",
        "a\0b.png",
        "",
        "none.png",
    ]
    for key in keys:
        with pytest.raises(MissingFile):
            find_file(folder, key)


def test_a_link_inside_the_folder_is_followed(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    assert find_file(tmp_path, "b.png")[0].name == "a.png"


def test_the_tag_changes_with_the_file_and_the_size(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    path, state = find_file(tmp_path, "a.png")
    tags = {picture_tag(path, state, 200), picture_tag(path, state, 1600)}
    (tmp_path / "a.png").write_bytes(b"xy")
    tags.add(picture_tag(*find_file(tmp_path, "a.png"), 200))
    assert len(tags) == 3


def test_the_cache_forgets_what_was_not_asked_for_the_longest():
    cache = PictureCache(most_bytes=30)
    for name in "abc":
        cache.keep(name, Picture(b"0123456789", "image/png"))
    assert cache.find("a") is not None
    cache.keep("d", Picture(b"0123456789", "image/png"))
    assert cache.find("b") is None
    assert cache.find("a") is not None
    cache.keep("large", Picture(b"x" * 31, "image/png"))
    assert cache.find("large") is None
    assert cache.bytes == 30
