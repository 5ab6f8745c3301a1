"""Augmentations in plain torch: a whole batch at once, and every row with random parameters of its own.

`strength` in [0, 1] says how far an operation may go: 0 returns the items as they are, 1 reaches the limit named here.
Parameters are uniform within the limits. An item's own pixels fill what is uncovered, since the value of "black" is
not known once the pixels are normalised.

| name | what changes | limit at strength 1 |
|---|---|---|
| flip | mirrored left to right | one row in two |
| crop | moved by whole pixels; edge pixels are repeated | a quarter of height and width |
| affine | rotated, scaled, sheared about the centre | 30 degrees, a fifth, 0.3 |
| colour | contrast, brightness, for three channels saturation | a half; brightness in the item's own deviations |
| cutout | a square takes the item's mean colour | half the shorter side |
| mixup | a weighted mean with another item, and the two labels | weight a half |

`DEFAULT` serves digits and photographs alike: what moves, turns or is partly hidden stays what it is. A flip makes
other signs of letters and digits, and colour can be what tells classes apart; both are for the user to add.
"""

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from cusal.errors import InvalidInput, UnknownName

DEFAULT = ("crop", "affine", "cutout", "mixup")
MIXUP = "mixup"


class Operation(NamedTuple):
    """A label-keeping operation: `apply(items, strength, draws)`, `draws` (n or 1, parameters) uniform in [-1, 1)."""

    apply: Callable[[Tensor, float, Tensor], Tensor]
    parameters: int


class Mixed(NamedTuple):
    """A batch of weighted means of two items: items (n, ...), labels (n, 2), weights (n, 2) whose rows sum to one."""

    items: Tensor
    labels: Tensor
    weights: Tensor


def augment(
    items: Tensor,
    operations: Sequence[str],
    *,
    strength: float,
    generator: torch.Generator | None = None,
    shared: bool = False,
) -> Tensor:
    """Return images after the named operations, one after the other; their labels stay valid.

    Parameters
    ----------
    items : tensor, (n, channels, height, width)
        Images.
    operations : sequence of str
        Names of label-keeping operations.
    strength : float
        How far an operation may go, from 0 to 1.
    generator : torch.Generator, optional
        On the CPU; None takes torch's own.
    shared : bool
        One draw of the parameters serves all rows, so that a row's result does not depend on the others.

    Returns
    -------
    tensor, (n, channels, height, width)
        New images, or `items` where nothing changes.

    Raises
    ------
    InvalidInput, UnknownName
        If the items are no images, or an operation does not exist.

    Examples
    --------
    >>> augment(torch.eye(3).reshape(1, 1, 3, 3), ["crop", "cutout"], strength=0.0)[0, 0, 0].tolist()
    [1.0, 0.0, 0.0]
    """
    strength = as_strength(strength)
    for name in operations:
        if name not in OPERATIONS:
            raise UnknownName("label-keeping operation", name, OPERATIONS)
        if items.ndim != 4:
            raise InvalidInput(
                f"{name!r} met items of shape {tuple(items.shape[1:])}; expected images (channels, height, width). "
                f"Reshape the items, or give operations=[{MIXUP!r}], which takes items of any shape."
            )
        if strength > 0:
            operation = OPERATIONS[name]
            draws = 2 * torch.rand(1 if shared else len(items), operation.parameters, generator=generator) - 1
            items = operation.apply(items, strength, draws.to(items.device))
    return items


def mixup(items: Tensor, labels: Tensor, *, strength: float, generator: torch.Generator | None = None) -> Mixed:
    """Return each item mixed with another one of the batch, whose weight is uniform in [0, strength / 2].

    Zhang et al. 2018 draw the weight from a Beta distribution; here an item keeps at least half the weight, so that
    strength is how much of it may be lost.

    Parameters
    ----------
    items : tensor, (n, ...)
        Items of any shape.
    labels : tensor of int64, (n,)
        Their class numbers.
    strength : float
        From 0 to 1.
    generator : torch.Generator, optional
        On the CPU; None takes torch's own.

    Returns
    -------
    Mixed
        The mixed items, the two labels of each, and their weights.
    """
    strength = as_strength(strength)
    partner = torch.randperm(len(items), generator=generator).to(items.device)
    weight = (strength / 2 * torch.rand(len(items), generator=generator)).to(items.device)
    mixed = torch.lerp(items, items[partner], weight.reshape(-1, *[1] * (items.ndim - 1)))
    return Mixed(mixed, torch.stack([labels, labels[partner]], 1), torch.stack([1 - weight, weight], 1))


