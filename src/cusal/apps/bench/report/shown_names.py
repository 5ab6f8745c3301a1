"""Experiments with names that every format can show: one line, not too long, nothing that a reader cannot see.

A name that is cut keeps its end and gets a hash, so that two that differ stay two; the settings then say the whole.
"""

import dataclasses
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from cusal.apps.bench.report.curves import Curve, Curves

LONGEST_TITLE = 160  # of an experiment: titles may fill a line or two, strategies stand beside figures


def as_shown(experiments: Iterable[Curves]) -> list[Curves]:
    """Return the experiments with every name as the report shows it; their numbers are the same."""
    return [_curves(curves) for curves in experiments]


def _curves(curves: Curves) -> Curves:
    named = {field.name: getattr(curves, field.name) for field in dataclasses.fields(curves)}
    kept = ("runs", "rounds", "seeds", "values")
    changed = {name: _shown(value) for name, value in named.items() if name not in kept}
    strategies = tuple(map(short_name, curves.strategies))
    return dataclasses.replace(curves, **changed | {"strategies": strategies, "runs": tuple(map(_run, curves.runs))})


def _run(run: Curve) -> Curve:
    settings = {one_line(name): one_line(value) for name, value in run.settings.items()}
    if short_name(run.strategy) != one_line(run.strategy):
        settings["whole name"] = one_line(run.strategy)
    traceback = None if run.traceback is None else visible(run.traceback)
    return dataclasses.replace(run, strategy=short_name(run.strategy), settings=settings, traceback=traceback)


def _shown(value: Any) -> Any:
    """Return names, and records and tuples of names, as they are shown."""
    if isinstance(value, str):
        return short_name(value, LONGEST_TITLE)
    if isinstance(value, tuple):
        return tuple(map(_shown, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **{name: _shown(getattr(value, name)) for name in names})
    return value


# Names as a terminal, a page or a figure can show them, whatever letters they hold.


# Signs that turn the direction of a text, so that a name reads as another, and those that XML does not have.
_HIDDEN = re.compile("[\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff\x7f-\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")


def visible(text: str) -> str:
    """Return a text whose control characters are seen and have no effect; ends of lines and tabs stay.

    >>> visible("a\\x00b\\x1b[31m")
    'a␀b␛[31m'
    """
    return _HIDDEN.sub("\ufffd", _CONTROL.sub(lambda sign: chr(0x2400 + ord(sign[0])), text))


def one_line(text: str) -> str:
    """Return a text as one line, with control characters seen.

    >>> one_line("two\\n  lines")
    'two lines'
    """
    return visible(" ".join(text.split()))


def short_name(text: str, longest: int = 40) -> str:
    """Return a name as one line of so many letters at most; a longer one is cut in its middle, with a hash at its end.

    >>> short_name("margin"), len(short_name("x" * 500)), short_name("x" * 500) == short_name("x" * 501)
    ('margin', 40, False)
    """
    line = one_line(text)
    if len(line) <= longest:
        return line
    mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:6]
    start = line[: longest - 20]
    while start and unicodedata.combining(start[-1]):
        start = start[:-1]
    return f"{start}…{line[-11:]} #{mark}"
