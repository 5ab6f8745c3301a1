"""Numbers and dates in a column, however they are written: read for certain, or not at all.

A column is read as numbers or dates if every value that is there is one, written alike. What holds no value is None,
NaN, an empty text, or a word such as "n/a" or "-".

| written as | read if |
|---|---|
| 3, 1.5, 2e3, Decimal("1.5"), True | all are |
| "3", "1.5", "2e3" | all are, and none has leading zeros, as codes have ("007") |
| "1,5" (a decimal comma) | one cannot be thousands: "0,5", "1,25" |
| "1,234", "1.234.567", "1 234", "1'234" | groups of three everywhere that cannot be decimals, see `_are_groups` |
| "$5", "5 EUR", "5 %" | all have the same sign |
| date, datetime, Timestamp, Period, timedelta | all are, and all have a time zone or none |
| "2024-03-01", "2024-03-01T12:00Z", "2024/03/01", "31.12.2024" | all are of one form |
| "31/12/2024" | only one order of day and month fits all |

What most values fit, but not all, is likely and not certain: the column stays as it is, and a remark says so.
"""

import datetime
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

MISSING_KINDS = ("NAType", "NaTType")  # of pandas
MISSING_WORDS = frozenset(("", "n/a", "na", "nan", "null", "none", "-", "--", "?", "missing", "unknown", "nat", "."))
LIKELY = 0.8  # of the values, from which on a remark is due
FEWEST = 10  # different values that a remark is due for, and numbers with groups that say that they are groups
PROBED = 50  # values that show that a column holds words
DAY = 86_400.0
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CODE = re.compile(r"[+-]?0\d", re.ASCII)
_MARK = re.compile(r"([+-]?)([^\d.,+-]*)([+-]?[\d.,].*?)([^\d.,+-]*)", re.ASCII)
_MARKS = frozenset("$€£¥₹%") | {"USD", "EUR", "GBP", "CHF", "JPY", "INR", "CAD", "AUD", "SEK", "NOK", "DKK", "kr", "zł"}
_DAYS = {
    "ymd": re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ](.+))?", re.ASCII),
    "d.m.y": re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?: (.+))?", re.ASCII),
    "slashes": re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})(?: (.+))?", re.ASCII),
}


@dataclass(frozen=True)
class Notation:
    """How the numbers or dates of a column are written.

    Parameters
    ----------
    kind : str
        "number", "date" (read as days since 1970), or "duration" (in days).
    decimal, group : str
        The sign before the decimals, and the one between thousands; "" for none.
    mark : str
        The sign of a currency or "%", which all values have.
    form : str
        Of dates in texts: "ymd", "d.m.y", "d/m/y" or "m/d/y".

    Examples
    --------
    >>> Notation(decimal=",", group=".", mark="€").value("1.234,50 €")
    1234.5
    """

    kind: str = "number"
    decimal: str = "."
    group: str = ""
    mark: str = ""
    form: str = ""

    def __str__(self) -> str:
        """Return the fields in one line, which `parse` reads."""
        return "|".join((self.kind, self.decimal, self.group, self.mark, self.form))

    @classmethod
    def parse(cls, line: str) -> Self:
        """Return the notation that a line says."""
        return cls(*line.split("|"))

    def value(self, value: Any) -> float | None:
        """Return the number that a value states, NaN if it is missing, or None if it states none."""
        if is_missing(value):
            return math.nan
        if isinstance(value, str):
            return self._days(value) if self.kind == "date" else self._number(value) if self.kind == "number" else None
        if self.kind == "number":
            return float(value) if isinstance(value, Real | Decimal) else None
        return _elapsed(value)[1] if self.kind == "duration" else _moment(value)[1]

    def values(self, values: Iterable[Any]) -> NDArray[np.float64]:
        """Return numbers, NaN where none is stated; raise a ValueError that names the first value that is no number."""
        known: dict[Any, float | None] = {}
        numbers = []
        for value in values:
            try:
                if value not in known:
                    known[value] = self.value(value)
                number = known[value]
            except TypeError:  # what has no hash
                number = self.value(value)
            if number is None:
                raise ValueError(f"{str(value)[:40]!r} is none")
            numbers.append(number)
        return np.array(numbers, dtype=np.float64)

    def _number(self, text: str) -> float | None:
        text = _stripped(text)
        if self.mark:
            text, mark = _unmarked(text)
            if mark not in (self.mark, ""):
                return None
        if self.group:
            text = _without_groups(text, self.group, self.decimal)
        if self.decimal != ".":
            text = "" if "." in text else text.replace(self.decimal, ".")
        return float(text) if _PLAIN.fullmatch(text) else None

    def _days(self, text: str) -> float | None:
        form = self.form or "ymd"  # of a column that held dates and no texts
        found = _DAYS["slashes" if "/" in form else form].fullmatch(text.strip())
        return None if found is None else _date(found, form)[1]


