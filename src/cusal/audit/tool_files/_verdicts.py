"""What the readers of tools' files share: verdicts, texts, and one column for each score."""

import json
from collections.abc import Mapping
from typing import Any


def as_verdict(value: Any) -> str | None:
    """Return a verdict in words: true and 1 are "pass", false and 0 are "fail"; other values are what they are.

    >>> as_verdict(True), as_verdict(0.0), as_verdict("C"), as_verdict(3.5), as_verdict(None)
    ('pass', 'fail', 'C', '3.5', None)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        text = value.strip()
        return {"true": "pass", "false": "fail", "True": "pass", "False": "fail"}.get(text, text)
    if isinstance(value, bool | int | float) and value in (0, 1):
        return "pass" if value else "fail"
    return f"{value:g}" if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)


def as_text(value: Any) -> str:
    """Return what a person reads: a text as it is, a chat as its messages, other things as JSON.

    >>> as_text([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": [{"text": "So."}]}])
    'user: Why?\\n\\nassistant: So.'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        return as_text(next(iter(value.values())))
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and "content" in one for one in value):
        return "\n\n".join(f"{one.get('role', 'message')}: {_content(one['content'])}" for one in value)
    return json.dumps(value, ensure_ascii=False, indent=1)


def _content(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in value)
    return as_text(value)


def with_scores(row: dict[str, Any], scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with a column for each score, and `predicted` where there is one only."""
    verdicts = {name: as_verdict(value) for name, value in scores.items()}
    known = {name: value for name, value in verdicts.items() if value is not None}
    if len(known) == 1:
        row["predicted"] = next(iter(known.values()))
    return row | known


def certainty(score: Any, passed: Any) -> float | None:
    """Return how sure a verdict is, from a score between 0 and 1: near 1 for a pass, near 0 for a fail.

    >>> certainty(0.9, True), certainty(0.9, False), certainty(7, True)
    (0.9, 0.09999999999999998, None)
    """
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        return None
    return float(score) if passed else 1 - float(score)
