"""What a value of a grid may be made of at all: texts, flags, finite numbers, and lists and tables of them.

A spec is stored as JSON, which has no dates, and a hash of it is the run's id, so that what would not come back as it
was is refused where the grid is read.
"""

import math
from collections.abc import Mapping
from typing import Any

from cusal.errors import InvalidInput

DEEPEST = 20  # tables in tables; real grids have three
LARGEST = 2**31 - 1  # the largest number that every database keeps as a whole one


def check_plain(values: Mapping[str, Any], where: str) -> None:
    """Raise `InvalidInput` for a value that no setting can have, however deep it lies.

    Parameters
    ----------
    values : mapping
        The keys of a grid, or some of them.
    where : str
        What the message names as their origin.
    """
    for key, value in values.items():
        left = [(value, 1)]
        while left:
            part, depth = left.pop()
            fault = _fault(part, depth)
            if fault:
                raise InvalidInput(f"{where}: {str(key)[:80]} holds {fault}.")
            if isinstance(part, Mapping):
                left += [(inner, depth + 1) for pair in part.items() for inner in pair]
            elif isinstance(part, list | tuple):
                left += [(inner, depth + 1) for inner in part]


def _fault(part: Any, depth: int) -> str | None:
    if depth > DEEPEST:
        return f"lists or tables that are more than {DEEPEST} deep; write them flat"
    if isinstance(part, float) and not math.isfinite(part):
        return f"{part}; expected a finite number"
    if isinstance(part, int) and abs(part) > LARGEST:
        return f"a whole number beyond {LARGEST:,}; write a smaller one"
    if not isinstance(part, str | bool | int | float | Mapping | list | tuple | None):
        return f"a {type(part).__name__}; expected a text, a number, true or false, or a list or table of them"
    return None
