"""Rows of a JSON lines file: a list or an object of probabilities in each, or a field for each class; also compressed.

{"id": 7, "probs": [0.9, 0.1]}
{"id": 7, "probs": {"cat": 0.9, "dog": 0.1}}
{"id": 7, "predicted_label_probs": [{"label": "cat", "prob": 0.9}, {"label": "dog", "prob": 0.1}]}
{"id": 7, "probs": {"list": [{"element": 0.9}, {"element": 0.1}]}}
{"id": 7, "cat": 0.9, "dog": 0.1}
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.errors import DataError
from cusal.scale.columns import Found, find_probs
from cusal.scale.formats._records import find_places, read_unit
from cusal.scale.parts import Chunk, Column, Contents, Tile
from cusal.tables import TextFile

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
TEXT = True
WRAPPINGS = ({"list"}, {"element"}, {"item"})  # of one field, as some programs export lists


def describe(path: Path, column: Column) -> Contents:
    """Return the classes by the first line, and the units by one pass over the file that counts its rows."""
    with TextFile(path).bytes() as file:
        first = next((line for line in file if line.strip()), b"")
    if not first:
        raise DataError(f"{path} has no rows, so its classes are not known; leave it out.")
    record = _record(first, f"{path}: row 0")
    found = find_probs(list(record), column, path)
    names = found.names or _names(record, found)
    classes = len(names) if names else len(_unwrapped(record[found.lists])) if found.lists else len(found.columns)
    units, places = find_places(path, classes=max(classes, 1), header=False)
    return Contents(classes, units, tuple(names), places)


def read(chunk: Chunk) -> Iterator[Tile]:
    """Yield the rows of a chunk, unit by unit."""
    part, row = chunk.part, chunk.first_row
    with TextFile(part.path).bytes() as file:
        for unit in range(chunk.first_unit, chunk.stop_unit):
            lines = read_unit(file, part.contents.places, unit).split(b"\n")
            records: list[dict[str, Any]] = []
            for line in lines:
                if line.strip():
                    records.append(_record(line, f"{part.path}: {chunk.locate(row + len(records))}"))
            yield Tile(_probs(records, chunk, row), _beside(records, chunk, row))
            row += len(records)


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is no JSON ({error}); give one object to a line.") from None
    if not isinstance(value, dict):
        raise DataError(f"{where} is a {type(value).__name__}; expected an object.")
    return value


def _unwrapped(value: Any) -> Any:
    """Return a list or an object without the wrapping of some programs."""
    while isinstance(value, dict) and value.keys() in WRAPPINGS:
        (value,) = value.values()
    return [_unwrapped(one) for one in value] if isinstance(value, list) else value


def _names(record: dict[str, Any], found: Found) -> tuple[str, ...]:
    """Return the classes that a list or an object names, sorted; none for a list of numbers."""
    value = _unwrapped(record[found.lists]) if found.lists else None
    named = _named(value)
    return tuple(sorted(named)) if named is not None else ()


def _named(value: Any) -> dict[str, Any] | None:
    """Return the probabilities by class; None where they have no names."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not all(isinstance(one, dict) and len(one) == 2 for one in value):
        return None
    named = {}
    for one in value:
        numbers = [key for key, held in one.items() if isinstance(held, int | float)]
        numbers.sort(key=lambda key: isinstance(one[key], int))  # a class may be a whole number
        number = numbers[0] if numbers else list(one)[1]
        (label,) = (held for key, held in one.items() if key != number)
        named[str(label)] = one[number]
    return named


def _probs(records: list[dict[str, Any]], chunk: Chunk, row: int) -> NDArray[np.float64]:
    part = chunk.part
    probs = np.empty((len(records), part.classes))
    found = find_probs(list(records[0]), part.column, part.path) if records else None
    for i, record in enumerate(records):
        assert found is not None, "there is a record"
        probs[i] = _row(record, found, chunk, row + i)
    return probs


def _row(record: dict[str, Any], found: Found, chunk: Chunk, row: int) -> list[float]:
    where = f"{chunk.part.path}: {chunk.locate(row)}"
    if found.lists is None:
        held: Any = [record.get(name) for name in found.columns]
    else:
        held = _unwrapped(record.get(found.lists))
        if (named := _named(held)) is not None:
            held = [named.get(name) for name in chunk.part.names]
    if not isinstance(held, list) or len(held) != chunk.part.classes:
        met = f"{len(held)} numbers" if isinstance(held, list) else repr(held)[:40]
        raise DataError(f"{where} has {met}, expected {chunk.part.classes}; give one for each class.")
    try:
        return [float(number) for number in held]
    except (TypeError, ValueError):
        bad = next(number for number in held if not isinstance(number, int | float))
        raise DataError(f"{where} has {bad!r} for a class; expected a number for each class.") from None


def _beside(records: list[dict[str, Any]], chunk: Chunk, row: int) -> NDArray[Any] | None:
    column = chunk.part.column
    if not column.required and not any(column.table in record for record in records):
        return None
    values = [record.get(column.table) for record in records]
    for number, value in enumerate(values, start=row):
        if isinstance(value, bool) or not isinstance(value, int | str):
            where = f"{chunk.part.path}: {column.table}: {chunk.locate(number)}"
            raise DataError(f"{where} is {value!r}; expected a whole number or text in every row.")
    return np.array([str(value) for value in values])
