"""What is said where torch is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from cusal.errors import MissingExtra

EXTRA = ("torch", "safetensors")  # the packages of the extra `torch`


@contextmanager
def torch_needed(purpose: str = "training a network") -> Iterator[None]:
    """Raise `MissingExtra` where an import in the block fails for want of torch."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in EXTRA:
            raise
        raise MissingExtra(purpose, "torch") from error
