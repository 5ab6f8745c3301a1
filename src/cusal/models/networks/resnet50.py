"""ResNet-50, the ImageNet network (25,557,032 parameters for 1000 classes)."""

from torch import nn

from cusal.models.networks._residual import Bottleneck, ResNet, activation, convolution


class ResNet50(ResNet):
    """ResNet-50 for images such as ImageNet's, (n, channels, 224, 224).

    Parameters
    ----------
    classes : int
        The number of classes.
    channels : int
        Channels of the images.
    spectral : float, optional
        The bound on the convolutions' spectral norms, DDU's 3.0; None makes a plain residual network.
    sample_dropout : float
        The rate of dropout in Monte-Carlo sampling.
    """

    def __init__(
        self, classes: int = 1000, *, channels: int = 3, spectral: float | None = None, sample_dropout: float = 0.5
    ) -> None:
        stem = nn.Sequential(
            *convolution(channels, 64, 7, stride=2, spectral=spectral),
            activation(spectral),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        stages = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
        super().__init__(
            stem, Bottleneck, stages=stages, classes=classes, sample_dropout=sample_dropout, spectral=spectral
        )
