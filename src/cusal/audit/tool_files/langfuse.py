"""Scores of Langfuse, as exported (.csv, .json, .jsonl) or as its interface returns them.

    {"id": ..., "traceId": ..., "name": "correctness", "value": 1, "stringValue": null, "dataType": "BOOLEAN",
    "source": "EVAL", "comment": ...}          also with trace_id, string_value and data_type; in {"data": [...]}

    {"id": ..., "input": ..., "output": ..., "scores": [{"name": ..., "value": ..., "comment": ...}]}   (a trace)

Scores that people gave (source ANNOTATION) are no verdicts of a judge and are left out. With several names of scores
name one: --predicted correctness.
"""

from typing import Any

from cusal.audit.tool_files._verdicts import as_text, with_scores

NAME = "Langfuse"
ANNOTATION = "ANNOTATION"


def fits(content: Any) -> bool:
    """Return whether these are scores, or traces with their scores."""
    listed = _listed(content)
    first = listed[0] if listed and isinstance(listed[0], dict) else {}
    is_score = bool({"traceId", "trace_id"} & set(first)) and bool({"dataType", "data_type"} & set(first))
    return (is_score and "name" in first) or _has_scores(first)


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each trace (or observation), with all its scores."""
    found: dict[str, dict[str, Any]] = {}
    scores: dict[str, dict[str, Any]] = {}
    for one in _listed(content):
        for score in one["scores"] if _has_scores(one) else [one]:
            if _get(score, "source") == ANNOTATION:
                continue
            trace = one if _has_scores(one) else score.get("trace") or {}
            observed = _get(score, "observationId")
            key = str(observed or _get(score, "traceId") or one["id"])
            row = found.setdefault(
                key,
                {
                    "id": key,
                    "text": as_text(_get(trace, "input")),
                    "output": as_text(_get(trace, "output")),
                    "trace": _get(score, "traceId") or one["id"],
                    "reason": "",
                },
            )
            row["reason"] = "\n".join(filter(None, [row["reason"], str(_get(score, "comment") or "")]))
            scores.setdefault(key, {})[str(score["name"])] = _value(score)
    return [with_scores(row, scores[key]) for key, row in found.items()]


def _value(score: dict[str, Any]) -> Any:
    """Return the category of a score if it has one, else its number."""
    words, kind = _get(score, "stringValue"), str(_get(score, "dataType") or "").upper()
    if kind == "CATEGORICAL" and words:
        return words
    value = _get(score, "value")
    try:
        return float(value)  # a cell of a CSV file is a text
    except (TypeError, ValueError):
        return value


def _has_scores(one: dict[str, Any]) -> bool:
    scores = one.get("scores")
    if not isinstance(scores, list) or not scores or not isinstance(scores[0], dict):
        return False
    return {"name", "value"} <= set(scores[0]) and "output" in one


def _get(row: dict[str, Any], name: str) -> Any:
    """Return a field by its name in camel case, or the same in snake case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return row.get(name, row.get(snake))


def _listed(content: Any) -> list[Any]:
    inner = content.get("data") if isinstance(content, dict) else content
    return inner if isinstance(inner, list) else []
