"""The last hidden layer of any module: what its last `nn.Linear` is given."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from cusal.errors import MissingMethod


@contextmanager
def last_hidden(module: nn.Module) -> Iterator[Callable[[Tensor], Tensor]]:
    """Yield the function that returns the last hidden layer (rows, width) of a tile of items."""
    layers = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
    if not layers:
        raise MissingMethod(
            f"{type(module).__name__} has no nn.Linear layer, so its last hidden layer is unknown; "
            "end the module with one, or use a strategy without embeddings."
        )
    seen: list[Tensor] = []
    handle = layers[-1].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0]))
    try:
        yield lambda tile: (module(tile), seen.pop())[1].flatten(1)
    finally:
        handle.remove()
