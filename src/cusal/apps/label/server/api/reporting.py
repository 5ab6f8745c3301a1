"""The call of the Progress page: the last round, the curves over all rounds, agreement between people."""

from typing import Any

from fastapi import APIRouter

from cusal.apps.label.server.parameters import LiveProject
from cusal.apps.label.server.replies import ReportReply, finite

router = APIRouter(tags=["progress"])


@router.get("/report")
def report(live: LiveProject) -> ReportReply:
    """Return what the model knows about itself, how that changed with the labels, and how people agree."""
    if live.task.learns:
        reports = [finite(one) for one in live.project.rounds.reports()]
        last, curves = reports[-1] if reports else None, [_point(one) for one in reports]
    else:
        last = finite(live.project.status.all().get("audit"))
        curves = (last or {}).pop("curve", [])
    return ReportReply(
        report=last,
        curves=curves,
        progress=live.progress(),
        agreement=finite(live.project.answers.agreement()),
        status=live.status(),
    )


def _point(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the curves show of one round."""
    accuracy = one.get("accuracy") or {}
    calibration = one.get("calibration") or {}
    stopping = one.get("stopping") or {}
    return {
        "round": one.get("round"),
        "labels": one.get("labels"),
        "accuracy": accuracy.get("estimate"),
        "low": accuracy.get("low"),
        "high": accuracy.get("high"),
        "changed": stopping.get("changed"),
        "ece": calibration.get("ece_after"),
    }