@dataclass(frozen=True)
class Reading:
    """What a column is: a notation where its numbers or dates are certain, and a remark where they are only likely.

    Parameters
    ----------
    notation : Notation or None
        None for a column of anything else.
    remark : str
        A sentence that names the column, or "".
    """

    notation: Notation | None
    remark: str = ""


def find_numbers(name: str, values: Iterable[Any]) -> Reading:
    """Return how the numbers or dates of a column are written.

    Parameters
    ----------
    name : str
        Of the column, for the remark.
    values : iterable
        Its cells.

    Returns
    -------
    Reading

    Examples
    --------
    >>> reading = find_numbers("width", ["1,5", "n/a", "0,25"])
    >>> reading.notation.values(["1,5", "n/a"]).tolist()
    [1.5, nan]
    >>> find_numbers("code", ["007", "011"]).notation is None
    True
    """
    filled = [value for value in values if not is_missing(value)]
    kinds = {_kind(value) for value in set(map(type, filled))}
    if not filled:
        return Reading(Notation())
    if kinds == {"number"}:
        return Reading(Notation())
    if kinds in ({"moment"}, {"elapsed"}):
        read = _moment if kinds == {"moment"} else _elapsed
        zoned = {read(value)[0] for value in filled}
        kind = "date" if kinds == {"moment"} else "duration"
        return Reading(Notation(kind)) if len(zoned) == 1 and None not in zoned else Reading(None)
    if kinds not in ({"text"}, {"text", "number"}):
        return Reading(None)
    texts = [value for value in filled if isinstance(value, str)]
    different = list(dict.fromkeys(map(_stripped, texts)))
    if not any(any(letter.isdigit() for letter in text) for text in different[:PROBED]):
        return Reading(None)
    counted = _Counted(name, filled, texts)
    found = _as_numbers(different, counted)
    return found if found is not None else _as_dates(different, counted) if kinds == {"text"} else Reading(None)


def is_missing(value: Any) -> bool:
    """Return whether a cell holds no value.

    >>> is_missing(None), is_missing("N/A "), is_missing(0), is_missing("no")
    (True, True, False, False)
    """
    if isinstance(value, str):
        return len(value) < 12 and value.strip().lower() in MISSING_WORDS
    return value is None or (isinstance(value, float) and value != value) or _is_other_missing(value)


def plain_number(value: Any) -> Any:
    """Return the number that a text is, if it is written with digits and a decimal point; else the value as it is.

    >>> plain_number("1.50"), plain_number("7"), plain_number("007"), plain_number("1,5"), plain_number(None)
    (1.5, 7, '007', '1,5', None)
    """
    if not isinstance(value, str) or not _PLAIN.fullmatch(value.strip()) or _CODE.match(value.strip()):
        return value
    number = float(value)
    if not math.isfinite(number):
        return value
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _is_other_missing(value: Any) -> bool:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in MISSING_KINDS or (isinstance(value, Decimal | np.floating) and bool(value != value))


