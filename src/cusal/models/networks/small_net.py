"""A plain network for tables, embeddings and very small images."""

from torch import Tensor, nn

BEFORE_DROPOUT = 3  # layers: flatten, linear, ReLU


class SmallNet(nn.Module):  # type: ignore[misc]
    """A network of one or more hidden layers for tables, embeddings and very small images.

    Parameters
    ----------
    inputs : int
        Numbers in one item.
    classes : int
        The number of classes.
    hidden : int or tuple of int
        The width of the hidden layer, or of each of several.
    dropout : float
        The rate of dropout in training.
    sample_dropout : float
        The rate of dropout in Monte-Carlo sampling.

    Examples
    --------
    >>> import torch
    >>> SmallNet(4, 3, hidden=(8, 8))(torch.zeros(2, 4)).shape
    torch.Size([2, 3])
    """

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
        """Return logits (n, classes) for rows of `inputs` numbers, in any shape."""
        return self.after_dropout(self.before_dropout(x))

    def before_dropout(self, x: Tensor) -> Tensor:
        """Return the first hidden layer."""
        return self.layers[:BEFORE_DROPOUT](x)

    def after_dropout(self, x: Tensor) -> Tensor:
        """Return logits."""
        return self.output(self.layers[BEFORE_DROPOUT:](x))
