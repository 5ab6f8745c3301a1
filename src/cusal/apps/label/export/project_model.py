"""The model of a project: the session of its last round, brought up to date with the labels, and its predictions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cusal import Session
from cusal._progress import Progress
from cusal._types import Indices
from cusal.apps.label.export.card import card_text
from cusal.apps.label.export.contents import Predicted, chunks
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import Settings
from cusal.apps.label.worker.heads import suited_model
from cusal.apps.label.worker.learning import suited_session
from cusal.apps.label.worker.pool import Places
from cusal.apps.label.worker.process import remake_vectors
from cusal.apps.label.worker.saved import read_saved
from cusal.apps.label.worker.vectors import Maker, makers_of
from cusal.deploy import SessionModel, model_of
from cusal.errors import InvalidInput
from cusal.features import ImageVectors, Vectoriser
from cusal.recalibration import AccuracyEstimate, CalibrationEstimate

Tell = Callable[[str], None]
NO_MODEL = (
    "There is no model yet, so that only labels are exported. It needs labels of two classes, and is fitted while "
    "`cusal label` runs."
)


@dataclass(frozen=True)
class ProjectModel:
    """A fitted model of a project, and what is known of how good it is.

    places: the items that it was fitted among, those at the rows of `vectors`. maker: makes vectors of other items.
    """

    settings: Settings
    model: SessionModel
    places: Places
    vectors: Any
    maker: Maker
    accuracy: AccuracyEstimate | None
    calibration: CalibrationEstimate

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes that it predicts."""
        return tuple(self.model.classifier.classes_.tolist())

    def describe(self) -> dict[str, Any]:
        """Return what a card says of the model."""
        return {
            "classifier": type(self.model.head.model).__name__,
            "features": self.model.classifier.features,
            "classes": list(self.classes),
            "labels": len(self.model.head.numbers),
            "kind": self.settings.kind,
            "columns": dict(self.settings.columns),
            "accuracy": _accuracy(self.accuracy),
            "calibration": _calibration(self.calibration),
        }

    def write(self, path: Path, card: dict[str, Any]) -> None:
        """Write the model file."""
        self.model.write(path, card, card_text(card))

    def predictions(self, project: Project, ids: Indices) -> Iterator[Predicted]:
        """Yield the predictions of items in their order, chunk by chunk; those that cannot be read are left out."""
        for some in chunks(ids):
            probs = np.full((len(some), len(self.classes)), np.nan)
            inside = np.array([item in self.places for item in some.tolist()], dtype=np.bool_)
            if inside.any():
                rows = self.places.of(some[inside].tolist())
                probs[inside] = self.model.classifier.classify(self.vectors[rows])
            if not inside.all():
                made = self.maker.vectors(some[~inside], lambda count: None)
                probs[np.flatnonzero(~inside)[made.rows]] = self.model.classifier.classify(made.matrix)
            known = ~np.isnan(probs[:, 0])
            if known.any():
                yield Predicted(project.items.of(some[known].tolist()), probs[known])


def model_of_project(project: Project, tell: Tell) -> ProjectModel | None:
    """Return the model of a project, fitted to all labels; where there is none, say so and return None."""
    last, settings = project.rounds.last(), project.settings
    saved = None if last is None else read_saved(last.session)
    if saved is None:
        tell(NO_MODEL)
        return None
    places, maker = Places(saved.ids), maker_named(project, settings, saved.vectors)
    with Progress(len(saved.ids), title=f"features {maker.name}", unit="items", always=False) as progress:
        _, vectors = remake_vectors(maker, saved, progress.advance)
    session = Session.from_bytes(saved.session, vectors, suited_model(settings, len(project.answers.labels())))
    if not _catch_up(session, project.answers.labels(), places):
        tell(NO_MODEL)
        return None
    session = suited_session(session, settings)
    names = {one.id: one.name for one in project.classes.all()}
    return ProjectModel(
        settings,
        model_of(session, vectoriser_of(maker), names),
        places,
        vectors,
        maker,
        session.estimate_accuracy() if len(session.pool.open) else None,
        session.calibration,
    )


def maker_named(project: Project, settings: Settings, name: str) -> Maker:
    """Return what makes the vectors of this name."""
    if name.startswith(f"{ImageVectors.name}-"):
        return Maker(project, settings.kind, ImageVectors(int(name.rpartition("-")[2]), remembered=True))
    for maker in makers_of(project, settings):
        if maker.name == name:
            return maker
    raise InvalidInput(
        f"the last model was fitted on the vectors {name!r}, but the project now has others; start `cusal label` "
        "again, and export when it has learned from them."
    )


def vectoriser_of(maker: Maker) -> Vectoriser:
    """Return what makes such vectors of new data, after the maker has made some."""
    return type(maker.vectoriser).restore(maker.vectoriser.state())


def _catch_up(session: Session, labels: dict[int, int], places: Places) -> bool:
    """Bring a session up to date with the labels; return whether a model can be fitted to them."""
    known = {item: label for item, label in labels.items() if item in places}
    now = dict(zip(places.of(known).tolist(), known.values(), strict=True))
    before = session.labels
    gone = [place for place in before if place not in now]
    new = {place: label for place, label in now.items() if before.get(place) != label}
    if gone:
        session.reopen(gone)
    if new:
        session.tell(list(new), list(new.values()))
    return len(set(now.values())) >= 2


def _accuracy(found: AccuracyEstimate | None) -> dict[str, Any] | None:
    names = ("estimate", "low", "high", "labels", "drawn", "guessing")
    return None if found is None else {name: getattr(found, name) for name in names}


def _calibration(found: CalibrationEstimate) -> dict[str, Any]:
    before, after = found.ece_before_interval or (None, None), found.ece_after_interval or (None, None)
    return {
        "temperature": found.temperature,
        "evidence": found.evidence,
        "ece_before": found.ece_before,
        "ece_before_low": before[0],
        "ece_before_high": before[1],
        "ece_after": found.ece_after,
        "ece_after_low": after[0],
        "ece_after_high": after[1],
    }
