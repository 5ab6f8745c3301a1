"""Images as the pages show them: turned upright, made small enough, encoded again.

A browser never gets the bytes of a file. What Pillow cannot decode as one of a few raster formats is not shown, so
that SVG or HTML under another name has no effect. Only files that are items of the project are read, and only if they
lie inside its folder.
"""

import hashlib
import io
import os
import stat
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from cusal.errors import DataError

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP")
SIDES = (200, 1600)
MOST_PIXELS = 89_478_485  # Pillow's own limit: a quarter of a gigabyte as RGB
SMALL = 256 * 256  # pixels; smaller pictures are sent without loss
CACHE_BYTES = 64_000_000


@dataclass(frozen=True)
class Picture:
    """An encoded image, with the type that it is sent as."""

    content: bytes
    media_type: str


class MissingFile(DataError):
    """Raised when the file of an item is not there, or may not be read."""


class BrokenFile(DataError):
    """Raised when the file of an item is not an image that can be shown."""


def find_file(folder: Path, key: str) -> tuple[Path, os.stat_result]:
    """Return the file of an item and its state.

    Raises
    ------
    MissingFile
        If there is no such file, or it lies outside the folder: by "..", as an absolute path, or behind a symlink.
    """
    try:
        path = (folder / key).resolve(strict=True)
        state = path.stat()
    except (OSError, ValueError, RuntimeError):  # a NUL in the name; a loop of symlinks
        raise MissingFile(f"the file of {key!r} is not there; it is left out until it comes back.") from None
    if not path.is_relative_to(folder.resolve()):
        raise MissingFile(f"{key!r} lies outside the folder of the project and is not read.")
    if not stat.S_ISREG(state.st_mode):
        raise MissingFile(f"{key!r} is not a regular file and is not read.")
    return path, state


def picture_tag(path: Path, state: os.stat_result, side: int) -> str:
    """Return a name for the picture that changes with the file, the size and the project."""
    text = f"{path}|{state.st_mtime_ns}|{state.st_size}|{side}"
    return f'"{hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()}"'


def draw(path: Path, side: int) -> Picture:
    """Return the image of a file, upright, with no side longer than `side`.

    Raises
    ------
    BrokenFile
        If the file is not a raster image, is damaged, or would take too much memory.
    """
    try:
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            image.draft("RGB", (side, side))
            return _encode(_upright(image, side))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise BrokenFile(f"{path.name} has more than {MOST_PIXELS:,} pixels; make it smaller to show it.") from None
    except MemoryError:
        raise BrokenFile(f"{path.name} needs more memory than there is; make it smaller to show it.") from None
    except Exception as error:  # decoders meet damaged files with errors of every kind
        reason = " ".join(str(error).replace(str(path), path.name).split())[:200] or type(error).__name__
        raise BrokenFile(f"{path.name} cannot be shown as an image ({reason}).") from error


def _upright(image: Image.Image, side: int) -> Image.Image:
    try:
        orientation = image.getexif().get(0x0112, 1)
    except Exception:  # damaged metadata must not hide a good picture
        orientation = 1
    profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA", "L") else None
    shown = _eight_bits(image)
    shown.thumbnail((side, side), Image.Resampling.LANCZOS)
    shown = _turned(shown, orientation)
    shown.info = {"icc_profile": profile} if isinstance(profile, bytes) and len(profile) < 1_000_000 else {}
    return shown


TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def _turned(image: Image.Image, orientation: object) -> Image.Image:
    turn = TURNS.get(orientation) if isinstance(orientation, int) else None
    return image if turn is None else image.transpose(turn)


def _eight_bits(image: Image.Image) -> Image.Image:
    """Return the image as grey, RGB or RGBA; deep and floating-point images are stretched to what a screen shows."""
    if image.mode in ("L", "RGB", "RGBA"):
        return image.copy()
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        numbers = image.convert("F")
        low, high = numbers.getextrema()
        span = float(high) - float(low)  # type: ignore[arg-type]
        scale = 255.0 / span if 0 < span < float("inf") else 1.0
        return numbers.point(lambda value: value * scale + (-float(low) * scale)).convert("L")  # type: ignore[arg-type]
    if image.mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return image.convert("RGBA")
    return image.convert("L" if image.mode == "1" else "RGB")


def _encode(image: Image.Image) -> Picture:
    buffer = io.BytesIO()
    profile = image.info.get("icc_profile")
    if image.mode == "RGBA" or image.width * image.height <= SMALL:
        image.save(buffer, "PNG", compress_level=3, icc_profile=profile)
        return Picture(buffer.getvalue(), "image/png")
    image.save(buffer, "JPEG", quality=88, icc_profile=profile)
    return Picture(buffer.getvalue(), "image/jpeg")


class PictureCache:
    """The pictures that were drawn last, by tag, up to a number of bytes."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self.most_bytes, self.bytes = most_bytes, 0
        self._pictures: OrderedDict[str, Picture] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, tag: str) -> Picture | None:
        """Return a picture that was kept, or None."""
        with self._lock:
            if tag in self._pictures:
                self._pictures.move_to_end(tag)
            return self._pictures.get(tag)

    def keep(self, tag: str, picture: Picture) -> None:
        """Keep a picture; the ones that were not asked for the longest give way."""
        with self._lock:
            if tag in self._pictures or len(picture.content) > self.most_bytes:
                return
            self._pictures[tag] = picture
            self.bytes += len(picture.content)
            while self.bytes > self.most_bytes:
                self.bytes -= len(self._pictures.popitem(last=False)[1].content)
