"""The model of a project: the latest round's session, brought up to date with the labels, and its predictions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.label.export.card import card_text
from cusal.label.export.contents import Predicted
from cusal.label.export.heads import FittedHead
from cusal.label.export.item_classifier import ItemClassifier
from cusal.label.export.model_file import model_state, write_model
from cusal.label.export.project_items import as_inputs, chunks
from cusal.label.store.project import Project
from cusal.label.store.records import Settings
from cusal.recalibration import AccuracyEstimate, Calibration


@dataclass(frozen=True)
class ProjectModel:
    """A fitted model of a project, and what is known of how good it is.

    pool, vectors: the ids (n,) of the items that it was fitted among, and their vectors (n, columns).
    """

    settings: Settings
    classifier: ItemClassifier
    head: FittedHead
    pool: Indices
    vectors: Any
    accuracy: AccuracyEstimate | None
    calibration: Calibration

    def describe(self) -> dict[str, Any]:
        """Return what a card says of the model."""
        before, after = self.calibration.ece_before_interval, self.calibration.ece_after_interval
        return {
            "classifier": type(self.head.model).__name__,
            "features": self.classifier.features,
            "classes": self.classifier.classes_.tolist(),
            "labels": len(self.head.numbers),
            "columns": dict(self.settings.columns),
            "accuracy": None
            if self.accuracy is None
            else {name: getattr(self.accuracy, name) for name in ("estimate", "low", "high", "labels", "drawn")},
            "calibration": {
                "temperature": self.calibration.temperature,
                "evidence": self.calibration.evidence,
                "ece_before": self.calibration.ece_before,
                "ece_before_low": before and before[0],
                "ece_before_high": before and before[1],
                "ece_after": self.calibration.ece_after,
                "ece_after_low": after and after[0],
                "ece_after_high": after and after[1],
            },
        }

    def write(self, path: Path, card: dict[str, Any]) -> None:
        """Write the model file."""
        self.classifier.card = card
        write_model(path, model_state(self.classifier, self.head), card_text(card))

    def predictions(self, project: Project, ids: Indices) -> Iterator[Predicted]:
        """Yield the predictions of items, chunk by chunk; those that cannot be read are left out."""
        place = {item: row for row, item in enumerate(self.pool.tolist())}
        for some in chunks(ids.tolist()):
            inside = np.array([place[item] for item in some if item in place], dtype=np.int64)
            known = [item for item in some if item in place]
            if known:
                yield Predicted(project.items(known), self.classifier.classify(self.vectors[inside]))
            outside = project.items(item for item in some if item not in place)
            if outside:
                found = self.classifier.vectors(as_inputs(outside, self.settings))
                readable = [outside[row] for row in found.rows.tolist()]
                if readable:
                    yield Predicted(readable, self.classifier.classify(found.matrix))


def model_of_project(project: Project, tell: Callable[[str], None]) -> ProjectModel | None:
    """Return the model of a project; where there is none, say why and return None."""
    if project.last_round() is None:
        tell("There is no model yet, so that only labels are exported: it needs labels of two classes.")
        return None
    raise NotImplementedError
