"""Experiments of LangSmith: a table as `ExperimentResults.to_pandas()` or the page of an experiment writes it, or runs.

    inputs.question, outputs.answer, reference.answer, feedback.correctness, example_id, id           (a table)
    {"id": ..., "inputs": {...}, "outputs": {...}, "feedback_stats": {"correctness": {"n": 1, "avg": 1.0}}}   (a run)

With several kinds of feedback name one: --predicted correctness.
"""

from typing import Any

from cusal.audit.tool_files._verdicts import as_text, with_scores

NAME = "LangSmith"
FEEDBACK, INPUTS, OUTPUTS, REFERENCE = "feedback.", "inputs.", "outputs.", "reference."


def fits(content: Any) -> bool:
    """Return whether these are rows of an experiment, or runs with their feedback."""
    first = content[0] if isinstance(content, list) and content else None
    if not isinstance(first, dict):
        return False
    is_table = any(name.startswith(FEEDBACK) for name in first) and any(name.startswith(INPUTS) for name in first)
    return is_table or {"inputs", "outputs", "feedback_stats"} <= set(first)


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each run that has feedback."""
    found = []
    for number, one in enumerate(content):
        if "feedback_stats" in one:
            stats = one["feedback_stats"] or {}
            scores = {name: stat.get("avg") for name, stat in stats.items()}
            parts = [one.get("inputs"), one.get("outputs"), None]
        else:
            scores = {name.removeprefix(FEEDBACK): _number(one[name]) for name in one if name.startswith(FEEDBACK)}
            parts = [_part(one, INPUTS), _part(one, OUTPUTS), _part(one, REFERENCE)]
        if not any(value is not None for value in scores.values()):
            continue
        row = {"id": str(one.get("id", number)), "text": as_text(parts[0]), "output": as_text(parts[1])}
        if parts[2]:
            row["expected"] = as_text(parts[2])
        found.append(with_scores(row, scores))
    return found


def _part(row: dict[str, Any], start: str) -> dict[str, Any]:
    return {name.removeprefix(start): value for name, value in row.items() if name.startswith(start)}


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
