"""What an audit says so far, as the pages show it."""

from dataclasses import asdict
from typing import Any

import numpy as np

from cusal import Audit
from cusal.apps.label.store.project import Project
from cusal.audit import Slice, by_class_together
from cusal.errors import NotReady, ProjectError


class Checking:
    """The predictions of a project in their order of checking, and what became of each.

    Parameters
    ----------
    project : Project
        One that `cusal label --audit` began.

    Raises
    ------
    ProjectError
        If it is no audit, or its beginning was not written.
    """

    def __init__(self, project: Project) -> None:
        found, wrong = project.rounds.last(), project.task.wrong_class
        if wrong is None or found is None or found.session is None:
            raise ProjectError(f"{project.place} holds no audit; begin one with `cusal label PREDICTIONS --audit`.")
        self.project, self.wrong = project, wrong
        self._unchecked = Audit.from_bytes(found.session)

    def audit(self) -> Audit:
        """Return the audit with all present answers.

        A label that differs from the prediction, or "wrong", is an error; what people passed over, and items whose
        file is gone or broken, are unknown.
        """
        audit, names = self._unchecked.as_after(0), self.project.classes.names()
        labels = self.project.answers.labels()
        named = {item: names[label] for item, label in labels.items() if label != self.wrong}
        wrong = [item for item, label in labels.items() if label == self.wrong]
        if named:
            audit.tell(list(named), list(named.values()))
        if wrong:
            audit.tell(wrong, right=[False] * len(wrong))
        unknown = [item for item in self._unknown() if item not in labels]
        if unknown:
            audit.skip(unknown)
        return audit

    def _unknown(self) -> list[int]:
        aside = np.setdiff1d(np.arange(self.project.items.count()), self.project.items.ids("ok"))
        return [*self.project.answers.skipped(), *np.setdiff1d(aside, self.project.answers.skipped()).tolist()]


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
    if len(audit) * len(np.unique(audit.predicted)) > MOST_CELLS:
        return []
    known = [(part, part.share) for part in by_class_together(audit) if part.share is not None]
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
