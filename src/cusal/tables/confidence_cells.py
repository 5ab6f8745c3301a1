"""What a cell of a table says about how sure a prediction is.

One number: 0.87, "87 %", "0,87" (a decimal comma), or the log probabilities of the tokens of an answer, as the
interfaces of language models give them, whose sum is the log probability of the answer:

    [-0.1, -0.02]      [{"token": "spam", "logprob": -0.1}]      {"content": [...]}      {"token_logprobs": [...]}

Or a probability for every class: {"spam": 0.9, "ham": 0.1}, [{"label": "spam", "score": 0.9}, ...], [0.9, 0.1] for
classes without names, and the same as log probabilities.
"""

import json
import re
from collections.abc import Mapping
from math import exp, isfinite
from typing import Any

import numpy as np

SUM_TOLERANCE = 0.02  # of the probabilities of a row
_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*(%?)\s*")


def as_number(value: Any) -> float | None:
    """Return the confidence that a cell states, NaN if the cell is empty, or None if it states none.

    >>> as_number("87 %"), as_number("0,5"), as_number([-0.1, -0.2]), as_number("high")
    (0.87, 0.5, -0.30000000000000004, None)
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "none", "null")):
        return float("nan")
    found = _plain(value)
    return _sum_of_tokens(opened(value)) if found is None else found


def as_distribution(value: Any) -> dict[str, float] | None:
    """Return the probability of each class that a cell states, or None if it states none.

    >>> as_distribution([{"label": "spam", "score": 0.9}, {"label": "ham", "score": 0.1}])
    {'spam': 0.9, 'ham': 0.1}
    """
    value = opened(value)
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        pairs = [(one.get("label", one.get("class")), one.get("score", one.get("probability"))) for one in value]
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        return None
    if len(pairs) < 2 or any(name is None or isinstance(share, list | Mapping) for name, share in pairs):
        return None
    shares = [_plain(share) for _, share in pairs]
    known = [share for share in shares if share is not None and isfinite(share)]
    names = [str(name) for name, _ in pairs]
    probs = as_shares(known) if len(known) == len(shares) else None
    return None if probs is None else dict(zip(names, probs, strict=True))


def as_shares(values: list[float]) -> list[float] | None:
    """Return probabilities or log probabilities that sum to one as probabilities; None if they are neither."""
    for shares in (values, [exp(min(value, 1.0)) for value in values]):
        if all(0 <= share <= 1 for share in shares) and abs(sum(shares) - 1) < SUM_TOLERANCE:
            return shares
    return None


def is_log(value: Any) -> bool:
    """Return whether a cell holds log probabilities of tokens."""
    return _plain(value) is None and _sum_of_tokens(opened(value)) is not None


def opened(value: Any) -> Any:
    """Return a cell with lists and objects as such, though they are written as JSON or held as an array."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _plain(value: Any) -> float | None:
    """Return a number that is written as such, or None."""
    if isinstance(value, str):
        text = value.strip()
        text = text.replace(",", ".") if _COMMA.fullmatch(text) else text
        scale = 0.01 if text.endswith("%") else 1.0
        text = text.removesuffix("%").rstrip()
    else:
        text, scale = value, 1.0
    try:
        return float(text) * scale
    except (TypeError, ValueError):
        return None


def _sum_of_tokens(value: Any) -> float | None:
    """Return the sum of the log probabilities of the tokens of an answer, or None if the cell holds none."""
    if isinstance(value, Mapping):
        inner = next((value[name] for name in ("content", "token_logprobs", "tokens") if name in value), None)
        return _sum_of_tokens(inner) if isinstance(inner, list) else None
    if not isinstance(value, list) or not value:
        return None
    numbers = [_plain(one.get("logprob") if isinstance(one, Mapping) else one) for one in value]
    known = [number for number in numbers if number is not None and number <= 0]
    return sum(known) if len(known) == len(numbers) else None
