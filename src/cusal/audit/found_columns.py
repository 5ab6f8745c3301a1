"""Which columns of a table hold the predictions: found by their names and contents, or named by the user."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cusal.errors import DataError, UnknownName
from cusal.tables import Table
from cusal.tables.confidence_cells import as_distribution, as_number, as_shares, is_log
from cusal.tables.names import CONFIDENCE_NAMES, ID_NAMES, PLACE_NAMES, PREDICTED_NAMES, TEXT_NAMES

TRIED = 50  # rows that show whether columns are probabilities
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Columns:
    """The names of the columns that matter; None where one is to be found, or is not there."""

    label: str | None = None
    confidence: str | None = None
    id: str | None = None
    text: str | None = None


class FoundColumns:
    """The names of the columns; None where there is none. `others` say nothing of the prediction.

    classes: the columns of probabilities, one for each class. nested: the column that holds them all.
    """

    def __init__(self, path: str, rows: Table, wanted: Columns) -> None:
        self.path, self.columns = path, rows.columns
        tried = list(islice(rows.records(), TRIED))
        self.label = self._name(wanted.label, PREDICTED_NAMES)
        self.confidence = self._name(wanted.confidence, CONFIDENCE_NAMES)
        self.id = self._name(wanted.id, (*ID_NAMES, *PLACE_NAMES))
        self.text = self._name(wanted.text, TEXT_NAMES)
        self.classes = self._probability_columns(tried)
        self.nested = None if self.classes else self._nested_column(tried, wanted.confidence)
        if self.confidence == self.nested:
            self.confidence = None
        if self.label is None and not self.classes and self.nested is None:
            raise DataError(
                f"{self.path} has the columns {', '.join(self.columns)}; none is called "
                f"{', '.join(PREDICTED_NAMES)}, and no columns are probabilities that sum to one. "
                "Name the predicted label with --label."
            )
        used = {self.label, self.confidence, self.id, self.text, self.nested, *self.classes}
        self.others = [name for name in self.columns if name not in used]
        self.logarithms = self.confidence is not None and (
            "log" in self.confidence.lower() or any(is_log(row.get(self.confidence)) for row in tried)
        )

    def __str__(self) -> str:
        """Return which column was taken for what."""
        label = f"the label from {self.label}" if self.label is not None else "as label the most probable class"
        sure = "no confidence (name its column with --confidence)"
        if self.label is not None and self.confidence is not None:
            sure = f"the confidence from {self.confidence}" + " (log probabilities)" * self.logarithms
        elif self.classes:
            sure = f"probabilities from {len(self.classes)} columns, {self.classes[0]} to {self.classes[-1]}"
        elif self.nested is not None:
            sure = f"probabilities from {self.nested}"
        name = "the number of the row as id" if self.id is None else f"the id from {self.id}"
        text = "" if self.text is None else f", the text from {self.text}"
        return f"{label}, {sure}, {name}{text}"

    def prediction(self, row: Record, number: int) -> tuple[str, float]:
        """Return the predicted label and its confidence, NaN if that is missing."""
        if self.label is not None and self.confidence is not None:
            return self._label(row, number), self._number(row.get(self.confidence), number)
        shares = self._shares(row, number)
        if self.label is None:
            if not shares:
                raise DataError(f"{self.path}: row {number + 1} has no probabilities; fill them in, or leave it out.")
            label = max(shares, key=shares.__getitem__)
        else:
            label = self._label(row, number)
        return label, shares.get(label, max(shares.values(), default=float("nan")))

    def _shares(self, row: Record, number: int) -> dict[str, float]:
        """Return the probability of each class in a row; none where there are none."""
        if self.nested is not None:
            value = row.get(self.nested)
            found = as_distribution(value)
            if found is None and value not in (None, ""):
                raise DataError(
                    f"{self.path}: row {number + 1} has the probabilities {value!r}; expected one for each class, "
                    "which sum to one."
                )
            return found or {}
        values = [self._number(row.get(name), number) for name in self.classes]
        return dict(zip(self.classes, as_shares(values) or values, strict=True))

    def _label(self, row: Record, number: int) -> str:
        value = None if self.label is None else row.get(self.label)
        if value is None or str(value).strip() == "":
            raise DataError(f"{self.path}: row {number + 1} has no predicted label; fill it in, or leave the row out.")
        return str(value).strip()

    def _number(self, value: Any, number: int) -> float:
        found = as_number(value)
        if found is None:
            raise DataError(
                f"{self.path}: row {number + 1} has the confidence {value!r}; expected a number, a percentage or the "
                "log probabilities of tokens."
            )
        return found

    def _name(self, wanted: str | None, names: Iterable[str]) -> str | None:
        if wanted is not None:
            if wanted not in self.columns:
                raise UnknownName("column", wanted, self.columns)
            return wanted
        lower = {name.lower(): name for name in reversed(self.columns)}
        return next((lower[name] for name in names if name in lower), None)

    def _probability_columns(self, tried: list[dict[str, Any]]) -> list[str]:
        """Return the columns that are probabilities of classes: in the first rows they sum to one."""
        taken = {self.label, self.confidence, self.id, self.text}
        for usual in (_is_share, _is_log_share):
            names = [
                name
                for name in self.columns
                if name not in taken and tried and all(usual(row.get(name)) for row in tried)
            ]
            rows = [[float(row[name]) for name in names] for row in tried]
            if len(names) > 1 and all(as_shares(values) is not None for values in rows):
                return names
        return []

    def _nested_column(self, tried: list[dict[str, Any]], confidence: str | None) -> str | None:
        """Return the column in which every row holds the probabilities of all classes, or None."""
        taken = {self.label, self.id, self.text}
        names = [confidence] if confidence is not None else [name for name in self.columns if name not in taken]
        for name in names:
            filled = [row.get(name) for row in tried if row.get(name) not in (None, "")]
            if filled and all(as_distribution(value) is not None for value in filled):
                return name
        return None


def _is_share(value: Any) -> bool:
    try:
        return 0 <= float(value) <= 1
    except (TypeError, ValueError):
        return False


def _is_log_share(value: Any) -> bool:
    try:
        return float(value) <= 0
    except (TypeError, ValueError):
        return False
