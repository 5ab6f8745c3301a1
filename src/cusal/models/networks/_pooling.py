"""Convolutions and max pooling that are fast in prediction."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor, nn

MANY = 4096  # items in one prediction from which it pays to load a compiled kernel
_many = ContextVar("many items are predicted", default=False)


@contextmanager
def predicting(count: int) -> Iterator[None]:
    """Announce to networks in the block how many items are predicted in all, of which they see a tile at a time."""
    before = _many.set(count >= MANY)
    try:
        yield
    finally:
        _many.reset(before)


def convolve_and_pool(x: Tensor, *layers: nn.Conv2d) -> Tensor:
    """Return images after the convolutions, each followed by 2 x 2 max pooling and ReLU.

    ReLU comes last: before the pooling it would give the same values, with four times the work.
    """
    if _many.get():
        from cusal.models import _direct_convolution as direct  # loads numba

        if direct.can_run(x, layers):
            return direct.run(x, [layer.weight for layer in layers], [layer.bias for layer in layers])
    for layer in layers:
        x = max_pool(layer(x)).relu()
    return x


def max_pool(x: Tensor) -> Tensor:
    """Return the maximum over 2 x 2 blocks, (n, channels, height // 2, width // 2)."""
    if x.requires_grad:
        return nn.functional.max_pool2d(x, 2)
    # Torch also records where each maximum was. Without that, prediction gives the same values in half the time.
    height, width = x.shape[2] // 2 * 2, x.shape[3] // 2 * 2
    rows = torch.maximum(x[:, :, 0:height:2], x[:, :, 1:height:2])
    return torch.maximum(rows[..., 0:width:2], rows[..., 1:width:2])
