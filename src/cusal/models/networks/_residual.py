"""Residual networks in plain torch: what ResNet-18, ResNet-50 and a small one share.

He et al. 2016, "Deep residual learning for image recognition". A block adds its input to what its convolutions give.
ResNet-50 is the ImageNet network (7 x 7 stem with stride 2, max pool; the stride of a stage in its 3 x 3 convolution;
25,557,032 parameters for 1000 classes). ResNet-18 has the stem that is usual for CIFAR (3 x 3, stride 1, no max pool;
11,173,962 parameters for 10 classes). `SmallResNet` has three blocks, for images of 8 to 32 pixels, and is small enough
for active learning on a processor (38,554 parameters for 10 classes). All end with an average over the image and one
linear layer.

None has dropout in training. As Monte-Carlo samples would all be equal then, a dropout layer of rate 0 stands before
the last layer and acts at `sample_dropout` in sampling alone.

`spectral` makes the networks of DDU (Mukhoti et al. 2022, "Deep Deterministic Uncertainty"), whose features are to
keep distances, so that an item unlike the labelled ones lies far from them:
- Stated by its authors: each convolution has a spectral norm of at most a coefficient, 3 (see `spectral.py`); leaky
  ReLU takes the place of ReLU; a shortcut into a smaller image averages it, where ResNet convolves.
- Found in their code: the leaky ReLU has torch's slope, 0.01; the shortcut's further channels are zeros; the stem is
  bounded too; batch normalisation stands after each convolution and is not bounded.
- The last point matters: batch normalisation divides by the deviation of its input, so its gain undoes the bound. The
  coefficient is a bound on weights, not a Lipschitz constant of the network. DUE (van Amersfoort et al. 2021) bounds
  batch normalisation as well. Decided here: as DDU, so that results are DDU's.
- Also decided: an image with an odd side is averaged over what its border has; DDU's code takes every second pixel.
"""

import torch
from torch import Tensor, nn

from cusal.models.spectral import SpectralConv2d

Stages = tuple[tuple[int, int, int], ...]  # of each stage: width, number of blocks, stride of the first


class BasicBlock(nn.Module):  # type: ignore[misc]
    """Two 3 x 3 convolutions around a shortcut."""

    expansion = 1

    def __init__(self, inputs: int, width: int, *, stride: int = 1, spectral: float | None = None) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *convolution(inputs, width, 3, stride=stride, spectral=spectral),
            activation(spectral),
            *convolution(width, width, 3, spectral=spectral),
        )
        self.shortcut = shortcut(inputs, width, stride=stride, spectral=spectral)
        self.activation = activation(spectral)

    def forward(self, x: Tensor) -> Tensor:
        """Return (n, width, height / stride, width / stride)."""
        return self.activation(self.residual(x) + self.shortcut(x))


class Bottleneck(nn.Module):  # type: ignore[misc]
    """A 3 x 3 convolution between two of 1 x 1, the last of which widens fourfold, around a shortcut."""

    expansion = 4

    def __init__(self, inputs: int, width: int, *, stride: int = 1, spectral: float | None = None) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.residual = nn.Sequential(
            *convolution(inputs, width, 1, spectral=spectral),
            activation(spectral),
            *convolution(width, width, 3, stride=stride, spectral=spectral),
            activation(spectral),
            *convolution(width, outputs, 1, spectral=spectral),
        )
        self.shortcut = shortcut(inputs, outputs, stride=stride, spectral=spectral)
        self.activation = activation(spectral)

    def forward(self, x: Tensor) -> Tensor:
        """Return (n, 4 width, height / stride, width / stride)."""
        return self.activation(self.residual(x) + self.shortcut(x))


class AveragingShortcut(nn.Module):  # type: ignore[misc]
    """DDU's shortcut into another size: averages of the image, and zeros as further channels."""

    def __init__(self, further: int, stride: int) -> None:
        super().__init__()
        self.further = further
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return (n, channels + further, height / stride, width / stride)."""
        averages = nn.functional.avg_pool2d(x, self.stride, ceil_mode=True)
        return nn.functional.pad(averages, (0, 0, 0, 0, 0, self.further))


class ResNet(nn.Module):  # type: ignore[misc]
    """A stem, stages of blocks, an average over the image, and one linear layer."""

    def __init__(
        self,
        stem: nn.Sequential,
        block: type[BasicBlock] | type[Bottleneck],
        *,
        stages: Stages,
        classes: int,
        sample_dropout: float,
        spectral: float | None,
    ) -> None:
        super().__init__()
        self.classes = classes
        self.sample_dropout = sample_dropout
        self.stem = stem
        blocks: list[nn.Module] = []
        inputs = stem[0].out_channels
        for width, depth, stride in stages:
            for number in range(depth):
                blocks.append(block(inputs, width, stride=stride if number == 0 else 1, spectral=spectral))
                inputs = width * block.expansion
        self.blocks = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(0.0)
        self.output = nn.Linear(inputs, classes)
        self.reset_parameters()
        self.to(memory_format=torch.channels_last)  # convolutions follow their weights' layout; this one is faster

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (n, classes) for images (n, channels, height, width)."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Return the embedding, (n, features)."""
        return self.blocks(self.stem(x)).mean((2, 3))

    def after_dropout(self, x: Tensor) -> Tensor:
        """Return logits."""
        return self.output(self.dropout(x))

    def reset_parameters(self) -> None:
        """Draw new weights: normal with variance 2 / (outgoing connections) in the convolutions (He et al. 2015)."""
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(layer, (nn.BatchNorm2d, nn.Linear)):
                layer.reset_parameters()
            if isinstance(layer, SpectralConv2d):
                layer.forget_direction()


def convolution(
    inputs: int, outputs: int, size: int, *, stride: int = 1, spectral: float | None = None
) -> tuple[nn.Module, nn.Module]:
    """Return a convolution and its batch normalisation, whose shift takes the place of a bias."""
    padding = size // 2
    if spectral is None:
        convolution = nn.Conv2d(inputs, outputs, size, stride=stride, padding=padding, bias=False)
    else:
        convolution = SpectralConv2d(inputs, outputs, size, coefficient=spectral, stride=stride, padding=padding)
    return convolution, nn.BatchNorm2d(outputs)


def activation(spectral: float | None) -> nn.Module:
    return nn.ReLU() if spectral is None else nn.LeakyReLU()


def shortcut(inputs: int, outputs: int, *, stride: int, spectral: float | None) -> nn.Module:
    if inputs == outputs and stride == 1:
        return nn.Identity()
    if spectral is not None:
        return AveragingShortcut(outputs - inputs, stride)
    return nn.Sequential(*convolution(inputs, outputs, 1, stride=stride))
