"""Plain training: the mean cross entropy of the labelled items."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor, nn

from cusal.models.objectives._objective import Objective, Training, TrainingData

if TYPE_CHECKING:
    from cusal.models.torch_classifier import TorchClassifier


@dataclass(frozen=True)
class CrossEntropy(Objective):
    """Train on the cross entropy of the labelled items alone; the default of `TorchClassifier`.

    Examples
    --------
    >>> from cusal.models import TorchClassifier
    >>> from cusal.models.networks import SmallNet
    >>> TorchClassifier(SmallNet(2, 2)).objective
    CrossEntropy()
    """

    def start(self, model: "TorchClassifier", data: TrainingData) -> "CrossEntropyTraining":
        """Return the training of one fit; nothing is drawn and nothing is kept."""
        return CrossEntropyTraining()


class CrossEntropyTraining(Training):
    """One fit on cross entropy."""

    def loss(self, module: nn.Module, items: Tensor, labels: Tensor) -> Tensor:
        """Return the mean cross entropy of one mini-batch."""
        return nn.functional.cross_entropy(module(items), labels)
