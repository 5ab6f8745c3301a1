"""Data sets of Hugging Face's `datasets` (5.2.0) as items and first labels of a session, and labelled ones back."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from cusal._items import LABEL_NAMES
from cusal.adapters._library import library_needed
from cusal.adapters.frames import predicted_columns
from cusal.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from cusal.session.session import Session

UNLABELLED = -1  # the number of a missing label in a column of classes


def from_hugging_face(
    dataset: Any, column: str | list[str] | None = None, *, label: str | None = None
) -> tuple[Any, dict[int, Hashable]]:
    """Return the items of a data set, and the labels that it has, as a session takes them.

    Parameters
    ----------
    dataset : datasets.Dataset
        One split.
    column : str or list of str, optional
        Where the items are: texts, vectors, images of one size, or several columns as a table. All columns but the
        label by default.
    label : str, optional
        The column of labels; "label", "labels", "target" or "y" by default, if there is one. Labels that are None or
        -1 are missing.

    Returns
    -------
    items : list of str, array or pandas.DataFrame
        In the order of the data set.
    labelled : dict
        Labels by position; a class of the data set by its name.

    Raises
    ------
    UnknownName
        If there is no such column.
    InvalidInput
        If images differ in size.

    Examples
    --------
    >>> from datasets import Dataset
    >>> data = Dataset.from_dict({"text": ["good film", "bad film", "fine plot"], "label": [1, 0, -1]})
    >>> from_hugging_face(data)
    (['good film', 'bad film', 'fine plot'], {0: 1, 1: 0})
    """
    label = label or next((name for name in LABEL_NAMES if name in dataset.column_names), None)
    names = [column] if isinstance(column, str) else column
    names = names or [name for name in dataset.column_names if name != label]
    for name in [*names, *([label] if label else [])]:
        if name not in dataset.column_names:
            raise UnknownName("column", name, dataset.column_names)
    items = _items(dataset, names[0]) if len(names) == 1 else dataset.select_columns(names).to_pandas()
    return items, {} if label is None else _labels(dataset, label)


def to_hugging_face(session: "Session", dataset: Any, *, label: str = "label", predictions: bool = False) -> Any:
    """Return the data set with the labels that a session was told.

    Parameters
    ----------
    session : Session
        Over the items of the data set, in its order.
    dataset : datasets.Dataset
        The one that the items came from.
    label : str, default "label"
        The column of labels, which is replaced if it is there.
    predictions : bool, default False
        Whether to keep the items without a label, and add the columns `prediction` and `confidence`; a missing label
        is -1, or None if labels are no texts.

    Returns
    -------
    datasets.Dataset
        The labelled items, or all with predictions. Labels that are texts are classes with names.

    Raises
    ------
    InvalidInput
        If the data set has another number of rows than the session has items.

    Examples
    --------
    >>> import cusal
    >>> from datasets import Dataset
    >>> data = Dataset.from_dict({"text": ["good film", "bad film", "fine plot", "dull plot"]})
    >>> items, labelled = from_hugging_face(data)
    >>> session = cusal.Session(items, labelled={0: "positive", 3: "negative"})
    >>> to_hugging_face(session, data)[1]
    {'text': 'dull plot', 'label': 0}
    """
    with library_needed("cusal.adapters.to_hugging_face"):
        from datasets import ClassLabel, Value
    if len(dataset) != len(session.pool):
        raise InvalidInput(
            f"the data set has {len(dataset)} rows, the session {len(session.pool)} items; give its own."
        )
    told = session.labels
    names = [str(name) for name in session.classes_.tolist()]
    are_texts = all(isinstance(name, str) for name in session.classes_.tolist())
    rows = list(range(len(dataset))) if predictions else sorted(told)
    kept = (dataset if predictions else dataset.select(rows)).remove_columns(
        [name for name in (label, *_ADDED) if name in dataset.column_names]
    )
    numbers = {name: number for number, name in enumerate(names)}
    labels = [numbers[str(told[i])] if i in told else UNLABELLED for i in rows] if are_texts else [*map(told.get, rows)]
    kept = kept.add_column(label, labels)
    if are_texts and names:
        kept = kept.cast_column(label, ClassLabel(names=names))
    if not predictions:
        return kept
    columns = predicted_columns(session)
    for name, kind in zip(_ADDED, (None, Value("float64")), strict=True):
        values = columns[name].tolist()
        kept = kept.add_column(name, values) if kind is None else kept.add_column(name, values).cast_column(name, kind)
    return kept


_ADDED = ("prediction", "confidence")


def _items(dataset: Any, name: str) -> Any:
    """Return a column as texts or as an array of numbers."""
    values = dataset[name][:]
    if len(values) == 0 or isinstance(values[0], str):
        return list(values)
    arrays = [np.asarray(value) for value in values]
    if len({array.shape for array in arrays}) > 1:
        raise InvalidInput(
            f"the column {name!r} has values of different shapes, such as {arrays[0].shape}; resize or pad them first."
        )
    stacked = np.stack(arrays)
    is_image = hasattr(values[0], "getbands")  # Pillow's
    return stacked.astype(np.float32) / 255 if is_image else stacked


def _labels(dataset: Any, name: str) -> dict[int, Hashable]:
    values, kind = dataset[name][:], dataset.features[name]
    known = {row: value for row, value in enumerate(values) if value is not None and value != UNLABELLED}
    return {row: kind.int2str(value) for row, value in known.items()} if hasattr(kind, "int2str") else known
