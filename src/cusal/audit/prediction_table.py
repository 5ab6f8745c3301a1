"""Predictions in a table: which columns hold the label, the confidence, the id and the text, and what they say.

A table has a predicted label with one confidence, a column of probabilities for each class, or a column that holds
them all. Columns are found by their names, or named by the user. Log probabilities, as the interfaces of language
models give them, are recognised by the name of their column or because none is above 0.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, isfinite

import numpy as np

from cusal._types import Indices
from cusal.audit.audit import Audit
from cusal.audit.tool_files import RowsOfTool, open_source
from cusal.errors import DataError
from cusal.tables import NamedColumns, Roles, Table, roles
from cusal.tables.confidence_cells import as_distribution, as_number, as_shares
from cusal.tables.files import Record
from cusal.tables.names import PREDICTED_NAMES

ROUNDING = 1e-6  # how far confidences may lie outside of 0 and 1
MOST_VALUES = 50  # of a column whose values are slices


@dataclass
class PredictionTable:
    """The predictions of a table, item by item, in the order of its rows.

    Parameters
    ----------
    ids : list of str
        By default the numbers of the rows.
    labels : list of str
        The predicted ones.
    confidence : array of float
        NaN where it is missing.
    texts : list of str or None
        What was predicted from, if a column holds it.
    slices : dict of str to pair
        Columns with few values: the values, and codes (n,) into them.
    reading : str
        Which column was taken for what.
    columns : list of str
        All but those of the id and of the prediction.
    source : Table or None
        Where the rows are read again.

    Examples
    --------
    >>> PredictionTable(ids=["a", "b"], labels=["cat", "dog"], confidence=array("d", [0.9, 0.6])).audit(seed=0)
    Audit(2 predictions of 2 classes, 0 checked)
    """

    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    confidence: "array[float]" = field(default_factory=lambda: array("d"))
    texts: list[str] | None = None
    slices: dict[str, tuple[list[str], Indices]] = field(default_factory=dict)
    reading: str = ""
    columns: list[str] = field(default_factory=list)
    source: Table | None = None

    def audit(self, seed: int) -> Audit:
        """Return the audit of these predictions."""
        return Audit(predicted=self.labels, confidence=np.array(self.confidence), ids=self.ids, seed=seed)

    def source_rows(self, items: Sequence[int]) -> list[Record]:
        """Return the rows of some items with all their columns."""
        wanted, found = set(items), {}
        if self.source is not None and wanted:
            for number, row in enumerate(self.source.records()):
                if number in wanted:
                    found[number] = row
                    if len(found) == len(wanted):
                        break
        return [found.get(item, {}) for item in items]


def read_predictions(path: str, columns: NamedColumns | None = None) -> PredictionTable:
    """Return the predictions of a table.

    Parameters
    ----------
    path : str
        A CSV, TSV, JSONL or Parquet file, or one that a tool for evaluating language models writes.
    columns : NamedColumns, optional
        The names of columns that are not found by themselves.

    Returns
    -------
    PredictionTable

    Raises
    ------
    DataError
        If a column is missing, or a row cannot be read.

    Examples
    --------
    ::

        audit = cusal.audit.read_predictions("predictions.csv").audit(seed=0)
    """
    rows, found = open_predictions(path, columns)
    table = PredictionTable(texts=[] if found.text is not None else None, reading=str(found), source=rows)
    if isinstance(rows, RowsOfTool) and rows.tool:
        table.reading = f"{table.reading} (a file of {rows.tool})"
    ours = {found.id, found.label, found.confidence, found.nested, *found.classes}
    table.columns = [name for name in rows.columns if name not in ours]
    kept: dict[str, tuple[dict[str, int], array[int]]] = {name: ({}, array("q")) for name in found.others}
    for number, row in enumerate(rows.records()):
        label, confidence = _prediction(found, row, f"{path}: row {number + 1}")
        table.ids.append(str(number if found.id is None else row.get(found.id)))
        table.labels.append(label)
        table.confidence.append(confidence)
        if table.texts is not None and found.text is not None:
            table.texts.append(str(row.get(found.text)))
        _keep_slices(kept, row)
    if not table.labels:
        raise DataError(f"{path} has no rows; expected one for each prediction.")
    if len(set(table.ids)) < len(table.ids):
        raise DataError(f"{path}: an id of column {found.id!r} occurs twice; name another with --id.")
    _as_probabilities(table, found, path)
    table.slices = {name: (list(values), np.array(codes)) for name, (values, codes) in kept.items() if len(values) > 1}
    return table


def open_predictions(path: str, columns: NamedColumns | None = None) -> tuple[Table, Roles]:
    """Return the rows of a table, which are read as they are needed, and which of its columns hold the predictions.

    Parameters
    ----------
    path, columns
        As `read_predictions` takes them.

    Returns
    -------
    Table, Roles

    Raises
    ------
    DataError
        If no column holds predictions.

    Examples
    --------
    ::

        rows, found = cusal.audit.open_predictions("predictions.csv")
        print(found, next(rows.records()))
    """
    rows = open_source(path, header=columns.header if columns else None)
    found = roles(rows, columns, predictions=True)
    if found.label is None and not found.classes and found.nested is None:
        raise DataError(
            f"{path} has the columns {', '.join(rows.columns)}; none is called {', '.join(PREDICTED_NAMES)}, and no "
            "columns are probabilities that sum to one. Name the predicted label with --predicted."
        )
    return rows, found


def _prediction(found: Roles, row: Record, where: str) -> tuple[str, float]:
    """Return the predicted label of a row and its confidence, NaN if that is missing."""
    if found.label is not None and found.confidence is not None:
        return _label(found.label, row, where), _number(row.get(found.confidence), where)
    shares = _shares(found, row, where)
    if found.label is None:
        if not shares:
            raise DataError(f"{where} has no probabilities; fill them in, or leave it out.")
        label = max(shares, key=shares.__getitem__)
    else:
        label = _label(found.label, row, where)
    return label, shares.get(label, max(shares.values(), default=float("nan")))


def _shares(found: Roles, row: Record, where: str) -> dict[str, float]:
    """Return the probability of each class in a row; none where there are none."""
    if found.nested is not None:
        value = row.get(found.nested)
        shares = as_distribution(value)
        if shares is None and value not in (None, ""):
            raise DataError(f"{where} has the probabilities {value!r}; expected one for each class, which sum to one.")
        return shares or {}
    values = [_number(row.get(name), where) for name in found.classes]
    return dict(zip(found.classes, as_shares(values) or values, strict=True))


def _label(name: str, row: Record, where: str) -> str:
    value = row.get(name)
    if value is None or str(value).strip() == "":
        raise DataError(f"{where} has no predicted label; fill it in, or leave the row out.")
    return str(value).strip()


def _number(value: object, where: str) -> float:
    found = as_number(value)
    if found is None:
        raise DataError(
            f"{where} has the confidence {value!r}; expected a number, a percentage or the log probabilities of tokens."
        )
    return found


def _as_probabilities(table: PredictionTable, found: Roles, path: str) -> None:
    """Turn log probabilities and percentages into probabilities, or raise a DataError."""
    values = [value for value in table.confidence if isfinite(value)]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    if high <= ROUNDING and (found.logarithms or low < -ROUNDING):
        table.confidence = array("d", (min(exp(value), 1.0) for value in table.confidence))
    elif found.logarithms and high > 0:
        raise DataError(f"{path}: a log probability is {high:g}; expected 0 or less. Name another with --confidence.")
    elif low < -ROUNDING or high > 100 + ROUNDING or 1 + ROUNDING < high <= 2:  # percentages go above 2
        raise DataError(
            f"{path}: the column {found.confidence} goes from {low:g} to {high:g}; expected numbers from 0 to 1, "
            "percentages, or log probabilities. Name another with --confidence."
        )
    else:
        whole = 1 if high <= 1 + ROUNDING else 100
        table.confidence = array("d", (min(max(value / whole, 0.0), 1.0) for value in table.confidence))


def _keep_slices(kept: "dict[str, tuple[dict[str, int], array[int]]]", row: Record) -> None:
    for name in list(kept):
        values, codes = kept[name]
        codes.append(values.setdefault(str(row.get(name)), len(values)))
        if len(values) > MOST_VALUES:
            del kept[name]
