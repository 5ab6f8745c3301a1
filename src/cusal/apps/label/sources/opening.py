"""Opening data of any kind, and where their project is kept by default: beside them."""

import os
from dataclasses import replace
from pathlib import Path

from cusal.apps.label.sources.image_folder import ImageFolder
from cusal.apps.label.sources.source import Source, SourceOptions
from cusal.apps.label.sources.tables import TableFile
from cusal.apps.label.store.project import Project
from cusal.errors import CusalError, DataError, InvalidInput, ProjectError
from cusal.tables import is_table, table_name

SUFFIX = ".cusal.db"


def open_source(path: str | os.PathLike[str], options: SourceOptions | None = None) -> Source:
    """Open a folder of images or a table.

    Parameters
    ----------
    path : path
        A folder with images, or a CSV, TSV, JSONL (also .gz) or Parquet file.
    options : SourceOptions, optional
        Which columns to read, and where known labels are.

    Returns
    -------
    Source
        With `kind`, `settings()`, `rows()`, `known_labels` and `notes()`; of a table, only the first rows are read yet.

    Raises
    ------
    DataError
        If there is no such file, it cannot be read, or holds no items.
    InvalidInput
        If the options do not fit the data.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "reviews.csv"
    ...     _ = path.write_text("id,review\\na7,What a film!\\nb1,Too long by half.\\n")
    ...     source = open_source(path)
    ...     list(source.rows())[1].text, source.settings().columns["text"]
    ('Too long by half.', 'review')
    """
    where, options = Path(path).expanduser(), options or SourceOptions()
    if options.labels is not None and not Path(options.labels).is_file():
        raise DataError(f"there is no file {options.labels} with known labels; check the path.")
    if not options.audit and options.confidence:
        raise InvalidInput("--confidence names a column of predictions; add --audit, or leave it out.")
    if where.is_dir() and options.audit:
        raise DataError(f"{path} is a folder, but --audit checks the predictions in a table; give CSV, JSONL, Parquet.")
    if where.is_dir():
        return ImageFolder(where, options)
    if not where.exists():
        raise DataError(f"there is no folder or table {path}; check the path.")
    if not is_table(where):
        raise DataError(f"{path} is no table that cusal reads; give CSV, TSV, JSONL (also .gz), Parquet, or a folder.")
    if not options.audit:
        return TableFile(where, options)
    from cusal.apps.label.sources.prediction_rows import PredictionRows  # loads SciPy, which labelling can do without

    return PredictionRows(where, options)


def source_of(project: Project) -> Source:
    """Open the data of a project as they were opened when it was made.

    A file of known labels that is gone by now is passed over: they were taken in.

    Parameters
    ----------
    project : Project
        Whose data.

    Returns
    -------
    Source

    Raises
    ------
    DataError
        If the data are not where they were.
    """
    settings = project.settings
    options = SourceOptions(**settings.options)
    if options.labels is not None and not Path(options.labels).is_file():
        options = replace(options, labels=None)
    return open_source(settings.data, options)


def row_numbers(project: Project) -> dict[str, int] | None:
    """Return the number of each row in the table as it is now, by the key of its item.

    None where items have paths or ids; nothing where the table is gone.

    Parameters
    ----------
    project : Project

    Returns
    -------
    dict of str to int, or None
    """
    settings = project.settings
    if settings.kind == "image" or settings.task.shows_predictions or settings.columns.get("key", "") is not None:
        return None
    try:
        source = source_of(project)
    except CusalError:
        return {}
    return {row.key: number for number, row in source.numbered()} if isinstance(source, TableFile) else None


def default_place(data: str | os.PathLike[str]) -> Path:
    """Return the path of the project file beside a folder or table.

    Parameters
    ----------
    data : path
        The folder or table; it need not hold a project yet.

    Returns
    -------
    Path
        `NAME.cusal.db`, in the folder that holds the data.

    Raises
    ------
    ProjectError
        If there is no project yet and none can be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     default_place(f"{folder}/reviews.csv").name
    'reviews.cusal.db'
    """
    path = Path(os.path.abspath(Path(data).expanduser()))  # not resolved: beside a link, not beside what it leads to
    name = table_name(path) if is_table(path) and not path.is_dir() else path.name or "data"
    place = path.parent / f"{name}{SUFFIX}"
    if not place.exists() and not os.access(path.parent, os.W_OK):
        raise ProjectError(
            f"the project of {path} would be kept in {path.parent}, which cannot be written; "
            f"name another place by --store, such as --store ~/{name}{SUFFIX}."
        )
    return place
