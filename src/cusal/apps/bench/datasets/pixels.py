"""From bytes to what a network reads: (pixel / 255 - mean) / deviation, channel by channel."""

import numpy as np
from numpy.typing import NDArray


def normalise(
    images: NDArray[np.uint8], *, mean: tuple[float, ...], deviation: tuple[float, ...]
) -> NDArray[np.float32]:
    """Return (n, channels, height, width) bytes as float32, each channel with mean 0 and deviation 1."""
    pixels = np.ascontiguousarray(images).astype(np.float32)
    for channel, (centre, spread) in enumerate(zip(mean, deviation, strict=True)):
        pixels[:, channel] -= np.float32(255 * centre)
        pixels[:, channel] /= np.float32(255 * spread)
    return pixels
