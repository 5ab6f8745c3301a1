"""What `cusal export` and `cusal predict` do."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cusal._files import writing
from cusal.apps.label.export import formats as known
from cusal.apps.label.export.card import make_card
from cusal.apps.label.export.new_data import open_new_data
from cusal.apps.label.export.predict import write_predictions
from cusal.apps.label.export.project_model import model_of_project
from cusal.apps.label.export.write import dated_folder, write_archive, write_export
from cusal.apps.label.sources import default_place
from cusal.apps.label.store.project import Project
from cusal.deploy import ItemClassifier, load_model
from cusal.errors import DataError, InvalidInput, NotReady
from cusal.tables import is_table, writer_of

SHOWN = 5  # skipped items that are named; the file beside the predictions has all


def export(place: str, out: str | None, formats: Sequence[str], *, force: bool = False) -> list[Path]:
    """Write an export of a project, by default to a new folder beside it; return the paths of its files."""
    for name in formats:
        known.find(name)
    with Project(project_place(place)) as project:
        return write_export(project, out or _new_folder(project), formats, force=force, tell=say)


def export_archive(place: str, folder: str, formats: Sequence[str]) -> Path:
    """Write an export of a project as one zip file with a new name into a folder; return its path."""
    with Project(project_place(place)) as project:
        name = f"{_name(project)}-{time.strftime('%Y-%m-%d-%H%M%S')}"
        with writing(folder):
            Path(folder).mkdir(parents=True, exist_ok=True)
            return write_archive(project, folder, name, formats, tell=say)


def predict(model: str, data: str, out: str, *, text: str | None = None, trusted: bool = False) -> Path:
    """Classify new data by the model of a project or of a file; return the path of the table."""
    path = Path(out)
    writer_of(path)
    classifier = load_model(model, trusted=trusted) if _is_model(model) else _classifier(model)
    new = open_new_data(classifier, data, text)
    outcome = write_predictions(classifier, new, path)
    for note in new.notes():
        say(note)
    if outcome.skipped:
        say(f"{len(outcome.skipped):,} items could not be read and were skipped:")
        for key, reason in list(outcome.skipped.items())[:SHOWN]:
            say(f"  {key}: {reason}")
    if not outcome.count:
        raise DataError(f"no item of {data} could be predicted; see what was said of them.")
    return path


def project_place(given: str) -> str:
    """Return the place of a project that is named by its file, its URL, or its data."""
    path = Path(given).expanduser()
    if "://" in given or not (path.is_dir() or is_table(path)):
        return given
    return str(default_place(path))


def say(line: str) -> None:
    """Write a line for the person at the terminal."""
    print(line, file=sys.stderr, flush=True)


def _is_model(given: str) -> bool:
    path = Path(given).expanduser()
    if path.suffix == ".cusal" or not path.is_file():
        return path.suffix == ".cusal"
    with path.open("rb") as file:  # not zipfile.is_zipfile: a project may end with the zip file of its session
        return file.read(4) == b"PK\x03\x04"


def _classifier(place: str) -> ItemClassifier:
    with Project(project_place(place)) as project:
        model = model_of_project(project, lambda text: None)
        if model is None:
            raise NotReady(
                f"{place} has no model yet; label items of two classes with `cusal label`, and predict when it has "
                "learned from them."
            )
        model.model.classifier.card = make_card(project, model.describe())
        return model.model.classifier


def _new_folder(project: Project) -> Path:
    beside = Path.cwd() if "://" in project.place else Path(project.place).expanduser().parent
    return dated_folder(beside, _name(project), time.strftime("%Y-%m-%d"))


def _name(project: Project) -> str:
    if "://" in project.place:
        return Path(project.settings.data).stem or "project"
    return Path(project.place).name.removesuffix(".db").removesuffix(".cusal")


def as_formats(given: str) -> list[str]:
    """Return the formats of a list with commas."""
    formats = [name.strip() for name in given.split(",") if name.strip()]
    if not formats:
        raise InvalidInput(f"no format is named; choose any of {', '.join(known.names())}.")
    return formats
