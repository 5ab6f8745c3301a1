"""What an audit says so far, as the pages show it."""

from dataclasses import asdict
from typing import Any

import numpy as np

from cusal import Audit
from cusal.audit import Slice
from cusal.audit.simultaneous_intervals import parts_together
from cusal.errors import NotReady

HALF_WIDTH = 0.02  # of the interval for which the checks are counted
MAX_WRONG = 0.05  # of the data set, if the rest is accepted
POINTS = 12  # of the curve over the checks
MOST_CLASSES = 60
MOST_CELLS = 100_000_000  # items times classes, above which classes are left out


def figures(audit: Audit) -> dict[str, Any]:
    """Return what is known after the answers of an audit; `accuracy` is None before the first check in order."""
    counted = len(audit.checked_in_order)
    found: dict[str, Any] = {"items": len(audit), "checks": audit.checks, "counted": counted, "accuracy": None}
    try:
        accuracy = audit.accuracy()
    except NotReady:
        return found
    accepted = audit.accept(MAX_WRONG)
    return found | {
        "accuracy": asdict(accuracy),
        "anytime": asdict(audit.accuracy(anytime=True)),
        "needed": asdict(audit.needed(HALF_WIDTH)) | {"half_width": HALF_WIDTH},
        "accept": {"items": len(accepted), "missing": len(accepted.missing), "reason": accepted.reason},
        "classes": _classes(audit),
        "curve": _curve(audit, counted),
    }


def _classes(audit: Audit) -> list[dict[str, Any]]:
    """Return the predicted classes with enough checks to say something, the surely worst first.

    Their intervals hold together.
    """
    names, numbers = np.unique(audit.predicted, return_inverse=True)
    if len(audit) * len(names) > MOST_CELLS:
        return []
    parts = parts_together(audit, [(names.astype(str).tolist(), numbers)])[0]
    known = [(part, part.share) for part in parts if part.share is not None]
    known.sort(key=lambda pair: pair[1].high)
    return [_line(part) | asdict(share) for part, share in known[:MOST_CLASSES]]


def _line(part: Slice) -> dict[str, Any]:
    return {"name": part.name, "items": part.items}


def _curve(audit: Audit, counted: int) -> list[dict[str, Any]]:
    """Return the estimate with the interval that holds however often one looks, over the checks."""
    counts = np.unique(np.linspace(min(10, counted), counted, POINTS).astype(int))
    points = []
    for count in counts.tolist():
        share = audit.as_after(count).accuracy(anytime=True)
        points.append({"labels": count, "accuracy": share.estimate, "low": share.low, "high": share.high})
    return points
