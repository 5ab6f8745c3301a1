"""Small networks: MNIST-Net, GarmentClassifier, and a plain one for tables.

`MnistNet` is the network of the DeepAL toolbox (21,840 parameters), `GarmentClassifier` that of PyTorch's
introductory tutorial (44,426 parameters). Both take images (n, 1, 28, 28) and give logits (n, classes).

Two rates of dropout, because training and sampling are two questions:
- `dropout` acts in training. It is 0 by default: the paper's figures reproduce without it.
- `sample_dropout` acts in Monte-Carlo sampling alone (`TorchClassifier.sample_proba`, for BALD and BatchBALD), which
  without any dropout would give equal samples. The layers stand where DeepAL has them in `MnistNet`, and after each
  hidden fully connected layer in `GarmentClassifier` (the tutorial has none) and `SmallNet`.
Predictions and embeddings never use dropout; its layers have no parameters, so the counts stay as published.

`before_dropout` and `after_dropout` are the two halves of `forward`. Sampling computes the first half, with its costly
convolutions, once for all samples.
"""

import torch
from torch import Tensor, nn

BEFORE_DROPOUT = 3  # layers of SmallNet: flatten, linear, ReLU


def max_pool(x: Tensor) -> Tensor:
    """Give the maximum over 2 x 2 blocks, (n, channels, height // 2, width // 2)."""
    if x.requires_grad:
        return nn.functional.max_pool2d(x, 2)
    # Torch also records where each maximum was. Without that, prediction gives the same values in half the time.
    height, width = x.shape[2] // 2 * 2, x.shape[3] // 2 * 2
    rows = torch.maximum(x[:, :, 0:height:2], x[:, :, 1:height:2])
    return torch.maximum(rows[..., 0:width:2], rows[..., 1:width:2])


class MnistNet(nn.Module):  # type: ignore[misc]
    """DeepAL's network for MNIST: two convolutions, 50 hidden units."""

    def __init__(self, classes: int = 10, *, dropout: float = 0.0, sample_dropout: float = 0.5) -> None:
        super().__init__()
        self.classes = classes
        self.sample_dropout = sample_dropout
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.dropout1 = nn.Dropout2d(dropout)
        self.hidden = nn.Linear(320, 50)
        self.dropout2 = nn.Dropout(dropout)
        self.output = nn.Linear(50, classes)
        self.to(memory_format=torch.channels_last)  # convolutions follow their weights' layout; this one is faster

    def forward(self, x: Tensor) -> Tensor:
        """Give logits (n, classes) for images (n, 1, 28, 28)."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Give what the convolutions see, (n, 20, 4, 4)."""
        x = max_pool(self.conv1(x)).relu()
        return max_pool(self.conv2(x)).relu()

    def after_dropout(self, x: Tensor) -> Tensor:
        """Give logits; DeepAL drops channels before it pools, which gives the same values for four times the work."""
        x = self.hidden(self.dropout1(x).flatten(1)).relu()
        return self.output(self.dropout2(x))


class GarmentClassifier(nn.Module):  # type: ignore[misc]
    """The tutorial's network for Fashion-MNIST: two convolutions, 120 and 84 hidden units."""

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
        """Give logits (n, classes) for images (n, 1, 28, 28)."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Give the first hidden layer, (n, 120)."""
        x = max_pool(self.conv1(x)).relu()  # the tutorial takes ReLU first: the same values, with four times the work
        x = max_pool(self.conv2(x)).relu()
        return self.hidden1(x.flatten(1)).relu()

    def after_dropout(self, x: Tensor) -> Tensor:
        """Give logits."""
        x = self.hidden2(self.dropout1(x)).relu()
        return self.output(self.dropout2(x))


class SmallNet(nn.Module):  # type: ignore[misc]
    """A network of one or more hidden layers for tables, embeddings and very small images."""

    def __init__(
        self,
        inputs: int,
        classes: int,
        *,
        hidden: int | tuple[int, ...] = 64,
        dropout: float = 0.0,
        sample_dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.classes = classes
        self.sample_dropout = sample_dropout
        layers: list[nn.Module] = [nn.Flatten()]
        for width in (hidden,) if isinstance(hidden, int) else hidden:
            layers += [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout)]
            inputs = width
        self.layers = nn.Sequential(*layers)
        self.output = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Give logits (n, classes) for rows of `inputs` numbers, in any shape."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Give the first hidden layer."""
        return self.layers[:BEFORE_DROPOUT](x)

    def after_dropout(self, x: Tensor) -> Tensor:
        """Give logits."""
        return self.output(self.layers[BEFORE_DROPOUT:](x))
