"""The base of every objective: what a `TorchClassifier` minimises, and the settings of that."""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

if TYPE_CHECKING:
    from torch import Tensor, nn

    from cusal.models.torch_classifier import TorchClassifier


class TrainingData(NamedTuple):
    """What one fit trains on.

    Parameters
    ----------
    items : tensor or lazy items, (n, ...)
        The labelled items, on the training device or on disk.
    labels : tensor of int64, (n,)
        Their class numbers, on the training device.
    unlabelled : items, (m, ...)
        Further items, indexed by an array of positions; the labelled ones where the caller gave none.
    """

    items: Any
    labels: "Tensor"
    unlabelled: Any


class Training(ABC):
    """One fit of an objective: the loss of its mini-batches, and what is kept when it ends."""

    @abstractmethod
    def loss(self, module: "nn.Module", items: "Tensor", labels: "Tensor") -> "Tensor":
        """Return the loss of one mini-batch, a scalar.

        Parameters
        ----------
        module : nn.Module
            The network in training mode; it must be left in that mode.
        items : tensor, (n, ...)
            The mini-batch.
        labels : tensor of int64, (n,)
            Its class numbers.
        """

    def fitted(self, model: "TorchClassifier") -> dict[str, Any]:
        """Return the attributes that the classifier keeps of this fit, their names ending in an underscore.

        Parameters
        ----------
        model : TorchClassifier
            The classifier with its trained network.
        """
        return {}


@dataclass(frozen=True)
class Objective(ABC):
    """What a `TorchClassifier` minimises: settings that are checked when they are given.

    A subclass is a frozen dataclass whose `start` begins one fit. What is kept from fit to fit belongs to the
    classifier, not to the objective. An objective may also offer `scoring_proba(model, X)` and
    `scoring_embed(model, X)`, which strategies then see in place of predictions and embeddings, and
    `energy(model, X)`: the classifier has these methods exactly where its objective has them.

    Attributes
    ----------
    uses_unlabelled : bool
        Whether the classifier should be fitted with the unlabelled items at hand.
    """

    uses_unlabelled: ClassVar[bool] = False

    @abstractmethod
    def start(self, model: "TorchClassifier", data: TrainingData) -> Training:
        """Return the training of one fit; called once, before the first mini-batch.

        Torch's generator is seeded at this point, and what is drawn from it here comes before the shuffles.

        Parameters
        ----------
        model : TorchClassifier
            The classifier, with what it kept of the fit before; not to be changed.
        data : TrainingData
            The items of this fit.
        """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name, so that scikit-learn lists them as `objective__name`."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __sklearn_clone__(self) -> Self:
        """Return the objective itself: it never changes."""
        return self
