"""Predictions in a table: which columns hold the label, the confidence, the id and the text, and what they say.

A table has a predicted label with one confidence, or a column of probabilities for each class. Columns are found by
their names, or named by the user. Log probabilities, as the interfaces of language models give them, are recognised
by the name of their column or because none is above 0.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from math import exp, isfinite
from typing import Any

import numpy as np

from cusal._tables import Records, open_table
from cusal._types import Indices
from cusal.audit.audit import Audit
from cusal.errors import DataError, UnknownName

LABEL_NAMES = ("predicted", "prediction", "predicted_label", "pred", "label", "class", "answer")
CONFIDENCE_NAMES = (
    "confidence",
    "score",
    "probability",
    "prob",
    "p",
    "logprob",
    "log_prob",
    "logprobs",
    "logprobability",
)
ID_NAMES = ("id", "key", "item", "file", "filename", "path", "image", "url", "uuid")
TEXT_NAMES = ("text", "content", "sentence", "question", "message", "title", "image", "path", "file")
SUM_TOLERANCE = 0.02  # of the probabilities of a row
TRIED = 50  # rows that show whether columns are probabilities
Record = dict[str, Any]
MOST_VALUES = 50  # of a column whose values are slices


@dataclass(frozen=True)
class Columns:
    """The names of the columns that matter; None where one is to be found, or is not there."""

    label: str | None = None
    confidence: str | None = None
    id: str | None = None
    text: str | None = None


@dataclass
class PredictionTable:
    """The predictions of a table, item by item, in the order of its rows.

    slices: columns with few values, as codes (n,) into their values.
    """

    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    confidence: "array[float]" = field(default_factory=lambda: array("d"))
    texts: list[str] | None = None
    slices: dict[str, tuple[list[str], Indices]] = field(default_factory=dict)

    def audit(self, seed: int) -> Audit:
        """Return the audit of these predictions."""
        return Audit(predicted=self.labels, confidence=np.array(self.confidence), ids=self.ids, seed=seed)


def read_predictions(path: str, columns: Columns) -> PredictionTable:
    """Return the predictions of a table, or raise a DataError that says which column is missing."""
    rows, found = open_predictions(path, columns)
    table = PredictionTable(texts=[] if found.text is not None else None)
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


def open_predictions(path: str, columns: Columns) -> "tuple[Records, FoundColumns]":
    """Return the rows of a table, and which of its columns hold the predictions."""
    rows = open_table(path)
    return rows, FoundColumns(path, rows, columns)


class FoundColumns:
    """The names of the columns; None where there is none. `others` say nothing of the prediction."""

    def __init__(self, path: str, rows: Records, wanted: Columns) -> None:
        self.path, self.columns = path, rows.columns
        self.label = self._name(wanted.label, LABEL_NAMES)
        self.confidence = self._name(wanted.confidence, CONFIDENCE_NAMES)
        self.id = self._name(wanted.id, ID_NAMES)
        self.text = self._name(wanted.text, TEXT_NAMES)
        self.classes = self._probability_columns(rows)
        if self.label is None and not self.classes:
            raise DataError(
                f"{self.path} has the columns {', '.join(self.columns)}; none is called "
                f"{', '.join(LABEL_NAMES)}, and no columns are probabilities that sum to one. "
                "Name the predicted label with --label."
            )
        used = {self.label, self.confidence, self.id, self.text, *self.classes}
        self.others = [name for name in self.columns if name not in used]
        self.logarithms = self.confidence is not None and "log" in self.confidence.lower()

    def prediction(self, row: Record, number: int) -> tuple[str, float]:
        """Return the predicted label and its confidence, NaN if that is missing."""
        if self.label is not None and self.confidence is not None:
            return self._label(row, number), self._number(row.get(self.confidence), number)
        if self.classes:
            values = [self._number(row.get(name), number) for name in self.classes]
            best = max(range(len(values)), key=values.__getitem__)
            label = self.classes[best] if self.label is None else self._label(row, number)
            return label, values[best]
        return self._label(row, number), float("nan")

    def _label(self, row: Record, number: int) -> str:
        value = None if self.label is None else row.get(self.label)
        if value is None or str(value).strip() == "":
            raise DataError(f"{self.path}: row {number + 1} has no predicted label; fill it in, or leave the row out.")
        return str(value).strip()

    def _number(self, value: Any, number: int) -> float:
        if value is None or value == "":
            return float("nan")
        try:
            return float(value)
        except (TypeError, ValueError):
            raise DataError(f"{self.path}: row {number + 1} has the confidence {value!r}; expected a number.") from None

    def _name(self, wanted: str | None, names: Iterable[str]) -> str | None:
        if wanted is not None:
            if wanted not in self.columns:
                raise UnknownName("column", wanted, self.columns)
            return wanted
        lower = {name.lower(): name for name in reversed(self.columns)}
        return next((lower[name] for name in names if name in lower), None)

    def _probability_columns(self, rows: Records) -> list[str]:
        """Return the columns that are probabilities of classes: in the first rows they sum to one."""
        taken = {self.label, self.confidence, self.id, self.text}
        tried = list(islice(rows.records(), TRIED))
        names = [
            name
            for name in self.columns
            if name not in taken and tried and all(_is_share(row.get(name)) for row in tried)
        ]
        sums = [sum(float(row[name]) for name in names) for row in tried]
        return names if len(names) > 1 and all(abs(total - 1) < SUM_TOLERANCE for total in sums) else []


def _is_share(value: Any) -> bool:
    try:
        return 0 <= float(value) <= 1
    except (TypeError, ValueError):
        return False


def _as_probabilities(table: PredictionTable, found: FoundColumns) -> None:
    """Turn log probabilities and percentages into probabilities."""
    values = [value for value in table.confidence if isfinite(value)]
    if values and (max(values) <= 0 and (found.logarithms or min(values) < 0)):
        table.confidence = array("d", (exp(value) for value in table.confidence))
    elif found.logarithms and values and max(values) > 0:
        raise DataError(
            f"{found.path}: a log probability is {max(values):g}; expected 0 or less. Name another with --confidence."
        )
    elif values and 1 < max(values) <= 100:
        table.confidence = array("d", (value / 100 for value in table.confidence))


def _keep_slices(kept: "dict[str, tuple[dict[str, int], array[int]]]", row: Record) -> None:
    for name in list(kept):
        values, codes = kept[name]
        codes.append(values.setdefault(str(row.get(name)), len(values)))
        if len(values) > MOST_VALUES:
            del kept[name]
