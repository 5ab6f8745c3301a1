"""ResNet-18 with the stem that is usual for CIFAR (11,173,962 parameters for 10 classes)."""

from torch import nn

from cusal.models.networks._residual import BasicBlock, ResNet, activation, convolution


class ResNet18(ResNet):
    """ResNet-18 for small images such as CIFAR-10 and SVHN, (n, channels, 32, 32).

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
        self, classes: int = 10, *, channels: int = 3, spectral: float | None = None, sample_dropout: float = 0.5
    ) -> None:
        stem = nn.Sequential(*convolution(channels, 64, 3, spectral=spectral), activation(spectral))
        stages = ((64, 2, 1), (128, 2, 2), (256, 2, 2), (512, 2, 2))
        super().__init__(
            stem, BasicBlock, stages=stages, classes=classes, sample_dropout=sample_dropout, spectral=spectral
        )
