"""What the columns of a table are for: found in its first rows, or as named."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cusal.errors import InvalidInput

ID_NAMES = ("id", "_id", "key", "uuid", "guid", "item_id", "text_id")
LABEL_NAMES = ("label", "labels", "class", "category", "target", "y")
SHARE_DISTINCT = 0.5  # of the texts in a column of texts; categories repeat more often


@dataclass(frozen=True)
class Roles:
    """The columns with the text, the known label and the key; those of numbers; and all others."""

    text: str | None
    label: str | None
    key: str | None
    numbers: frozenset[str]
    others: tuple[str, ...]


def find_roles(sample: Sequence[dict[str, Any]], names: Sequence[str], *, text: str | None, label: str | None) -> Roles:
    """Return what the columns are for, judged by the first rows of the table.

    The text is the column of prose (words with spaces between, or letters beyond ASCII) whose texts differ and are the
    longest in the mean. In a table without numbers, single words will do.
    """
    for option, name in (("text", text), ("label", label)):
        if name is not None and name not in names:
            raise InvalidInput(f"--{option} names the column {name!r}, but the table has {', '.join(names)}.")
    if text is not None and text == label:
        raise InvalidInput(f"--text and --label name the same column, {text!r}; they are two columns.")
    values = {name: [row[name] for row in sample if row.get(name) not in (None, "")] for name in names}
    numbers = frozenset(name for name in names if values[name] and all(is_number(value) for value in values[name]))
    key = next((name for name in names if name.lower() in ID_NAMES and _is_key(values[name], len(sample))), None)
    free = [name for name in names if name not in (label, key) and name not in numbers]
    text = text or _text(values, free, words=not numbers - {key, label})
    key = None if key in (text, label) else key
    return Roles(text, label, key, numbers, tuple(name for name in names if name not in (text, label, key)))


def forgotten_label(roles: Roles) -> str | None:
    """Return a feature column that looks like the label, or None: a model would only learn to copy it."""
    return None if roles.label else next((name for name in roles.others if name.lower() in LABEL_NAMES), None)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, or the text of one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float)


def as_number(value: Any) -> Any:
    """Return the number that a text holds, None for an empty one or NaN, and any other value as it is."""
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value


def _text(values: dict[str, list[Any]], names: Sequence[str], *, words: bool) -> str | None:
    lengths: dict[str, float] = {}
    for name in names:
        texts = [value for value in values[name] if isinstance(value, str)]
        if len(texts) == len(values[name]) > 0 and len(set(texts)) >= SHARE_DISTINCT * len(texts):
            prose = sum(map(_is_prose, texts)) >= len(texts) / 2
            if prose or words:
                lengths[name] = sum(map(len, texts)) / len(texts) + (1e9 if prose else 0.0)
    return max(lengths, key=lambda name: lengths[name]) if lengths else None


def _is_prose(text: str) -> bool:
    letters = any(letter.isalpha() for letter in text)
    return letters and (any(letter.isspace() for letter in text) or not text.isascii())


def _is_key(values: Sequence[Any], rows: int) -> bool:
    """Return whether every row has a value of its own."""
    whole = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    return whole and len(values) == rows and len({str(value) for value in values}) == rows
