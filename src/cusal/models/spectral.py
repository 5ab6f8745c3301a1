"""Convolutions whose spectral norm stays below a coefficient: what DDU asks of its features.

    W' = W / max(1, sigma / coefficient),   sigma = max ||W v|| / ||v||

| symbol | name |
|---|---|
| W | the layer as a linear map of its whole input, `weight` |
| v | its first right singular vector, `direction` |
| sigma | its spectral norm, ||W v|| |

The bound of Gouk et al. (2018), which Mukhoti et al. (2022, "Deep Deterministic Uncertainty") use with coefficient 3:
the output of a layer moves at most that much faster than its input, and a layer below the bound is left alone.

By DDU's published code, and here: a convolution is bounded as an operator on images of their real size, by power
iteration through the convolution and its transpose (the norm of the reshaped weight is another number); one step in
each training batch, none in prediction; gradients pass through sigma; only the last, linear layer is free.
Decided here: `START_STEPS` steps from a fixed vector before the first training batch, since the few batches of a round
of active learning would not find sigma from a random one. As sigma depends on the size of the images, prediction takes
these steps too for images of another size than those of training, and keeps nothing of them. The estimate comes from
below: tests hold the true norm, after training, to within a few per cent of the bound.
"""

from typing import Any

import torch
from torch import Tensor, nn

from cusal._checks import as_positive

START_STEPS = 30


class SpectralConv2d(nn.Conv2d):  # type: ignore[misc]
    """A convolution, padded with zeros, whose norm as a map of images is at most `coefficient`.

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    size : int
        The side of the kernel.
    coefficient : float
        The largest spectral norm.
    stride, padding : int
        As of `nn.Conv2d`.

    Attributes
    ----------
    direction : tensor
        The first right singular vector; empty until the first training batch shows the size of the images.
    """

    direction: Tensor

    def __init__(
        self, inputs: int, outputs: int, size: int, *, coefficient: float, stride: int = 1, padding: int = 0
    ) -> None:
        super().__init__(inputs, outputs, size, stride=stride, padding=padding, bias=False)
        self.coefficient = as_positive(coefficient, "coefficient")

    def forward(self, x: Tensor) -> Tensor:
        """Return (n, outputs, height, width) for images (n, inputs, height, width)."""
        return self._conv_forward(x, self.bounded_weight(x.shape[1:]), self.bias)

    def bounded_weight(self, image_shape: tuple[int, ...]) -> Tensor:
        """Return W' for images (n, *image_shape); in training, follow sigma by one step."""
        with torch.autocast(self.weight.device.type, enabled=False):  # a norm in bfloat16 would be off by a per cent
            with torch.no_grad():
                direction = self.direction
                if direction.shape != image_shape:
                    direction = self._step(self._start(image_shape), START_STEPS)
                elif self.training:
                    direction = self._step(direction, 1)
                if self.training:
                    self.direction = (
                        direction  # a new tensor: an earlier batch may still be differentiated with the old
                    )
            sigma = torch.linalg.vector_norm(self._image(direction))
            return self.weight / (sigma / self.coefficient).clamp(min=1)

    def forget_direction(self) -> None:
        """Start the search for sigma again, as after new weights."""
        self.register_buffer("direction", torch.empty(0, device=self.weight.device))

    def reset_parameters(self) -> None:
        """Draw new weights."""
        super().reset_parameters()
        self.forget_direction()

    def _start(self, image_shape: tuple[int, ...]) -> Tensor:
        # A generator of its own: neither reads nor moves the one that training draws from.
        noise = torch.randn(image_shape, generator=torch.Generator().manual_seed(0))
        return nn.functional.normalize(noise, dim=None).to(self.weight)

    def _step(self, direction: Tensor, steps: int) -> Tensor:
        for _ in range(steps):
            following = self._transposed(self._image(direction), direction)
            length = torch.linalg.vector_norm(following)
            direction = torch.where(length > 0, following / length, direction)  # a layer of zeros shows no direction
        return direction

    def _image(self, direction: Tensor) -> Tensor:
        """Return W v."""
        return self._conv_forward(direction[None], self.weight, None)[0]

    def _transposed(self, image: Tensor, direction: Tensor) -> Tensor:
        """Return the transposed W times `image`, in the shape of `direction`."""
        shape = (1, *direction.shape)
        return nn.grad.conv2d_input(shape, self.weight, image[None], stride=self.stride, padding=self.padding)[0]

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        stored = state_dict.get(f"{prefix}direction")
        if stored is not None:  # its size is that of the images, which this module need not have met
            self.direction = torch.empty_like(stored, device=self.weight.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)
