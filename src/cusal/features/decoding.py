"""Image files as pixels: turned as their EXIF data say, on white where they are transparent, resized to a square."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.errors import MissingExtra

DEEP = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")  # modes of more than 8 bits, which Pillow would cut off


class Unreadable(ValueError):
    """Raised for a file that is no image; the message is a sentence that says why."""


def decode(content: bytes, side: int) -> NDArray[np.uint8]:
    """Return the pixels of an image file, (3, side, side); a photograph is decoded no larger than needed."""
    image_module = _pillow()
    try:
        with image_module.open(BytesIO(content)) as image:
            image.draft("RGB", (2 * side, 2 * side))  # of JPEG files alone
            square = _as_rgb(_upright(image)).resize((side, side), image_module.Resampling.BILINEAR)
    except image_module.DecompressionBombError as error:
        raise Unreadable("The image has too many pixels.") from error
    except image_module.UnidentifiedImageError as error:
        raise Unreadable("The file is no image, or of a format that is not supported.") from error
    except Exception as error:  # what the readers of damaged files raise is not listed anywhere
        raise Unreadable("The file is damaged or incomplete.") from error
    return np.ascontiguousarray(np.asarray(square).transpose(2, 0, 1))


def smaller_side(path: str) -> int | None:
    """Return the pixels of an image's smaller side without decoding it; None if that cannot be found out."""
    image_module = _pillow()
    try:
        with image_module.open(path) as image:
            return int(min(image.size))
    except Exception:  # as above; the file is set aside when it is decoded
        return None


def _as_rgb(image: Any) -> Any:
    """Return an image in three channels of 8 bits."""
    image_module = _pillow()
    if image.mode in DEEP:
        return _from_deep(image)
    if "A" in image.getbands() or "transparency" in image.info:
        layers = image.convert("RGBA")
        white = image_module.new("RGBA", layers.size, "white")
        return image_module.alpha_composite(white, layers).convert("RGB")
    return image.convert("RGB")


def _from_deep(image: Any) -> Any:
    """Return an image of more than 8 bits with its darkest value black and its brightest white."""
    values = np.asarray(image, dtype=np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    scaled = np.nan_to_num((values - low) * (255 / (high - low) if high > low else 0), posinf=255, neginf=0)
    return _pillow().fromarray(scaled.round().astype(np.uint8)).convert("RGB")


def _upright(image: Any) -> Any:
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra("reading images", "images") from error
    return Image
