"""Test runs of DeepEval (.deepeval/.latest_test_run.json, or what `DEEPEVAL_RESULTS_FOLDER` collects).

    {"testCases": [{"name": ..., "input": ..., "actualOutput": ..., "expectedOutput": ..., "success": true,
    "metricsData": [{"name": "Correctness (GEval)", "success": true, "score": 0.8, "threshold": 0.5, "reason": ...}]}]}

The verdict is that of the only metric; with several, of the test case (or name one: --predicted "Answer Relevancy").
"""

from typing import Any

from cusal.audit.tool_files._verdicts import as_text, as_verdict, certainty

NAME = "DeepEval"


def fits(content: Any) -> bool:
    """Return whether this is a test run of DeepEval."""
    cases = _cases(content)
    return bool(cases) and isinstance(cases[0], dict) and "input" in cases[0] and "metricsData" in cases[0]


def rows(content: Any) -> list[dict[str, Any]]:
    """Return a row for each test case."""
    found = []
    for number, case in enumerate(_cases(content)):
        metrics = [one for one in case.get("metricsData") or [] if one.get("success") is not None]
        passed = case.get("success")
        if passed is None and not metrics:
            continue
        row = {
            "id": str(case.get("order", number)),
            "text": as_text(case["input"]),
            "output": as_text(case.get("actualOutput")),
            "expected": as_text(case.get("expectedOutput")),
            "predicted": as_verdict(metrics[0]["success"] if len(metrics) == 1 else passed),
            "confidence": certainty(metrics[0].get("score"), metrics[0]["success"]) if len(metrics) == 1 else None,
            "reason": "\n".join(str(one["reason"]) for one in metrics if one.get("reason")),
            "name": case.get("name", ""),
        }
        found.append(row | {one["name"]: as_verdict(one["success"]) for one in metrics})
    if len({row["id"] for row in found}) < len(found):
        for number, row in enumerate(found):
            row["id"] = str(number)
    return found


def _cases(content: Any) -> list[Any]:
    if not isinstance(content, dict):
        return []
    inner = content.get("testRunData")
    cases = (inner if isinstance(inner, dict) else content).get("testCases")
    return cases if isinstance(cases, list) else []
