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
from cusal.audit.found_columns import Columns, FoundColumns, Record
from cusal.errors import DataError
from cusal.tables import Table, read

__all__ = ["Columns", "PredictionTable", "open_predictions", "read_predictions"]
MOST_VALUES = 50  # of a column whose values are slices


@dataclass
class PredictionTable:
    """The predictions of a table, item by item, in the order of its rows.

    slices: columns with few values, as codes (n,) into their values. reading: which column was taken for what.
    columns: all but those of the id and of the prediction. source: where the rows are read again.
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


def read_predictions(path: str, columns: Columns) -> PredictionTable:
    """Return the predictions of a table, or raise a DataError that says which column is missing."""
    rows, found = open_predictions(path, columns)
    table = PredictionTable(texts=[] if found.text is not None else None, reading=str(found), source=rows)
    ours = {found.id, found.label, found.confidence, found.nested, *found.classes}
    table.columns = [name for name in rows.columns if name not in ours]
    kept: dict[str, tuple[dict[str, int], array[int]]] = {name: ({}, array("q")) for name in found.others}
    for number, row in enumerate(rows.records()):
        label, confidence = found.prediction(row, number)
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
    _as_probabilities(table, found)
    table.slices = {name: (list(values), np.array(codes)) for name, (values, codes) in kept.items() if len(values) > 1}
    return table


def open_predictions(path: str, columns: Columns) -> tuple[Table, FoundColumns]:
    """Return the rows of a table, and which of its columns hold the predictions."""
    rows = read(path)
    return rows, FoundColumns(path, rows, columns)


def _as_probabilities(table: PredictionTable, found: FoundColumns) -> None:
    """Turn log probabilities and percentages into probabilities, or raise a DataError."""
    values = [value for value in table.confidence if isfinite(value)]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    if high <= 0 and (found.logarithms or low < 0):
        table.confidence = array("d", (exp(value) for value in table.confidence))
    elif found.logarithms and high > 0:
        raise DataError(
            f"{found.path}: a log probability is {high:g}; expected 0 or less. Name another with --confidence."
        )
    elif low < 0 or high > 100:
        raise DataError(
            f"{found.path}: the column {found.confidence} goes from {low:g} to {high:g}; expected numbers from 0 to 1, "
            "percentages, or log probabilities. Name another with --confidence."
        )
    elif high > 1:
        table.confidence = array("d", (value / 100 for value in table.confidence))


def _keep_slices(kept: "dict[str, tuple[dict[str, int], array[int]]]", row: Record) -> None:
    for name in list(kept):
        values, codes = kept[name]
        codes.append(values.setdefault(str(row.get(name)), len(values)))
        if len(values) > MOST_VALUES:
            del kept[name]
