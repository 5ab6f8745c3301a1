"""The project of `cusal label`: started on new data, or continued with the settings that were given again."""

import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cusal.apps.label.sources import ReadIn, Source, SourceOptions, default_place, open_source, read_in
from cusal.apps.label.store import ClassChange, Project
from cusal.apps.label.store.trusted_imports import require_named
from cusal.errors import DataError, InvalidInput, ProjectError

FIRST_ROWS = 5_000  # of a table; the worker reads the rest
FIRST_IMAGES = 20_000  # to list files takes less time than to read rows


@dataclass(frozen=True)
class Options:
    """The data and the settings of a project; None for what was not given.

    Parameters
    ----------
    data : str
        A folder of images, or a table.
    store : str or None
        The project file, or a database URL; by default beside the data.
    source : SourceOptions
        Which columns to read, and where known labels are.
    classes : tuple of str
        Names of classes to add.
    changes : dict
        Settings by name: batch, budget, overlap, features, model, seed.
    """

    data: str
    store: str | None = None
    source: SourceOptions = field(default_factory=SourceOptions)
    classes: tuple[str, ...] = ()
    changes: dict[str, Any] | None = None


@dataclass(frozen=True)
class Started:
    """An open project, whether all of its data were read in, and what is worth saying about them."""

    project: Project
    finished: bool
    remarks: list[str]


def start_project(options: Options) -> Started:
    """Open the project of some data, or make it, and read in the first items.

    Parameters
    ----------
    options : Options

    Returns
    -------
    Started

    Raises
    ------
    DataError, InvalidInput
        If the data cannot be read, or the options do not fit them.
    ProjectError
        If the options contradict the project that is there.
    """
    place = options.store or str(default_place(options.data))
    changes = _checked(options.changes or {})
    project = _existing(place)
    if project is None:
        source = open_source(options.data, options.source)
        project = Project.create(place, replace(source.settings(), **changes))
    else:
        source = _continue(project, options, changes)
    try:
        require_named(project.settings)
        if project.task.learns:
            _add_classes(project, options.classes)
            read = read_in(project, source, limit=FIRST_IMAGES if source.kind == "image" else FIRST_ROWS)
        else:
            from cusal.apps.label.audits.beginning import begin_audit  # loads SciPy, which labelling can do without

            read = begin_audit(project, source)
            _add_classes(project, options.classes)  # behind the predicted ones, whose numbers are fixed
    except BaseException:
        project.close()
        raise
    remarks = [*source.reading(), *_remarks(read, project.items.count("broken"), source.kind)]
    return Started(project, read.finished, remarks)


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    """Return settings that hold wherever the command is started next time."""
    features = changes.get("features")
    if features is None or not str(features).endswith(".npy"):
        return changes
    path = Path(features).expanduser()
    if not path.is_file():
        raise DataError(f"there is no file {features} with features; give a .npy file or package.module:function.")
    return {**changes, "features": str(path.resolve())}


def _existing(place: str) -> Project | None:
    if "://" not in place:
        return Project(place) if Path(place).expanduser().exists() else None
    try:
        return Project(place)
    except ProjectError as error:
        if error.__cause__ is not None:  # the database does not answer
            raise
        return None


def _continue(project: Project, options: Options, changes: dict[str, Any]) -> Source:
    """Return the data of a project that is there, after the options that were given again have become its settings."""
    known = project.settings
    saved = {name: value for name, value in known.options.items() if value is not None}
    given = {name: value for name, value in asdict(options.source).items() if value}
    if "labels" in saved and not Path(saved["labels"]).is_file():
        del saved["labels"]  # they were taken in
    _refuse_other_data(project, known.data, options.data)
    if options.source.audit and not known.task.shows_predictions:
        raise ProjectError(
            f"{project.place} is a project in which people label, and no audit; leave out --audit, or begin another "
            f"project: --store {Path(options.data).stem}-audit.cusal.db."
        )
    for name in ("text", "label"):
        _refuse_other(project, f"--{name}", known.columns.get(name), given.get(name))
    source = open_source(options.data, SourceOptions(**(saved | given)))
    found = source.settings()
    _refuse_other(project, "data of the kind", known.kind, found.kind)
    if "seed" in changes and changes["seed"] != known.seed and project.rounds.last_number() is not None:
        raise ProjectError(
            f"the project {project.place} was begun with --seed {known.seed}, and has learned from it; "
            "leave out --seed, or begin another project by --store."
        )
    project.change_settings(columns=found.columns, options=found.options, data=found.data, **changes)
    return source


def _refuse_other(project: Project, option: str, known: object, given: object) -> None:
    if known is not None and given is not None and known != given:
        raise ProjectError(
            f"the project {project.place} was begun with {option} {known}, not {given}; "
            f"leave out {option}, or begin another project by --store."
        )


def _refuse_other_data(project: Project, known: str, given: str) -> None:
    """Raise an error for data that are not those of the project; they may have moved with it, if the old are gone."""
    path = Path(given).expanduser().resolve()
    if str(path) != known and Path(known).exists():
        raise ProjectError(
            f"the project {project.place} is about {known}, not {path}; "
            "name another project by --store, or give the data that it is about."
        )


def _add_classes(project: Project, names: tuple[str, ...]) -> None:
    """Add classes by name; those that are there stay as they are."""
    if any(not name.strip() for name in names):
        raise InvalidInput(f"--classes {','.join(names)} holds an empty name; give names separated by commas.")
    known = {one.name for one in project.classes.all()}
    for name in dict.fromkeys(name.strip() for name in names):
        if name not in known:
            project.classes.change(ClassChange(str(uuid.uuid4()), "me", "add", name=name))


def _remarks(read: ReadIn, broken: int, kind: str) -> Iterator[str]:
    what = "files" if kind == "image" else "rows"
    if read.again and read.added:
        yield f"{read.added:,} {what} are new since the last start."
    if read.edited:
        yield f"{read.edited:,} rows have changed; they are asked again, and what they were is set aside as missing."
    if read.missing:
        yield f"{read.missing:,} {what} are not there any more; their items are left out until they return."
    if read.back:
        yield f"{read.back:,} {what} that were missing are back."
    if read.changed:
        yield f"{read.changed:,} files that were broken have changed, and are tried again."
    if broken:
        yield f"Set aside, because they cannot be read: {broken:,}. Browse lists them: Answer, Missing or broken."
    yield from read.notes