def mixed_cross_entropy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Return the mean cross entropy of logits (n, classes) with pairs of labels (n, 2) of these weights (n, 2)."""
    return -(weights * logits.log_softmax(1).gather(1, labels)).sum(1).mean()


def as_strength(value: Any, name: str = "strength") -> float:
    """Return `value` as a float within [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InvalidInput(f"{name} is {value!r}; expected a number from 0 (no change) to 1.")
    return float(value)


def _flip(items: Tensor, strength: float, draws: Tensor) -> Tensor:
    return torch.where(_per_row(draws[:, 0].abs() < strength / 2), items.flip(3), items)


def _crop(items: Tensor, strength: float, draws: Tensor) -> Tensor:
    for axis in (2, 3):
        size = items.shape[axis]
        shift = (draws[:, axis - 2] * strength * size / 4).round().long()
        places = (torch.arange(size, device=items.device) + shift[:, None]).clamp(0, size - 1)  # (n or 1, size)
        places = places[:, None, :, None] if axis == 2 else places[:, None, None, :]
        items = items.gather(axis, places.expand(items.shape))
    return items


def _affine(items: Tensor, strength: float, draws: Tensor) -> Tensor:
    height, width = items.shape[2:]
    angle = draws[:, 0] * strength * math.radians(30)
    scale = 1 + draws[:, 1] * strength / 5
    shear = draws[:, 2] * strength * 0.3
    cos, sin, zero = scale * angle.cos(), scale * angle.sin(), torch.zeros_like(angle)
    # Where each pixel comes from: scale times rotation times shear. The grid runs from -1 to 1 along both sides,
    # whatever their lengths, so a rotation needs their ratio.
    across = torch.stack([cos, (shear * cos - sin) * (height / width), zero], 1)
    down = torch.stack([sin * (width / height), shear * sin + cos, zero], 1)
    grid = nn.functional.affine_grid(torch.stack([across, down], 1), [len(draws), 1, height, width], False)
    grid = grid.expand(len(items), -1, -1, -1)
    return nn.functional.grid_sample(items, grid, padding_mode="border", align_corners=False)


def _colour(items: Tensor, strength: float, draws: Tensor) -> Tensor:
    contrast, brightness, saturation = (_per_row(column) for column in (strength / 2 * draws).unbind(1))
    if items.shape[1] == 3:
        grey = items.mean(1, keepdim=True)
        items = torch.lerp(grey, items, 1 + saturation)
    mean = items.mean((1, 2, 3), keepdim=True)
    deviation = (items - mean).square().mean((1, 2, 3), keepdim=True).sqrt()
    return torch.lerp(mean, items, 1 + contrast) + brightness * deviation


def _cutout(items: Tensor, strength: float, draws: Tensor) -> Tensor:
    half = draws[:, 0].abs() * strength * min(items.shape[2:]) / 4
    hidden = []
    for axis in (2, 3):
        size = items.shape[axis]
        centre = (draws[:, axis - 1] + 1) * size / 2
        pixels = torch.arange(size, device=items.device) + 0.5
        hidden.append((pixels - centre[:, None]).abs() < half[:, None])  # (n or 1, size)
    square = hidden[0][:, None, :, None] & hidden[1][:, None, None, :]
    return torch.where(square, items.mean((2, 3), keepdim=True), items)


def _per_row(values: Tensor) -> Tensor:
    """Return (n,) values in the shape (n, 1, 1, 1), to be broadcast over images."""
    return values[:, None, None, None]


OPERATIONS = {
    "flip": Operation(_flip, 1),
    "crop": Operation(_crop, 2),
    "affine": Operation(_affine, 3),
    "colour": Operation(_colour, 3),
    "cutout": Operation(_cutout, 3),
}
NAMES = (*OPERATIONS, MIXUP)
