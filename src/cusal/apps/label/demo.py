"""Data for a first try, `python -m cusal.apps.label.demo FOLDER`: digits as PNG files. See `make label-demo`.

2,000 images of MNIST where its files are on this machine, else all 1,797 digits that come with scikit-learn.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench import datasets
from cusal.apps.label.export.write import new_folder
from cusal.errors import CusalError, MissingExtra

COUNT = 2000
SMALLEST = 28  # pixels of a side; smaller images are enlarged by a whole number


def write_digits(folder: Path) -> int:
    """Write the digits to a folder, unless it is there; return how many there are."""
    if folder.is_dir() and any(folder.iterdir()):
        return sum(1 for path in folder.iterdir() if path.suffix == ".png")
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra("the demo of labelling", "label") from error
    images = _digits()
    with new_folder(folder) as part:
        for number, pixels in enumerate(images):
            Image.fromarray(pixels).save(part / f"{number:04d}.png")
    return len(images)


def _digits() -> NDArray[np.uint8]:
    """Return digits, (n, height, width), in an order that says nothing of their classes."""
    here = any(row.name == "mnist" and row.present for row in datasets.describe())
    data = datasets.load("mnist" if here else "digits")
    items = np.asarray(data.train if here else np.concatenate([data.train, data.test]), dtype=np.float32)
    chosen = np.random.default_rng(0).permutation(len(items))[:COUNT]
    dark, bright = items.min(), items.max()
    pixels: NDArray[np.uint8] = ((items[chosen, 0] - dark) * (255 / (bright - dark))).round().astype(np.uint8)
    times = -(-SMALLEST // pixels.shape[1])
    return pixels.repeat(times, axis=1).repeat(times, axis=2)


def main() -> int:
    """Write the digits to the folder that is named; return the exit code."""
    try:
        write_digits(Path(sys.argv[1] if len(sys.argv) > 1 else "digits"))
    except CusalError as error:
        print(f"cusal: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
