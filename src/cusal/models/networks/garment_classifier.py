"""GarmentClassifier, of PyTorch's introductory tutorial (44,426 parameters); see the package for its dropout.

The tutorial has no dropout; here its layers stand after each hidden fully connected layer.
"""

import torch
from torch import Tensor, nn

from cusal.models.networks._pooling import convolve_and_pool


class GarmentClassifier(nn.Module):  # type: ignore[misc]
    """The tutorial's network for Fashion-MNIST: two convolutions, 120 and 84 hidden units.

    Parameters
    ----------
    classes : int
        The number of classes.
    dropout : float
        The rate of dropout in training.
    sample_dropout : float
        The rate of dropout in Monte-Carlo sampling.

    Examples
    --------
    >>> import torch
    >>> GarmentClassifier()(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    def __init__(self, classes: int = 10, *, dropout: float = 0.0, sample_dropout: float = 0.5) -> None:
        super().__init__()
        self.classes = classes
        self.sample_dropout = sample_dropout
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.hidden1 = nn.Linear(256, 120)
        self.dropout1 = nn.Dropout(dropout)
        self.hidden2 = nn.Linear(120, 84)
        self.dropout2 = nn.Dropout(dropout)
        self.output = nn.Linear(84, classes)
        self.to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (n, classes) for images (n, 1, 28, 28)."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Return the first hidden layer, (n, 120)."""
        x = convolve_and_pool(x, self.conv1, self.conv2)
        return self.hidden1(x.flatten(1)).relu()

    def after_dropout(self, x: Tensor) -> Tensor:
        """Return logits."""
        x = self.hidden2(self.dropout1(x)).relu()
        return self.output(self.dropout2(x))
