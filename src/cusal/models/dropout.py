"""Monte-Carlo dropout: a network with random units left out is a sample of a network.

Gal and Ghahramani 2016. A mask is drawn once for each sample and kept for all rows, as Kirsch et al. 2019
do for BatchBALD: a sample is one network, and a row's samples do not depend on the rows predicted with it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cusal.errors import InvalidInput, MissingMethod

LAYERS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


@contextmanager
def sampling(module: nn.Module, samples: int, *, seed: int) -> Iterator[Callable[[Tensor], Tensor]]:
    """Yield the function that returns sampled logits (rows, samples, classes) of a tile of items."""
    seeds = [int(np.random.SeedSequence((seed, i)).generate_state(1, np.uint64)[0]) for i in range(samples)]
    generator = torch.Generator()
    # What comes before any dropout is the same in all samples; a module may offer the two halves of its forward.
    first = getattr(module, "before_dropout", None)
    rest = module.after_dropout if first else module

    def sample(tile: Tensor) -> Tensor:
        if first:
            tile = first(tile)
        logits = []
        for own in seeds:
            generator.manual_seed(own)  # for each tile, so that all rows meet the same masks
            logits.append(rest(tile))
        return torch.stack(logits, 1)

    with masked(module, generator):
        yield sample


@contextmanager
def masked(module: nn.Module, generator: torch.Generator) -> Iterator[None]:
    """Keep dropout active in the block although the module predicts; masks are drawn from `generator`.

    A layer acts at the module's `sample_dropout` where it has that attribute, else at the layer's own rate.
    """
    handles = [
        layer.register_forward_hook(_masking(rate, generator)) for layer, rate in _sampling_rates(module).items()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _sampling_rates(module: nn.Module) -> dict[nn.Module, float]:
    layers = [layer for layer in module.modules() if isinstance(layer, LAYERS)]
    rates = {layer: float(getattr(module, "sample_dropout", layer.p)) for layer in layers}
    if not any(rates.values()):
        raise MissingMethod(
            f"{type(module).__name__} has no nn.Dropout layer with a rate above zero, so all samples would "
            "be equal; add one or set the module's `sample_dropout`, or use a strategy without sampling."
        )
    if not all(0 <= rate < 1 for rate in rates.values()):
        raise InvalidInput(f"a dropout rate of {type(module).__name__} is not within [0, 1); lower it.")
    return rates


def _masking(rate: float, generator: torch.Generator) -> Any:
    """Return a forward hook that drops the same entries, or channels, of every row."""

    def mask(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        whole_channels = not isinstance(layer, nn.Dropout)
        width = 2 if whole_channels else output.ndim  # axes that have entries of their own, rows included
        shape = (1, *output.shape[1:width], *(1 for _ in output.shape[width:]))
        kept = torch.rand(shape, generator=generator) >= rate
        return output * (kept / (1 - rate)).to(output.device)

    return mask
