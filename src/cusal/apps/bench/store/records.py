"""The records that go in and out of a store, and a round as the rows of its tables."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Column, Double, Integer

from cusal.apps.bench.store.schema import BINS, METRICS, PICKS, ROUNDS
from cusal.errors import StoreError

if TYPE_CHECKING:
    from cusal.session import Round

Row = dict[str, Any]
STORED = ("accuracy", "ece", "nll", "brier")  # of the metrics of a round


@dataclass(frozen=True)
class Run:
    """A run as the store knows it; `spec` is the canonical JSON that `id` is the hash of."""

    id: str
    experiment: str
    dataset: str
    strategy: str
    seed: int
    rounds: int
    batch_size: int
    spec: str


@dataclass(frozen=True)
class Claim:
    """A run that is ours until the lease ends, and the pickled session to resume from; None starts at round 0.

    refused: whether there was a session that somebody else wrote, which is not read.
    """

    run: Run
    owner: str
    state: bytes | None
    refused: bool = False


def rows_of(run: Run, record: "Round", items: Sequence[int], labels: Sequence[str]) -> dict[sa.Table, list[Row]]:
    """Return the rows of a round by table; bins at its quarters and its end alone, to keep files small."""
    key = {"run_id": run.id, "round": record.round}
    seconds = {f"seconds_{phase}": record.seconds[phase] for phase in ("fit", "predict", "select", "test")}
    line = {"labelled": record.labelled, "temperature": record.temperature, "evidence": record.evidence}
    measured = [("estimate", "measured", record.measured)]
    for split, scores in (("test", record.test), ("pool", record.pool)):
        if scores is not None:
            kinds = (("raw", scores.raw), ("recalibrated", scores.recalibrated))
            measured += [(split, kind, {name: values[name] for name in STORED}) for kind, values in kinds]
    metrics = [
        key | {"split": split, "kind": kind, "name": name, "value": _number(value)}
        for split, kind, values in measured
        for name, value in values.items()
    ]
    bins: list[Row] = []
    if record.test is not None and (record.round in quarters(run.rounds) or record.query is None):
        for kind, cells in (("raw", record.test.raw_bins), ("recalibrated", record.test.recalibrated_bins)):
            columns = zip(cells.count.tolist(), cells.score.tolist(), cells.hits.tolist(), strict=True)
            for i, (count, score, hits) in enumerate(columns):
                place = {"split": "test", "kind": kind, "bin": i}
                bins.append(key | place | {"count": count, "score": score, "hits": hits})
    return {ROUNDS: [key | line | seconds], METRICS: metrics, BINS: bins, PICKS: _pick_rows(key, record, items, labels)}


def _pick_rows(key: Row, record: "Round", items: Sequence[int], labels: Sequence[str]) -> list[Row]:
    query = record.query
    if query is None:
        return []
    rows = []
    for rank, (item, label) in enumerate(zip(items, labels, strict=True)):
        known = {
            "error": None if query.error is None else _number(query.error[rank]),
            "confidence": None if query.confidence is None else float(query.confidence[rank]),
            "decided_by": None if query.decided_by is None else str(query.decided_by[rank]),
        }
        rows.append(key | {"rank": rank, "item": int(item), "label": label} | known)
    return rows


def _number(value: float) -> float | None:
    """SQLite has no NaN: it becomes null, on every database."""
    return None if value != value else float(value)


def quarters(rounds: int) -> set[int]:
    """Return the rounds 0, T/4, T/2, 3T/4 and T of a run of T rounds."""
    return {round(rounds * part / 4) for part in range(5)}


# A run's id, which is a hash of its spec, and what a run from outside must fulfil before it is believed.
#
# Titles, and names of suites and sweeps, are no part of the id: they make no difference to the rounds of a run.


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
