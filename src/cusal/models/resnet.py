"""Residual networks in plain torch: ResNet-18 for 32 x 32 images, ResNet-50 for 224 x 224.

He et al. 2016, "Deep residual learning for image recognition". A block adds its input to what its convolutions give.
ResNet-50 is the ImageNet network (7 x 7 stem with stride 2, max pool; the stride of a stage in its 3 x 3 convolution;
25,557,032 parameters for 1000 classes). ResNet-18 has the stem that is usual for CIFAR (3 x 3, stride 1, no max pool;
11,173,962 parameters for 10 classes). Both end with an average over the image and one linear layer.

Neither has dropout in training. As Monte-Carlo samples would all be equal then, a dropout layer of rate 0 stands before
the last layer and acts at `sample_dropout` in sampling alone.
"""

from torch import Tensor, nn

WIDTHS = (64, 128, 256, 512)


class BasicBlock(nn.Module):  # type: ignore[misc]
    """Two 3 x 3 convolutions around a shortcut."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *_convolution(inputs, width, 3, stride=stride), nn.ReLU(), *_convolution(width, width, 3)
        )
        self.shortcut = _shortcut(inputs, width * self.expansion, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Give (n, width, height / stride, width / stride)."""
        return (self.residual(x) + self.shortcut(x)).relu()


class Bottleneck(nn.Module):  # type: ignore[misc]
    """A 3 x 3 convolution between two of 1 x 1, the last of which widens fourfold, around a shortcut."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *_convolution(inputs, width, 1),
            nn.ReLU(),
            *_convolution(width, width, 3, stride=stride),
            nn.ReLU(),
            *_convolution(width, width * self.expansion, 1),
        )
        self.shortcut = _shortcut(inputs, width * self.expansion, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Give (n, 4 width, height / stride, width / stride)."""
        return (self.residual(x) + self.shortcut(x)).relu()


class _ResNet(nn.Module):  # type: ignore[misc]
    def __init__(
        self,
        stem: nn.Sequential,
        block: type[BasicBlock] | type[Bottleneck],
        *,
        depths: tuple[int, ...],
        classes: int,
        sample_dropout: float,
    ) -> None:
        super().__init__()
        self.classes = classes
        self.sample_dropout = sample_dropout
        self.stem = stem
        blocks: list[nn.Module] = []
        inputs = WIDTHS[0]
        for stage, (width, depth) in enumerate(zip(WIDTHS, depths, strict=True)):
            for number in range(depth):
                blocks.append(block(inputs, width, 2 if stage > 0 and number == 0 else 1))
                inputs = width * block.expansion
        self.blocks = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(0.0)
        self.output = nn.Linear(inputs, classes)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Give logits (n, classes) for images (n, channels, height, width)."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Give the embedding, (n, features)."""
        return self.blocks(self.stem(x)).mean((2, 3))

    def after_dropout(self, x: Tensor) -> Tensor:
        """Give logits."""
        return self.output(self.dropout(x))

    def reset_parameters(self) -> None:
        """Draw new weights: normal with variance 2 / (outgoing connections) in the convolutions (He et al. 2015)."""
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(layer, (nn.BatchNorm2d, nn.Linear)):
                layer.reset_parameters()


class ResNet18(_ResNet):
    """ResNet-18 for small images such as CIFAR-10 and SVHN, (n, channels, 32, 32)."""

    def __init__(self, classes: int = 10, *, channels: int = 3, sample_dropout: float = 0.5) -> None:
        stem = nn.Sequential(*_convolution(channels, WIDTHS[0], 3), nn.ReLU())
        super().__init__(stem, BasicBlock, depths=(2, 2, 2, 2), classes=classes, sample_dropout=sample_dropout)


class ResNet50(_ResNet):
    """ResNet-50 for images such as ImageNet's, (n, channels, 224, 224)."""

    def __init__(self, classes: int = 1000, *, channels: int = 3, sample_dropout: float = 0.5) -> None:
        stem = nn.Sequential(
            *_convolution(channels, WIDTHS[0], 7, stride=2), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)
        )
        super().__init__(stem, Bottleneck, depths=(3, 4, 6, 3), classes=classes, sample_dropout=sample_dropout)


def _convolution(inputs: int, outputs: int, size: int, *, stride: int = 1) -> tuple[nn.Module, nn.Module]:
    """Give a convolution and its batch normalisation, whose shift takes the place of a bias."""
    convolution = nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)
    return convolution, nn.BatchNorm2d(outputs)


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    if inputs == outputs and stride == 1:
        return nn.Identity()
    return nn.Sequential(*_convolution(inputs, outputs, 1, stride=stride))
