"""A residual network small enough for active learning on a processor (38,554 parameters for 10 classes)."""

from torch import nn

from cusal.models.networks._residual import BasicBlock, ResNet, activation, convolution


class SmallResNet(ResNet):
    """Three residual blocks for images of 8 to 32 pixels, such as digits and MNIST, (n, channels, height, width).

    Parameters
    ----------
    classes : int
        The number of classes.
    channels : int
        Channels of the images.
    width : int
        Channels of the stem and the first block; the other two, and the embedding, have twice as many.
    spectral : float, optional
        The bound on the convolutions' spectral norms, DDU's 3.0; None makes a plain residual network.
    sample_dropout : float
        The rate of dropout in Monte-Carlo sampling.

    Examples
    --------
    >>> import torch
    >>> SmallResNet(4).eval()(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self,
        classes: int = 10,
        *,
        channels: int = 1,
        width: int = 16,
        spectral: float | None = None,
        sample_dropout: float = 0.5,
    ) -> None:
        stem = nn.Sequential(*convolution(channels, width, 3, spectral=spectral), activation(spectral))
        # The stride comes before the first block: at full size its convolutions would cost more than all the others.
        stages = ((width, 1, 2), (2 * width, 1, 2), (2 * width, 1, 1))
        super().__init__(
            stem, BasicBlock, stages=stages, classes=classes, sample_dropout=sample_dropout, spectral=spectral
        )
