"""Checks of the torch module that a classifier is given, before anything is trained."""

import inspect
from typing import Any

import torch
from torch import Tensor, nn

from cusal.errors import InvalidInput

PROBE = 8  # items that the module is asked about before training
SOFTMAX = (nn.Softmax, nn.LogSoftmax, nn.Softmax2d, nn.Sigmoid)


def as_module(module: Any) -> nn.Module:
    """Return `module` if it is a torch module, not its class and not a function."""
    if isinstance(module, nn.Module):
        return module
    if isinstance(module, type) and issubclass(module, nn.Module):
        raise InvalidInput(
            f"module is the class {module.__name__}; expected an instance. "
            f"Call it first: TorchClassifier({module.__name__}(...))."
        )
    if inspect.isroutine(module):
        raise InvalidInput(
            f"module is the function {module.__name__}; expected an nn.Module, whose weights can be trained. "
            "Call the function if it builds one, or put its code into the forward of a class of nn.Module."
        )
    raise InvalidInput(f"module is a {type(module).__name__}; expected an instance of torch.nn.Module.")


def output_width(module: nn.Module, items: Tensor) -> int:
    """Return the number of classes that the module has logits for, by asking it about some items.

    Raises
    ------
    InvalidInput
        If it does not accept the items, has nothing to train, or returns anything but logits (n, classes).
    """
    name = type(module).__name__
    module.eval()
    try:
        logits, last, made = _probe(module, items)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise InvalidInput(
            f"{name} does not accept items of shape {tuple(items.shape[1:])}: {error}. Reshape the items, "
            "or give a module that takes a batch of them."
        ) from error
    if not isinstance(logits, Tensor):
        raise InvalidInput(f"{name} returns a {type(logits).__name__}; expected one tensor of logits (n, classes).")
    if logits.ndim != 2 or len(logits) != len(items) or logits.shape[1] < 2:
        raise InvalidInput(
            f"{name} returns shape {tuple(logits.shape)} for {len(items)} item(s); expected logits "
            f"({len(items)}, classes) with two or more classes."
        )
    if not any(weight.requires_grad for weight in module.parameters()):
        raise InvalidInput(f"{name} has no weight that can be trained; unfreeze its last layer, or add one.")
    ends_in_softmax = isinstance(last, SOFTMAX) and torch.equal(made.flatten(), logits.flatten())
    if ends_in_softmax or _are_probabilities(logits):
        raise InvalidInput(
            f"{name} ends in a softmax, but its outputs are trained as logits, to which softmax is applied; "
            "training would be silently wrong. Remove the last softmax."
        )
    return int(logits.shape[1])


def _probe(module: nn.Module, items: Tensor) -> tuple[Any, nn.Module | None, Any]:
    """Return the output of the module for the items, the last of its layers that ran, and that layer's output."""
    ran: list[tuple[nn.Module | None, Any]] = [(None, None)]

    def note(layer: nn.Module, inputs: Any, output: Any) -> None:
        ran[0] = layer, output

    leaves = [layer for layer in module.modules() if next(layer.children(), None) is None]
    handles = [layer.register_forward_hook(note) for layer in leaves]
    try:
        with torch.inference_mode():
            return module(items), *ran[0]
    finally:
        for handle in handles:
            handle.remove()


def _are_probabilities(logits: Tensor) -> bool:
    rows = logits.double()
    return bool((rows >= 0).all() and ((rows.sum(1) - 1).abs() < 1e-4).all())