@dataclass(frozen=True)
class _Counted:
    """The cells of a column, to say how many of them are read."""

    name: str
    filled: list[Any]
    texts: list[str]

    def remark(self, what: str, fits: Callable[[str], bool], different: int) -> str:
        """Return a remark if most cells, and enough of them, fit; "" otherwise."""
        if different < FEWEST:
            return ""
        good = len(self.filled) - len(self.texts) + sum(fits(_stripped(text)) for text in self.texts)
        if good < LIKELY * len(self.filled):
            return ""
        values = {_stripped(text) for text in self.texts if fits(_stripped(text))}
        numbers = {value for value in self.filled if not isinstance(value, str)}
        bad = next((text for text in self.texts if not fits(_stripped(text))), None)
        what = f"column {self.name}: {good:,} of {len(self.filled):,} values read as {what}; "
        what += f"{len(values) + len(numbers):,} differ. "
        if bad is None:
            return f"{what}As that is not certain, they are taken as categories: write them with a decimal point."
        return f"{what}Others, such as {bad[:40]!r}, do not, so that all are taken as categories: mend those."


def _as_numbers(different: list[str], counted: _Counted) -> Reading | None:
    """Return the reading of texts as numbers; None if they are none at all."""
    marks = {_unmarked(text)[1] for text in different}
    mark = max(marks, key=lambda one: sum(_unmarked(text)[1] == one for text in different))
    bare = [_unmarked(text)[0] if mark else text for text in different]
    notations = _notations(bare, mark)
    for notation, certain in notations:
        if certain and (not mark or marks == {mark}) and all(notation.value(text) is not None for text in different):
            coded = notation == Notation() and any(_CODE.match(text) for text in bare)
            return Reading(None) if coded else Reading(notation)
    for notation, _ in notations:

        def fits(text: str, notation: Notation = notation) -> bool:
            return notation.value(text) is not None and (not notation.mark or _unmarked(text)[1] == notation.mark)

        if notation == Notation() and sum(bool(_CODE.match(text)) for text in bare) > 1:
            continue
        remark = counted.remark(_in_words(notation), fits, sum(map(fits, different)))
        if remark:
            return Reading(None, remark)
    return None


def _notations(texts: list[str], mark: str) -> list[tuple[Notation, bool]]:
    """Return the notations to try, those without signs first, each with whether it is certain if all texts fit."""
    notations = [(Notation(mark=mark), True)]
    for group, decimal in ((",", "."), (".", ","), (" ", "."), (" ", ","), ("'", "."), ("'", ",")):
        grouped = Notation(decimal=decimal, group=group, mark=mark)
        written = [text for text in texts if group in text]
        if written and all(_without_groups(text, group, decimal) for text in written):
            notations.append((grouped, _are_groups(texts, written, group, decimal)))
    comma = [text for text in texts if "," in text and "." not in text and text.count(",") == 1]
    thousands = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
    notations.append((Notation(decimal=",", mark=mark), any(not thousands.fullmatch(text) for text in comma)))
    return notations


def _are_groups(texts: list[str], written: list[str], group: str, decimal: str) -> bool:
    """Return whether groups of three cannot be decimals.

    They cannot if a number has two groups, or decimals besides; or if ten or more numbers have one, and those that
    have none are below 1000.
    """
    if group in " '" or any(text.count(group) > 1 or decimal in text for text in written):
        return True
    bare = [_PLAIN.fullmatch(text) for text in texts if group not in text]
    below = all(found is not None and abs(float(found[0])) < 1000 for found in bare)
    return group == "," and below and len(bare) > 0 and len(written) >= FEWEST


def _without_groups(text: str, group: str, decimal: str) -> str:
    """Return a number without the signs between its thousands, "" if they stand elsewhere."""
    whole, sign, decimals = text.partition(decimal)
    if group in decimals:
        return ""
    if group not in whole:
        return text
    parts = whole.lstrip("+-").split(group)
    good = 1 <= len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]) and all(map(str.isdigit, parts))
    return whole.replace(group, "") + sign + decimals if good and parts[0] != "0" else ""


