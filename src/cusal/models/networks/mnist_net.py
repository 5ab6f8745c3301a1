"""MNIST-Net, the network of the DeepAL toolbox (21,840 parameters); see the package for its two rates of dropout."""

import torch
from torch import Tensor, nn

from cusal.models.networks._pooling import convolve_and_pool


class MnistNet(nn.Module):  # type: ignore[misc]
    """DeepAL's network for MNIST: two convolutions, 50 hidden units.

    Parameters
    ----------
    classes : int
        The number of classes.
    dropout : float
        The rate of dropout in training.
    channel_dropout : float or None
        The rate at which whole channels are left out before the hidden layer; None is that of `dropout`.
    sample_dropout : float
        The rate of dropout in Monte-Carlo sampling.

    Examples
    --------
    >>> import torch
    >>> MnistNet()(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        classes: int = 10,
        *,
        dropout: float = 0.0,
        channel_dropout: float | None = None,
        sample_dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.classes = classes
        self.sample_dropout = sample_dropout
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.dropout1 = nn.Dropout2d(dropout if channel_dropout is None else channel_dropout)
        self.hidden = nn.Linear(320, 50)
        self.dropout2 = nn.Dropout(dropout)
        self.output = nn.Linear(50, classes)
        self.to(memory_format=torch.channels_last)  # convolutions follow their weights' layout; this one is faster

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (n, classes) for images (n, 1, 28, 28)."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Return what the convolutions see, (n, 20, 4, 4)."""
        return convolve_and_pool(x, self.conv1, self.conv2)

    def after_dropout(self, x: Tensor) -> Tensor:
        """Return logits; DeepAL drops channels before it pools, which gives the same values for four times the work."""
        x = self.hidden(self.dropout1(x).flatten(1)).relu()
        return self.output(self.dropout2(x))
