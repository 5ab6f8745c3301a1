"""The training loop of a `TorchClassifier`: seeds, new weights, Adam over mini-batches.

Initial weights, shuffles and training dropout draw from one seed inside `torch.random.fork_rng`, so that the process's
own generator is left as it was.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from cusal._checks import as_count, as_positive
from cusal.errors import InvalidInput, UnknownName
from cusal.models.mini_batches import mini_batches
from cusal.models.objectives import Training, TrainingData

if TYPE_CHECKING:
    from cusal.models.torch_classifier import TorchClassifier

PRECISIONS = ("float32", "bfloat16", "auto")


def train(module: nn.Module, data: TrainingData, training: Training, settings: "TorchClassifier") -> None:
    """Train a module in place by the classifier's settings; it ends in the mode of prediction."""
    epochs, batch_size = as_count(settings.epochs, "epochs"), as_count(settings.batch_size, "batch_size")
    items, labels = data.items, data.labels
    optimiser = Adam(
        module.parameters(),
        learning_rate=as_positive(settings.learning_rate, "learning_rate"),
        weight_decay=as_positive(settings.weight_decay, "weight_decay") if settings.weight_decay != 0 else 0.0,
    )
    module.train()
    loss = torch.zeros(())
    for _ in range(epochs):
        for rows, batch in mini_batches(items, batch_size, labels.device):
            with casting(settings.precision, labels.device):
                loss = training.loss(module, batch, labels[rows])
            optimiser.clear()
            loss.backward()
            optimiser.step()
    module.eval()
    if not torch.isfinite(loss):
        raise InvalidInput(
            f"training diverged: the loss is {float(loss.detach())}; "
            f"lower learning_rate (now {settings.learning_rate:g}) or scale the items."
        )


def casting(precision: str, device: torch.device) -> torch.autocast:
    """Return the block in which matrix products may be taken in bfloat16."""
    if precision not in PRECISIONS:
        raise UnknownName("precision", precision, PRECISIONS)
    half = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16, enabled=half)


def reset(module: nn.Module) -> None:
    """Draw new weights: by the module's own `reset_parameters` where it has one, else by its parts'; not if frozen."""
    if not any(weight.requires_grad for weight in module.parameters()):
        return
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    else:
        for part in module.children():
            reset(part)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch inside the block and leave the process's generators untouched."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


class Adam:
    """Adam (Kingma and Ba 2015) with torch's defaults, over torch's own fused step; weights are changed in place.

    `torch.optim.Adam` computes the same numbers, but loads torch's compiler with its first step, which nothing here
    uses: 1.2 seconds of processor time in every process that trains.

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