def _stripped(text: str) -> str:
    """Return a text with plain signs for minus and spaces."""
    return text.strip().replace("\u2212", "-").replace("\u00a0", " ").replace("\u202f", " ").replace("\u2019", "'")


def _unmarked(text: str) -> tuple[str, str]:
    """Return a number without the sign of its currency or "%", and that sign; the text and "" without one."""
    found = _MARK.fullmatch(text)
    if found is None:
        return text, ""
    sign, before, number, after = (part.strip() for part in found.groups())
    mark = before or after
    return (sign + number, mark) if mark in _MARKS and not (before and after) else (text, "")


def _in_words(notation: Notation) -> str:
    words = "numbers"
    if notation.decimal == ",":
        words += " with a decimal comma"
    elif notation.group:
        words += f" with {notation.group!r} between thousands"
    return words + (f" and {notation.mark}" if notation.mark else "")


def _as_dates(different: list[str], counted: _Counted) -> Reading:
    for kind, pattern in _DAYS.items():
        found = {text: pattern.fullmatch(text) for text in different}
        if sum(match is not None for match in found.values()) < LIKELY * len(different):
            continue
        forms = ("d/m/y", "m/d/y") if kind == "slashes" else (kind,)
        dates = {form: [match and _date(match, form) for match in found.values()] for form in forms}
        good = [form for form in forms if all(date and date[1] is not None for date in dates[form])]
        zones = {date[0] for form in good for date in dates[form] if date}
        if len(good) == 1 and len(zones) == 1:
            return Reading(Notation("date", form=good[0]))

        def fits(text: str, pattern: re.Pattern[str] = pattern, form: str = forms[0]) -> bool:
            match = pattern.fullmatch(text)
            return match is not None and _date(match, form)[1] is not None

        what = "dates whose day and month cannot be told apart" if len(good) == 2 else "dates"
        remark = counted.remark(what, fits, sum(map(fits, different)))
        return Reading(None, remark.replace("with a decimal point", "as 2024-12-31"))
    return Reading(None)


def _date(found: re.Match[str], form: str) -> tuple[bool, float | None]:
    """Return whether a date in a text has a time zone, and its days since 1970, None if there is no such day."""
    if form == "ymd":
        year, month, day, time = found[1], found[3], found[4], found[5]
    else:
        day, month = (found[1], found[2]) if form[0] == "d" else (found[2], found[1])
        year, time = found[3], found[4]
    try:
        text = f"{year}-{int(month):02}-{int(day):02}" + (f"T{time}" if time else "")
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return False, None
    zoned = moment.tzinfo is not None
    return zoned, (moment if zoned else moment.replace(tzinfo=datetime.UTC)).timestamp() / DAY


def _kind(kind: type) -> str:
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, np.timedelta64 | datetime.timedelta):  # before numbers: timedelta64 is one to NumPy
        return "elapsed"
    if issubclass(kind, Real | Decimal | np.bool_):
        return "number"
    if issubclass(kind, datetime.date | np.datetime64) or kind.__name__ == "Period":
        return "moment"
    return "other"


def _moment(value: Any) -> tuple[bool | None, float | None]:
    """Return whether a date has a time zone, and its days since 1970."""
    if type(value).__name__ == "Period":
        value = value.start_time
    if isinstance(value, np.datetime64):
        return False, float((value - np.datetime64(0, "D")) / np.timedelta64(1, "D"))
    if isinstance(value, datetime.datetime):
        zoned = value.tzinfo is not None
        moment = value if zoned else value.replace(tzinfo=datetime.UTC)
        return zoned, (moment - EPOCH).total_seconds() / DAY
    if isinstance(value, datetime.date):
        return False, float((value - EPOCH.date()).days)
    return None, None


def _elapsed(value: Any) -> tuple[bool | None, float | None]:
    if isinstance(value, np.timedelta64):
        return False, float(value / np.timedelta64(1, "D"))
    return (False, value.total_seconds() / DAY) if isinstance(value, datetime.timedelta) else (None, None)
