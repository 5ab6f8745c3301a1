"""Adam (Kingma and Ba 2015) over torch's own fused step.

`torch.optim.Adam` computes the same numbers, but loads torch's compiler with its first step, which nothing here uses: a
second of processor time in every process that trains.
"""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.optim.adam import adam


class Adam:
    """Adam with torch's defaults; the weights are changed in place.

    Parameters
    ----------
    weights : iterable of Tensor
        The parameters of a module; those without a gradient stay as they are.
    learning_rate, weight_decay : float
    """

    def __init__(self, weights: Iterable[Tensor], *, learning_rate: float, weight_decay: float) -> None:
        self.weights = list(weights)
        self.settings = {"lr": learning_rate, "weight_decay": weight_decay, "eps": 1e-8, "beta1": 0.9, "beta2": 0.999}
        self.moments: dict[int, tuple[Tensor, Tensor, Tensor]] = {}  # mean, mean square, and how many steps

    def clear(self) -> None:
        """Forget the gradients."""
        for weight in self.weights:
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every weight that has a gradient."""
        places = [place for place, weight in enumerate(self.weights) if weight.grad is not None]
        if not places:
            return
        for place in places:
            if place not in self.moments:
                weight = self.weights[place]
                steps = torch.zeros((), dtype=torch.float32, device=weight.device)
                self.moments[place] = torch.zeros_like(weight), torch.zeros_like(weight), steps
        weights = [self.weights[place] for place in places]
        means, squares, steps = (list(some) for some in zip(*(self.moments[place] for place in places), strict=True))
        gradients = [weight.grad for weight in weights]
        adam(weights, gradients, means, squares, [], steps, fused=True, amsgrad=False, maximize=False, **self.settings)
