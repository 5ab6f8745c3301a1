"""Logs of Inspect: .json, or .eval (a zip file of the same samples).

    {"eval": {...}, "samples": [{"id": 1, "epoch": 1, "input": ..., "target": ..., "output": {"completion": ...},
    "scores": {"model_graded_qa": {"value": "C", "answer": ..., "explanation": ...}}}]}

The verdict is the value of the scorer: C (correct), I, P (partly) and N, or a number. With several scorers name one:
--predicted model_graded_qa.
"""

from typing import Any

from cusal.audit.tool_files._verdicts import as_text, with_scores

NAME = "Inspect"


def fits(content: Any) -> bool:
    """Return whether this is a log of Inspect."""
    if not isinstance(content, dict) or "eval" not in content or not isinstance(content.get("samples"), list):
        return False
    return bool(content["samples"]) and {"input", "id"} <= set(content["samples"][0])


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each sample that was scored."""
    found = []
    for sample in content["samples"]:
        scores = sample.get("scores") or {}
        if not scores:
            continue
        output = sample.get("output") or {}
        said = output.get("completion") or "".join(
            as_text((choice.get("message") or {}).get("content")) for choice in output.get("choices") or []
        )
        explained = [str(one.get("explanation")) for one in scores.values() if one.get("explanation")]
        row = {
            "id": f"{sample['id']}-{sample.get('epoch', 1)}",
            "text": as_text(sample["input"]),
            "output": said,
            "target": as_text(sample.get("target")),
            "reason": "\n".join(explained),
        }
        found.append(with_scores(row, {name: one.get("value") for name, one in scores.items()}))
    return found
