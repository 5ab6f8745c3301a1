"""Prediction in tiles that stay in the processor's cache.

A matrix product may round differently in a tile of another size: the last bits of a row's probabilities can depend on
the number of rows predicted.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cusal._prefetch import read_ahead
from cusal.errors import InvalidInput
from cusal.models.mini_batches import as_values, is_lazy, rows_of
from cusal.models.networks._pooling import predicting

TILE_BYTES = 1 << 19  # of input; activations are a few times larger and should stay in the cache with it


def run_tiles(
    function: Callable[[Tensor], Tensor], X: Any, *, item_shape: tuple[int, ...], device: torch.device
) -> Tensor:
    """Apply `function` tile by tile, without gradients, and return its rows on the CPU, (n, ...)."""
    values = as_values(X)
    if tuple(values.shape[1:]) != item_shape or len(values.shape) == 0:
        raise InvalidInput(
            f"X has shape {tuple(values.shape)}; expected (n, {', '.join(map(str, item_shape))}), "
            "the shape that the model was fitted on."
        )
    step = _tile_rows(item_shape, device)
    starts = range(0, max(len(values), 1), step)  # no rows: one empty tile, which gives the right shape
    tiles = (rows_of(values, slice(s, s + step), device) for s in starts)
    with torch.inference_mode(), predicting(len(values)):
        return torch.cat([function(tile).float().cpu() for tile in (read_ahead(tiles) if is_lazy(X) else tiles)])


def _tile_rows(item_shape: tuple[int, ...], device: torch.device) -> int:
    rows = TILE_BYTES // (4 * max(1, int(np.prod(item_shape))))
    return min(2048, max(16, rows)) if device.type == "cpu" else min(8192, max(256, 16 * rows))
