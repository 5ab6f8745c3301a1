"""A run's id, which is a hash of its spec, and what a run from outside must fulfil before it is believed.

Titles, and names of suites and sweeps, are no part of the id: they make no difference to the rounds of a run.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Double, Integer

from cusal.errors import StoreError

NAMELESS = ("sweep", "task", "title")
STATUSES = ("open", "done", "failed")  # of a run outside of a store: nobody is at it
FORM = re.compile(r"[0-9a-f]{16}")
FIELDS = {  # column of a run -> field of its spec
    "experiment": "experiment",
    "dataset": "dataset",
    "strategy": "label",
    "seed": "seed",
    "rounds": "rounds",
    "batch_size": "batch_size",
}
LARGEST = 2**63 - 1
MOST = 1e100  # of a number that is measured; beyond, figures could not be drawn


def canonical(values: Mapping[str, Any]) -> str:
    """Return a spec's values as the JSON that is stored."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def run_id(spec: str) -> str:
    """Return the id of the run that a stored spec defines.

    >>> run_id('{"seed":0}') == run_id('{"seed":0,"task":{"suite":"light"}}')
    True
    """
    values = json.loads(spec)
    if not isinstance(values, dict):
        raise ValueError("its spec is not a table")
    own = {name: value for name, value in values.items() if name not in NAMELESS}
    return hashlib.sha256(canonical(own).encode()).hexdigest()[:16]


def check_claimed(identity: str, spec: str) -> None:
    """Raise StoreError if a stored run is not the one that its id stands for."""
    try:
        actual = run_id(spec)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"run {identity} has a spec that cannot be read ({error}); delete the run.") from error
    if actual != identity:
        raise StoreError(f"run {identity} has the spec of run {actual}: the store was changed by hand; use another.")


def check_run(run: Mapping[str, Any], columns: Sequence[Column[Any]]) -> None:
    """Raise ValueError for a run from outside that no export of a store could hold."""
    if set(run) != {column.name for column in columns}:
        raise ValueError(f"its run has {', '.join(map(str, run))}")
    for column in columns:
        check_cells([run[column.name]], column)
    if not FORM.fullmatch(run["id"]):
        raise ValueError(f"its id is {run['id']!r}, expected 16 digits of 0-9 and a-f")
    if run["status"] not in STATUSES:
        raise ValueError(f"its status is {run['status']!r}, expected one of {', '.join(STATUSES)}")
    if run_id(run["spec"]) != run["id"]:
        raise ValueError(f"its id is {run['id']}, but its spec is that of run {run_id(run['spec'])}")
    spec = json.loads(run["spec"])
    for name, field in FIELDS.items():
        if spec.get(field) != run[name] or isinstance(spec[field], bool):
            raise ValueError(f"its {name} is {run[name]!r}, but that of its spec is {spec.get(field)!r}")


def check_cells(cells: Sequence[Any], column: Column[Any]) -> None:
    """Raise ValueError for a value that a column of a table does not take."""
    kinds: tuple[type, ...] = (str,)
    if isinstance(column.type, Integer):
        kinds = (int,)
    elif isinstance(column.type, Double):
        kinds = (int, float)
    for cell in cells:
        fits = type(cell) in kinds or (cell is None and column.nullable)
        if not fits or (type(cell) is int and abs(cell) > LARGEST):
            raise ValueError(f"its {column.name} is {str(cell)[:40]!r}, expected {kinds[-1].__name__}")
        if type(cell) is float and (math.isnan(cell) or MOST < abs(cell) < math.inf):  # what is no number is null
            raise ValueError(f"its {column.name} is {cell}, which no round has")
        if type(cell) is str and not cell.isascii():
            cell.encode()  # half of a pair of surrogates is no character


def check_rounds(numbers: Sequence[int], run: Mapping[str, Any]) -> None:
    """Raise ValueError unless these are the rounds 0, 1, .. of a run, one after the other."""
    if list(numbers) != list(range(len(numbers))) or len(numbers) > run["rounds"] + 1:
        raise ValueError(f"its rounds are not 0 to {run['rounds']}, one after the other")
    if run["status"] == "done" and not numbers:
        raise ValueError("it is done, but has no rounds")
