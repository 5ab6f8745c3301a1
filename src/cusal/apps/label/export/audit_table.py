"""The export of an audit: every prediction with its label, checked or accepted, and the chance that it is right.

label         what people said; where nobody looked, or nobody could tell, the prediction; empty where people said
              "wrong" and no more
checked       yes or no
right         yes, no or unsure (also of items whose file is gone or broken, which nobody can check)
chance_right  of the prediction: 1 or 0 where it was checked, `Audit.calibrated` elsewhere

`cusal audit PREDICTIONS --labels audit.csv` continues from this table.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cusal import Audit
from cusal._files import write_whole
from cusal.apps.label.audits.messages import Checking
from cusal.apps.label.store.project import Project
from cusal.audit import summary
from cusal.errors import InvalidInput
from cusal.tables import Values, open_writer

FORMATS = ("csv", "jsonl", "parquet")
CHUNK = 5_000  # rows that are written together
SCHEMA = {
    "id": "text",
    "predicted": "text",
    "confidence": "number",
    "label": "text",
    "checked": "text",
    "right": "text",
    "chance_right": "number",
    "who": "text",
    "when": "time",
}
IN_WORDS = {True: "yes", False: "no", None: "unsure"}


def check_formats(formats: Sequence[str]) -> None:
    """Raise an error for a format that an audit cannot be written in."""
    for name in formats:
        if name not in FORMATS:
            raise InvalidInput(
                f"the format {name} is for labels, and this project checks predictions; choose {', '.join(FORMATS)}."
            )


def write_audit(project: Project, folder: Path, formats: Sequence[str]) -> None:
    """Write the table of an audit in each format, and what it shows in words."""
    audit = Checking(project).audit()
    rows = _Rows(project, audit)
    for name in dict.fromkeys(formats):
        with open_writer(folder / f"audit.{name}", SCHEMA) as table:
            for start in range(0, len(audit), CHUNK):
                table.write(rows.part(start, min(start + CHUNK, len(audit))))
    seed = f" --seed {audit.seed}" if audit.seed else ""
    again = f"Continue on the command line: cusal audit PREDICTIONS --labels audit.{formats[0]}{seed}"
    write_whole(folder / "summary.txt", f"{summary(audit)}\n\n{again}\n".encode())


class _Rows:
    """The rows of the table, made part by part."""

    def __init__(self, project: Project, audit: Audit) -> None:
        self.project, self.answers, self.true = project, audit.answers, audit.true_labels
        found = project.rounds.predictions()
        assert found is not None
        self.predicted = audit.predicted.tolist()
        self.confidence = np.where(np.isnan(found.confidence), np.nan, audit.confidence)
        self.chances = audit.calibrated()
        self.people: dict[int, list[str]] = {}
        self.times: dict[int, float] = {}
        for answer in project.answers.given():
            self.people.setdefault(answer.item, []).append(answer.person)
            self.times[answer.item] = max(self.times.get(answer.item, 0.0), answer.at or 0.0)

    def part(self, start: int, stop: int) -> dict[str, Values]:
        """Return the columns of some rows."""
        items = range(start, stop)
        confidence = self.confidence[start:stop].tolist()
        return {
            "id": [item.key for item in self.project.items.of(items)],
            "predicted": self.predicted[start:stop],
            "confidence": [None if value != value else value for value in confidence],
            "label": [self._label(item) for item in items],
            "checked": ["yes" if item in self.people else "no" for item in items],
            "right": [IN_WORDS[self.answers[item]] if item in self.answers else None for item in items],
            "chance_right": [self._chance(item) for item in items],
            "who": [", ".join(self.people.get(item, ())) or None for item in items],
            "when": [self.times.get(item) for item in items],
        }

    def _label(self, item: int) -> str | None:
        if self.answers.get(item) is False:
            found = self.true.get(item)
            return None if found is None else str(found)
        return str(self.predicted[item])

    def _chance(self, item: int) -> float:
        right = self.answers.get(item)
        return float(self.chances[item]) if right is None else float(right)
