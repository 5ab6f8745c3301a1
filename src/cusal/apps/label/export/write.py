"""Writing an export: labels with who and when, predictions of everything else, the model, and a card."""

import json
import os
import shutil
import uuid
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cusal._files import bring_to_disk, whole_file, write_whole, writing
from cusal._progress import Progress
from cusal.apps.label.export import formats as known
from cusal.apps.label.export.audit_table import check_formats, write_audit
from cusal.apps.label.export.card import card_text, make_card
from cusal.apps.label.export.contents import Overview, answered_items, open_items
from cusal.apps.label.export.project_model import ProjectModel, model_of_project
from cusal.apps.label.sources import row_numbers
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.validation import in_one_line
from cusal.errors import DataError, InvalidInput


@contextmanager
def new_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a hidden folder to write to, which becomes `folder` when all went well and is gone otherwise.

    A folder that is there already, and not empty, is an error unless `force` replaces it.
    """
    with writing(folder):
        if not force and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise DataError(f"{folder} is there already; choose another name with --out, or replace it with --force.")
        if force and folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file; expected a folder, or none: choose another name with --out.")
        part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.mkdir()
            yield part
            bring_to_disk(part)
            _put(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _put(part: Path, folder: Path) -> None:
    old = part.with_name(f"{part.name}.old")
    if folder.exists():
        os.replace(folder, old)
    os.replace(part, folder)
    shutil.rmtree(old, ignore_errors=True)


def dated_folder(beside: Path, name: str, day: str) -> Path:
    """Return a folder that is not there yet, named after what it holds and the day."""
    folder, number = beside / f"{name}-export-{day}", 1
    while folder.exists():
        number += 1
        folder = beside / f"{name}-export-{day}-{number}"
    return folder


Tell = Callable[[str], None]


def write_export(
    project: Project,
    folder: str | os.PathLike[str],
    formats: Sequence[str] = ("csv",),
    *,
    force: bool = False,
    tell: Tell = lambda text: None,
) -> list[Path]:
    """Write the labels of a project, predictions of its other items, the model and a card to a folder.

    Of an audit, write one table with every prediction, checked or not, and what was found in words.

    Parameters
    ----------
    project : Project
        It is only read.
    folder : path
        A folder that does not exist yet, or is empty. It appears when all its files are written.
    formats : sequence of str, default ("csv",)
        Any of csv, jsonl, parquet, labelstudio, imagefolder, and model, which adds nothing to the model and its card.
    force : bool, default False
        Replace a folder that is there.
    tell : function of a str, optional
        Called with sentences on what could not be written.

    Returns
    -------
    list of Path
        The files at the top of the folder, and the folder of images.

    Raises
    ------
    DataError
        If the folder is there already, or cannot be written.
    UnknownName
        If there is no such format.

    Examples
    --------
    ::

        with Project("photos.cusal.db") as project:
            write_export(project, "photos-export", ["csv", "imagefolder"])
    """
    folder = Path(folder)
    if project.task.shows_predictions:
        check_formats(formats)
        with new_folder(folder, force=force) as part:
            write_audit(project, part, formats)
            names = sorted(path.name for path in part.iterdir())
        return [folder / name for name in names]
    kinds = [known.find(name) for name in dict.fromkeys(formats)]
    with new_folder(folder, force=force) as part:
        model = _model(project, tell)
        card = make_card(project, None if model is None else model.describe())
        write_whole(part / "card.json", json.dumps(card, indent=2, ensure_ascii=False).encode())
        write_whole(part / "card.md", card_text(card).encode())
        if model is not None:
            try:
                model.write(part / "model.cusal", card)
            except InvalidInput as error:  # a model of the user's that no file can hold
                tell(f"The model is not in the export: {error}")
        with ExitStack() as stack:
            sinks = []
            for kind in kinds:
                sinks.append(kind(part, _overview(project, model, card["written"])))
                stack.callback(_close, sinks[-1], tell)
            _feed(sinks, project, model)
        names = sorted(path.name for path in part.iterdir())
    return [folder / name for name in names]


def write_archive(
    project: Project,
    folder: str | os.PathLike[str],
    name: str,
    formats: Sequence[str] = ("csv",),
    *,
    tell: Tell = lambda text: None,
) -> Path:
    """Write an export as one zip file NAME.zip into a folder, completely or not at all; return its path."""
    path = Path(folder) / f"{name}.zip"
    with TemporaryDirectory(prefix=".", dir=folder) as work:
        export = Path(work) / name
        write_export(project, export, formats, tell=tell)
        with whole_file(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(export.rglob("*")):
                archive.write(file, file.relative_to(work))
    return path


def _model(project: Project, tell: Tell) -> ProjectModel | None:
    """Return the model of a project; labels are exported also where it cannot be restored."""
    try:
        return model_of_project(project, tell)
    except Exception as error:  # features and models of the user's may raise anything
        tell(f"Only labels are exported, since the model cannot be used here: {in_one_line(error)}")
        return None


def _overview(project: Project, model: ProjectModel | None, written: str) -> Overview:
    predicted = None if model is None else model.classes
    classes = tuple(project.classes.all())
    return Overview(project.settings, classes, predicted, f"cusal {written}", row_numbers(project))


def _feed(sinks: Sequence[known.Sink], project: Project, model: ProjectModel | None) -> None:
    labels = project.answers.labels()
    for answered in answered_items(project, labels):
        for sink in sinks:
            sink.answered(answered)
    takers = [sink for sink in sinks if sink.takes_predictions]
    if model is None or not takers:
        return
    ids = open_items(project, labels)
    with Progress(len(ids), title="predicting", unit="items", always=False) as progress:
        for chunk in model.predictions(project, ids):
            for sink in takers:
                sink.predicted(chunk)
            progress.advance(len(chunk.items))


def _close(sink: known.Sink, tell: Tell) -> None:
    for note in sink.close():
        tell(note)
