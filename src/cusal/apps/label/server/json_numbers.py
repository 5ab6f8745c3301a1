"""Numbers that JSON has: no NaN, and nothing infinite."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """Return a value of JSON with None in place of numbers that JSON does not have.

    >>> finite({"ece": float("nan"), "counts": [1, float("inf")]})
    {'ece': None, 'counts': [1, None]}
    """
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
