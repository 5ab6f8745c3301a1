"""Samples of lm-evaluation-harness (`lm-eval run ... --log_samples`, samples_TASK_TIME.jsonl).

    {"doc_id": 0, "doc": {...}, "target": ..., "arguments": ..., "resps": [[...]], "filtered_resps": [...], "acc": 1.0}

The verdict is the metric (1 is "pass"); the confidence of a choice is its share of the likelihoods of all choices.
"""

from math import exp
from typing import Any

from cusal.audit.tool_files._verdicts import as_text, with_scores

NAME = "lm-evaluation-harness"
NOT_METRICS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
HASHES = "_hash"


def fits(content: Any) -> bool:
    """Return whether this is a list of samples."""
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and {"doc_id", "doc", "resps", "filtered_resps"} <= set(first)


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each sample; of several filters each has its own rows."""
    found = []
    filters = {one.get("filter") for one in content}
    for one in content:
        named = [name for name in one if name not in NOT_METRICS and not name.endswith(HASHES)]
        scores = {name: one[name] for name in named if isinstance(one[name], bool | int | float)}
        if not scores:
            continue
        likelihoods = _likelihoods(one["filtered_resps"])
        row = {
            "id": f"{one['doc_id']}-{one['filter']}" if len(filters) > 1 else str(one["doc_id"]),
            "text": _prompt(one),
            "output": "" if likelihoods else as_text(_first(one["filtered_resps"])),
            "target": as_text(one.get("target")),
            "doc": one["doc"],
        }
        if likelihoods:
            row["confidence"] = 1 / sum(exp(value - max(likelihoods)) for value in likelihoods)
        found.append(with_scores(row, scores))
    return found


def _prompt(one: dict[str, Any]) -> str:
    """Return the text that the model was given, as far as it is there."""
    arguments = one.get("arguments")
    while isinstance(arguments, dict | list) and arguments:
        arguments = next(iter(arguments.values())) if isinstance(arguments, dict) else arguments[0]
    return arguments if isinstance(arguments, str) else as_text(one["doc"])


def _likelihoods(responses: Any) -> list[float]:
    """Return the log likelihood of each choice; none where the model wrote a text."""
    pairs = [one[0] if isinstance(one, list) and one and isinstance(one[0], list) else one for one in responses]
    try:
        values = [float(pair[0]) for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    except (TypeError, ValueError):
        return []
    return values if len(values) == len(pairs) > 1 else []


def _first(responses: Any) -> Any:
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return responses
