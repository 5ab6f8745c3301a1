"""Images as vectors: the features of a frozen, pretrained network, tile by tile.

A small head on such features learns in a second what a whole network learns in minutes. No label is used.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_count
from cusal.errors import InvalidInput, UnknownName

NETWORKS = ("efficientnet_lite0",)
WIDTH = 1280
DEFAULT_SIDE = 96
SMALLEST_SIDE = 32  # the network halves the image five times
TILE_PIXELS = 1 << 18  # of images that go through the network together, so that its layers stay in the cache

SWITCH_AFTER = 1_000  # images, from when on compiling the network for this processor pays

Vectors = NDArray[np.float32]


class Images(Protocol):
    """Normalised images, (n, channels, height, width): an array, or files that are indexed like one.

    Files say themselves what black and white are and what they hold, with `pixel_range` and `add_to_digest`.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...


def check_extractor(network: str, side: int = DEFAULT_SIDE) -> None:
    """Raise an error if there is no such network or the side is too small, without loading torch."""
    if network not in NETWORKS:
        raise UnknownName("features", network, NETWORKS)
    as_count(side, "side", least=SMALLEST_SIDE)


def check_images(items: Images, name: str) -> None:
    """Raise an error if the items are no images; `name` is that of the data set."""
    shape = items.shape[1:]
    if len(shape) != 3 or shape[0] not in (1, 3):
        raise InvalidInput(
            f"the items of {name} have shape {shape}; features need images, (1 or 3, height, width): "
            "leave features out."
        )


def pixel_range(items: Images) -> tuple[Vectors, Vectors]:
    """Return what black and white are in each channel of normalised images, (channels,) each.

    Images in memory: the darkest and the brightest value of each channel, which are 0 and 255 in any real collection.
    """
    if hasattr(items, "pixel_range"):
        low, high = items.pixel_range()
        return low, high
    values = np.asarray(items)
    return values.min((0, 2, 3)), values.max((0, 2, 3))


def as_pixels(images: Vectors, low: Vectors, high: Vectors) -> Vectors:
    """Return normalised images as 0 .. 255, (n, 3, height, width); one channel is repeated."""
    span = np.where(high > low, high - low, 1)[:, None, None]
    pixels = np.float32(255) * ((images - low[:, None, None]) / span).astype(np.float32)
    return np.repeat(pixels, 3, axis=1) if pixels.shape[1] == 1 else pixels


class Extractor:
    """The pretrained network, on the GPU where there is one; torch loads here.

    Without a GPU OpenVINO takes over after the first thousand images where it is installed and computes the same.
    `pixels` is what `pixel_range` returns of the images that the network is to see.
    """

    def __init__(self, side: int, pixels: tuple[Vectors, Vectors]) -> None:
        import torch

        from cusal.features.efficientnet import load_pretrained

        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = load_pretrained().to(self.device)
        self.side, self.pixels = side, pixels
        self._left = SWITCH_AFTER if self.device.type == "cpu" else math.inf  # images until OpenVINO is tried
        self._compiled: Callable[[Any], Vectors] | None = None

    def vectors(self, items: Images, *, first: int = 0) -> Iterator[Vectors]:
        """Yield the features of the images from `first` on, (some, 1280) at a time."""
        import torch

        from cusal.features.efficientnet import prepare

        for tile in tiles(len(items), max(1, TILE_PIXELS // self.side**2), first=first):
            pixels = as_pixels(items[tile], *self.pixels)
            with torch.inference_mode():
                yield self._features(prepare(torch.from_numpy(pixels).to(self.device), self.side))

    def _features(self, images: Any) -> Vectors:
        if self._compiled is not None:
            return self._compiled(images)
        rows: Vectors = self.network.features(images).contiguous().cpu().numpy()
        self._left -= len(rows)
        if self._left <= 0:
            from cusal.features.compiled_features import compile_features

            self._compiled, self._left = compile_features(self.network, images, rows), math.inf
        return rows


def tiles(count: int, size: int, *, first: int = 0) -> Iterator[slice]:
    """Yield the slices of `size` positions that cover `first` to `count`."""
    return (slice(start, min(start + size, count)) for start in range(first, count, size))
