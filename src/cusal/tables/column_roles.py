"""Which column of a table is what: one rule for each role, judged by names and by the first 1,000 rows.

id: has a name such as `id` or `uuid`, and another value in each row; else such as `file`, if it is not the text.
text: is called `text`; else holds the longest prose whose texts differ; else words, if the table has no numbers; else,
of predictions, is called `title`, `path` or alike.
known label: has a name such as `label` or `target`, and values that repeat.
predicted label, confidence: have a name such as `predicted` or `label`, `score` or `logprob`; of a judge, the label is
`verdict` or alike before all others.
probabilities: are columns of shares that sum to one, or one that holds them all.

A column that the user names is taken as such. A column of known labels is no feature and is shown to nobody; its labels
are used if some rows have none, since otherwise nothing would be left to label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cusal.errors import UnknownName
from cusal.tables.confidence_cells import as_distribution, as_shares, is_log
from cusal.tables.files import TEXT, Record, Table
from cusal.tables.names import (
    CONFIDENCE_NAMES,
    ID_NAMES,
    LABEL_NAMES,
    PLACE_NAMES,
    PREDICTED_NAMES,
    TEXT_NAMES,
    VERDICT_NAMES,
    find_name,
)
from cusal.tables.values import find_numbers, is_missing

SHARE_DISTINCT = 0.5  # of the texts in a column of texts, and at most of labels: categories repeat
FEWEST = 20  # values from which on it counts that most of them differ
TRIED = 50  # rows that show whether columns are probabilities


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for; None for a role that no column has.

    Parameters
    ----------
    id, text, label : str or None
        The columns of the ids, of the texts, and of the labels: known ones, or predicted ones.
    hidden : str or None
        A column of known labels that is not used.
    confidence : str or None
        How sure the predictions are.
    logarithms : bool
        Whether the confidence is given as log probabilities.
    classes : tuple of str
        Columns of probabilities, one for each class.
    nested : str or None
        The column that holds the probabilities of all classes.
    numbers : frozenset of str
        Columns of numbers.
    others : tuple of str
        All columns without a role.
    doubts : tuple of str
        Sentences on columns whose numbers are only likely.
    """

    id: str | None = None
    text: str | None = None
    label: str | None = None
    hidden: str | None = None
    confidence: str | None = None
    logarithms: bool = False
    classes: tuple[str, ...] = ()
    nested: str | None = None
    numbers: frozenset[str] = frozenset()
    others: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return which columns were taken for a prediction."""
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


@dataclass(frozen=True)
class NamedColumns:
    """The names of columns that the user gave; None where one is to be found.

    Parameters
    ----------
    text, label, id, confidence : str or None
        As in `Roles`. The id "" is none, as is the label "": a column of known labels is hidden and not used.
    header : bool or None
        Whether the first line of CSV names the columns; None to find out.
    judged : bool
        Whether the predictions are verdicts of a judge, so that an answer or a label is what was judged.
    """

    text: str | None = None
    label: str | None = None
    id: str | None = None
    confidence: str | None = None
    header: bool | None = None
    judged: bool = False


def roles(table: Table, named: NamedColumns | None = None, *, predictions: bool = False) -> Roles:
    """Return what the columns of a table are for.

    Parameters
    ----------
    table : Table
        From `read`.
    named : NamedColumns, optional
        Columns that the user named.
    predictions : bool
        Whether the labels of the table are predicted ones, which may have a confidence or probabilities.

    Returns
    -------
    Roles

    Raises
    ------
    UnknownName
        If the table has no column of a name that was given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cusal.tables import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "films.csv"
    ...     _ = path.write_text("key,review,stars\\na,What a film!,5\\nb,Too long by half.,2\\n")
    ...     found = roles(read(path))
    ...     found.id, found.text, found.others
    ('key', 'review', ('stars',))
    """
    named, columns = named or NamedColumns(), table.columns
    for option in ("text", "label", "id", "confidence"):
        name = getattr(named, option)
        if name and name not in columns:
            raise UnknownName(f"column (--{option})", name, columns)
    values = {name: [row[name] for row in table.sample if not is_missing(row.get(name))] for name in columns}
    return _predicted(table, named, values) if predictions else _known(table, named, values)


def _known(table: Table, named: NamedColumns, values: Mapping[str, list[Any]]) -> Roles:
    label = named.label or _label([name for name in table.columns if name not in (named.text, named.id)], values)
    used = label is not None and named.label != "" and (named.label == label or _is_partly_known(label, table, values))
    free = [name for name in table.columns if name != label]
    readings = {name: find_numbers(name, values[name]) for name in free if values[name]}
    notations = {name: reading.notation for name, reading in readings.items() if reading.notation is not None}
    numbers = frozenset(name for name, notation in notations.items() if notation.kind == "number")
    free = [name for name in free if name != named.text]
    key = named.id if named.id is not None else _id(free, ID_NAMES, values, len(table.sample))
    rest = [name for name in free if name != key and name not in numbers]
    text = named.text or _text(rest, values, words=not numbers - {key})
    if key is None:
        key = _id([name for name in free if name != text], PLACE_NAMES, values, len(table.sample))
    others = tuple(name for name in table.columns if name not in (text, label, key))
    doubts = tuple(readings[name].remark for name in others if name in readings and readings[name].remark)
    return Roles(
        key or None,
        text,
        label if used else None,
        None if used else label,
        numbers=numbers,
        others=others,
        doubts=doubts,
    )


def _predicted(table: Table, named: NamedColumns, values: Mapping[str, list[Any]]) -> Roles:
    columns, tried = table.columns, table.sample[:TRIED]
    usual = (*VERDICT_NAMES, *PREDICTED_NAMES) if named.judged else PREDICTED_NAMES
    label = named.label or find_name(columns, usual)
    confidence = named.confidence or find_name(columns, CONFIDENCE_NAMES)
    key = named.id or find_name(columns, (*ID_NAMES, *PLACE_NAMES))
    free = [name for name in columns if name not in (label, confidence, key, named.text)]
    classes = _probability_columns(free, tried)
    free = [name for name in columns if name not in (label, confidence, key, *classes)]
    text = named.text or _text(free, values, words=False) or find_name(filter(None, [*free, key]), TEXT_NAMES)
    holding = [named.confidence] if named.confidence else [name for name in columns if name not in (label, key, text)]
    nested = None if classes else _nested_column(holding, tried)
    confidence = None if confidence == nested else confidence
    log = confidence is not None and ("log" in confidence.lower() or any(is_log(row.get(confidence)) for row in tried))
    used = {label, confidence, key, text, nested, *classes}
    others = tuple(name for name in columns if name not in used)
    return Roles(key, text, label, None, confidence, log, tuple(classes), nested, others=others)


def _label(columns: Sequence[str], values: Mapping[str, list[Any]]) -> str | None:
    """Return the column of known labels: one with a usual name whose values repeat, and are no measurements."""
    for name in columns:
        cells = list(map(str, values[name]))
        repeat = len(cells) < FEWEST or len(set(cells)) <= SHARE_DISTINCT * len(cells)
        whole = not any(isinstance(value, float) and not value.is_integer() for value in values[name])
        decimal = any("." in cell for cell in cells) and find_numbers(name, values[name]).notation is not None
        if name.lower() in LABEL_NAMES and repeat and whole and not decimal:
            return name
    return None


def _is_partly_known(label: str, table: Table, values: Mapping[str, list[Any]]) -> bool:
    """Return whether some rows have no label; a category is only a label if the user says so."""
    return label.lower() != "category" and len(values[label]) < len(table.sample)


def _id(columns: Sequence[str], names: Sequence[str], values: Mapping[str, list[Any]], rows: int) -> str | None:
    """Return the column with a usual name of ids in which every row has a value of its own."""
    lower = {name.lower(): name for name in reversed(columns)}
    for name in filter(None, map(lower.get, names)):
        whole = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values[name])
        if whole and len(values[name]) == rows and len({str(value) for value in values[name]}) == rows:
            return name
    return None


def _text(columns: Sequence[str], values: Mapping[str, list[Any]], *, words: bool) -> str | None:
    called = find_name(columns, (TEXT,))
    if called is not None and all(isinstance(value, str) for value in values[called]):
        return called
    lengths: dict[str, float] = {}
    for name in columns:
        texts = [value for value in values[name] if isinstance(value, str)]
        if len(texts) == len(values[name]) > 0 and len(set(texts)) >= SHARE_DISTINCT * len(texts):
            prose = sum(map(_is_prose, texts)) >= len(texts) / 2
            if prose or words:
                lengths[name] = sum(map(len, texts)) / len(texts) + (1e9 if prose else 0.0)
    return max(lengths, key=lambda name: lengths[name]) if lengths else None


def _is_prose(text: str) -> bool:
    letters = any(letter.isalpha() for letter in text)
    return letters and (any(letter.isspace() for letter in text) or not text.isascii())


def _probability_columns(columns: Sequence[str], tried: Sequence[Record]) -> list[str]:
    """Return the columns that are probabilities of classes: in the first rows they sum to one."""
    for usual in (lambda share: 0 <= share <= 1, lambda share: share <= 0):
        names = [name for name in columns if tried and all(_is_number(row.get(name), usual) for row in tried)]
        rows = [[float(row[name]) for name in names] for row in tried]
        if len(names) > 1 and all(as_shares(values) is not None for values in rows):
            return names
    return []


def _is_number(value: Any, usual: Any) -> bool:
    try:
        return bool(usual(float(value)))
    except (TypeError, ValueError):
        return False


def _nested_column(columns: Sequence[str], tried: Sequence[Record]) -> str | None:
    """Return the column in which every row holds the probabilities of all classes, or None."""
    for name in columns:
        filled = [row.get(name) for row in tried if row.get(name) not in (None, "")]
        if filled and all(as_distribution(value) is not None for value in filled):
            return name
    return None
