"""Output of the batch interface of OpenAI, which others (vLLM, Azure) write too.

    {"id": ..., "custom_id": "item-1", "response": {"status_code": 200, "body": {"choices": [{"message": {"content":
    "pass"}, "logprobs": {"content": [{"token": "pass", "logprob": -0.01}]}}]}}, "error": null}

The verdict is the answer; of an answer in JSON it is its field `verdict` (label, answer, class, category, grade, result
or pass), and its field `confidence` if there is one. The log probabilities of a plain answer give its confidence.
"""

import json
from math import exp
from typing import Any

from cusal.audit.tool_files._verdicts import as_text, as_verdict

NAME = "an OpenAI batch"
FIELDS = ("verdict", "label", "answer", "class", "category", "grade", "result", "pass")


def fits(content: Any) -> bool:
    """Return whether these are rows of a batch."""
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and "custom_id" in first and isinstance(first.get("response"), dict)


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each request that was answered."""
    found = []
    for one in content:
        choices = ((one.get("response") or {}).get("body") or {}).get("choices") or []
        if not choices:
            continue
        said = as_text((choices[0].get("message") or {}).get("content") or choices[0].get("text")).strip()
        row: dict[str, Any] = {"id": str(one["custom_id"])}
        answer = _object(said)
        field = next((name for name in FIELDS if name in answer), None)
        if field is not None:
            row |= {"predicted": as_verdict(answer[field]), "confidence": answer.get("confidence")}
            row |= {f"answer.{name}": value for name, value in answer.items() if name not in (field, "confidence")}
        else:
            tokens = (choices[0].get("logprobs") or {}).get("content") or []
            row |= {"predicted": said or None, "confidence": _chance(tokens)}
        found.append(row)
    return found


def _object(text: str) -> dict[str, Any]:
    text = text.removeprefix("```json").removesuffix("```").strip()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _chance(tokens: list[dict[str, Any]]) -> float | None:
    return exp(min(0.0, sum(token["logprob"] for token in tokens))) if tokens else None
