"""Pickles of earlier versions, which refer to classes by the modules that held them then.

If a class only moved, its module is in `MODULES`; if its name changed too, it has a line in `CLASSES`. A class that no
longer exists is mapped to a small class in this file. Pickle creates an object of that class and passes it the old
attributes; its `__setstate__` turns it into an object of a current class.
"""

import io
import os
import pickle
from pathlib import Path
from typing import Any, ClassVar

from cusal.errors import DataError

MODULES = {  # of classes in the state of a session: old module -> current module
    "cusal.classes": "cusal.loop.classes",
    "cusal.evidence": "cusal.recalibration.evidence",
    "cusal.models.batches": "cusal.models.mini_batches",
    "cusal.models.out_of_sample": "cusal.recalibration.out_of_sample",
    "cusal.models.scaled": "cusal.recalibration.temperature_scaled",
    "cusal.models.temperature": "cusal.recalibration.temperature",
    "cusal.models.torch": "cusal.models.torch_classifier",
    "cusal.picks": "cusal.strategies._query_result",
    "cusal.pool": "cusal.loop.pool",
}
CLASSES = {  # "module:Name" as pickled -> current "module:Name"
    "cusal.bench.listing:ListingCusal": "cusal.strategies.cusal_listing:CusalListing",
    "cusal.models.augmented:AugmentedClassifier": "cusal.loop.old_pickles:OldAugmented",
    "cusal.models.energy:EnergyClassifier": "cusal.loop.old_pickles:OldEnergy",
    "cusal.models.resnet:AveragingShortcut": "cusal.models.networks._residual:AveragingShortcut",
    "cusal.models.resnet:BasicBlock": "cusal.models.networks._residual:BasicBlock",
    "cusal.models.resnet:Bottleneck": "cusal.models.networks._residual:Bottleneck",
    "cusal.models.resnet:ResNet18": "cusal.models.networks:ResNet18",
    "cusal.models.resnet:ResNet50": "cusal.models.networks:ResNet50",
    "cusal.models.resnet:SmallResNet": "cusal.models.networks:SmallResNet",
}


def unpickle(content: bytes) -> dict[str, Any]:
    """Return what this or an earlier version pickled: the checkpoint of a run, or a saved session.

    Unpickling can run code: read only what you trust.
    """
    found: dict[str, Any] = _Unpickler(io.BytesIO(content)).load()
    return found


def read_pickle(path: str | os.PathLike[str], *, kind: str) -> dict[str, Any]:
    """Return what an earlier version saved; raise DataError if it is of another kind. Unpickling can run code."""
    try:
        content = unpickle(Path(path).read_bytes())
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; expected one written by save().") from None
    except (
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        ImportError,
        IndexError,
        UnicodeDecodeError,
    ) as error:
        raise DataError(f"{path} cannot be read ({error}); expected a file written by save().") from error
    if not isinstance(content, dict) or content.get("kind") != kind:
        raise DataError(f"{path} is not a saved {kind}; expected a file written by save().")
    return content


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        place = CLASSES.get(f"{module}:{name}", f"{MODULES.get(module, module)}:{name}")
        module, _, name = place.partition(":")
        return super().find_class(module, name)


class _OldClassifier:
    """A former subclass of the classifier that is now one of its objectives, with `settings`."""

    objective: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]

    def __setstate__(self, state: dict[str, Any]) -> None:
        from cusal import models  # loads torch

        made = getattr(models, self.objective)(**{name: state[name] for name in self.settings})
        gone = (*self.settings, "_chains", "_unlabelled")
        kept = {name: value for name, value in state.items() if name not in gone}
        self.__class__ = models.TorchClassifier
        self.__setstate__(kept | {"objective": made})


class OldEnergy(_OldClassifier):
    """The former `EnergyClassifier`."""

    objective = "Energy"
    settings = (
        "energy_weight",
        "energy_penalty",
        "unlabelled_batch_size",
        "sampling_steps",
        "step_size",
        "sampling_noise",
        "buffer_size",
        "restart_rate",
    )


class OldAugmented(_OldClassifier):
    """The former `AugmentedClassifier`."""

    objective = "Augmented"
    settings = ("operations", "strengths", "copies")
