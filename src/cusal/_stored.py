"""Checks of what a file of a model holds: arrays and numbers that fit each other, as those do that cusal wrote."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import is_real, is_whole
from cusal.errors import DataError


def expect(holds: Any, what: str) -> None:
    """Raise a `DataError` if something does not hold of `what`."""
    if not holds:
        raise DataError(f"{what} of a model does not fit the rest of it; expected a file written by cusal.")


def stored_array(value: Any, what: str, *shape: int | None, kinds: str = "f") -> NDArray[Any]:
    """Return an array of finite numbers of a shape, in which None is any length, or raise a `DataError`."""
    fits = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    expect(fits and all(own in (size, None) for own, size in zip(shape, value.shape, strict=True)), what)
    found: NDArray[Any] = value
    expect(found.dtype.kind != "f" or np.isfinite(found).all(), what)
    return found


def stored_indices(value: Any, what: str, *shape: int | None, below: int) -> NDArray[np.int64]:
    """Return an array of whole numbers from 0 to below a limit, or raise a `DataError`."""
    found = stored_array(value, what, *shape, kinds="iu")
    expect(found.min(initial=0) >= 0 and found.max(initial=0) < max(below, 1), what)
    return found.astype(np.int64)


def stored_number(value: Any, what: str, least: float, most: float, *, whole: bool = False) -> Any:
    """Return a number within limits, or raise a `DataError`."""
    kind = is_whole(value) if whole else is_real(value) and not isinstance(value, bool)
    expect(kind and (whole or isfinite(value)) and least <= value <= most, what)
    return value
