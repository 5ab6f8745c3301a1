"""Images as the pixels that a network expects."""

import subprocess
import sys

import numpy as np
import pytest

from cusal.apps.bench.datasets.dataset import normalise
from cusal.apps.bench.datasets.formats.image_folder import ImageFolder
from cusal.errors import InvalidInput, UnknownName
from cusal.features.images import as_pixels, check_extractor, check_images, pixel_range


def test_recovers_the_pixels_that_a_data_set_was_normalised_from() -> None:
    images = np.random.default_rng(0).integers(0, 256, (30, 3, 16, 16), dtype=np.uint8)
    images[0, :, 0, :2] = [0, 255]
    normalised = normalise(images, mean=(0.5, 0.4, 0.3), deviation=(0.2, 0.3, 0.1))
    np.testing.assert_allclose(as_pixels(normalised[20:], *pixel_range(normalised)), images[20:], atol=1e-3)
    folder = ImageFolder(("a.png",), mean=(0.5, 0.4, 0.3), deviation=(0.2, 0.3, 0.1))
    np.testing.assert_allclose(as_pixels(normalised, *pixel_range(folder)), images, atol=1e-3)


def test_one_channel_becomes_three() -> None:
    grey = np.float32([[[[-1, 0], [0, 1]]]])
    pixels = as_pixels(grey, *pixel_range(grey))
    assert pixels.tolist() == [[[[0, 127.5], [127.5, 255]]] * 3]
    flat = np.ones((2, 1, 4, 4), dtype=np.float32)
    assert not as_pixels(flat, *pixel_range(flat)).any()


def test_unknown_networks_and_small_sides_are_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'efficientnet_lite0'"):
        check_extractor("efficientnet")
    with pytest.raises(InvalidInput, match="side is 8"):
        check_extractor("efficientnet_lite0", 8)


def test_a_table_holds_no_images() -> None:
    with pytest.raises(InvalidInput, match=r"the items of letters have shape \(16,\); features need images"):
        check_images(np.zeros((3, 16)), "letters")


def test_importing_features_does_not_load_torch() -> None:
    code = "import sys, cusal.features.cache, cusal.apps.bench.features; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
