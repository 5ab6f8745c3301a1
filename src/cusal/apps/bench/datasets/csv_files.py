"""Published tables and collections of texts, each kept as one CSV file with a header row and a column `label`.

A table has a number in every other column; texts stand in a column `text`. `columns.py` says the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cusal.apps.bench.datasets.columns import TEXT, OwnTable
from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.files import find_form
from cusal.tables import read

Keep = Callable[[dict[str, Sequence[str]]], list[int]]


def csv_source(
    path: str, title: str, *, classes: int, sizes: tuple[int, int], shape: tuple[int, ...] = (), licence: str
) -> Source:
    """Return the source of a data set in one CSV file.

    Parameters
    ----------
    path : str
        Its file, from the folder of all data sets.
    title : str
        What people call it.
    classes : int
        Number of classes.
    sizes : (int, int)
        Train and test items.
    shape : tuple of int
        (columns,) of a table, () of texts.
    licence : str
        Under which terms it may be used.
    """
    folder, file = path.split("/")
    content = "text and label" if not shape else f"{shape[0]} numbers and a label"
    return Source(
        title=title,
        classes=classes,
        shape=shape,
        train=sizes[0],
        test=sizes[1],
        licence=licence,
        folder=folder,
        forms=((file,), (file.removesuffix(".gz"),)),
        advice=f"write it as a CSV file with a header row and the columns {content}",
    )


def load_csv(
    name: str, source: Source, folder: Path, *, without: tuple[str, ...] = (), keep: Keep | None = None
) -> Dataset:
    """Return the data set in the CSV file of its source.

    `without` names columns to leave out; `keep` returns the rows to take, from the columns by name.
    """
    (path,) = find_form(name, source, folder)
    columns: dict[str, Sequence[str]] = dict(read(path, header=True, strict=True).values())
    if keep is not None:
        rows = keep(columns)
        columns = {title: [column[row] for row in rows] for title, column in columns.items()}
    columns = {title: column for title, column in columns.items() if title not in without}
    label = "label" if "label" in columns else list(columns)[-1]
    table = OwnTable("csv", path, columns, label, 2, text=TEXT if TEXT in columns else None)
    return replace(table.as_dataset(), name=name, reading="")
