"""Results of promptfoo (`promptfoo eval --output results.json`).

    {"evalId": ..., "results": {"version": 3, "results": [{"testIdx": 0, "promptIdx": 0, "vars": {...}, "prompt":
    {"raw": ...}, "provider": {"id": ...}, "response": {"output": ...}, "success": true, "gradingResult": {"pass": true,
    "score": 0.9, "reason": ..., "componentResults": [{"pass": ..., "assertion": {"type": "llm-rubric"}}]}}]}}

The verdict is that of the graders together; the verdicts of single assertions are columns too.
"""

from typing import Any

from cusal.audit.tool_files._verdicts import as_text, as_verdict, certainty

NAME = "promptfoo"


def fits(content: Any) -> bool:
    """Return whether this is a file of promptfoo."""
    results = content.get("results") if isinstance(content, dict) else None
    inner = results.get("results") if isinstance(results, dict) else None
    return isinstance(inner, list) and bool(inner) and {"success", "vars"} <= set(inner[0])


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each answer; answers that ended in an error of the provider have no verdict."""
    found = []
    for number, one in enumerate(content["results"]["results"]):
        graded = one.get("gradingResult") or {}
        response = one.get("response") or {}
        if not graded and one.get("error"):
            continue
        passed = graded.get("pass", one["success"])
        prompt, provider = one.get("prompt") or {}, one.get("provider") or {}
        place = [one.get("testIdx", number), one.get("promptIdx", 0)]
        row = {
            "id": "-".join(map(str, place)) if "testIdx" in one else str(one.get("id", number)),
            "text": as_text(prompt.get("raw") if isinstance(prompt, dict) else prompt),
            "output": as_text(response.get("output") if isinstance(response, dict) else response),
            "predicted": as_verdict(passed),
            "confidence": certainty(graded.get("score", one.get("score")), passed),
            "reason": graded.get("reason", ""),
            "provider": provider.get("id", "") if isinstance(provider, dict) else str(provider),
            **{f"vars.{name}": value for name, value in (one.get("vars") or {}).items()},
        }
        for component in graded.get("componentResults") or []:
            kind = ((component or {}).get("assertion") or {}).get("type")
            if kind:
                row[f"assert.{kind}"] = as_verdict(component.get("pass"))
        found.append(row)
    ids = [row["id"] for row in found]
    if len(set(ids)) < len(ids):  # several providers or repeats of one test
        for number, row in enumerate(found):
            row["id"] = f"{row['id']}-{number}"
    return found
