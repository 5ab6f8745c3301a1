"""The records that go in and out of a store, and a round as the rows of its tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from cusal.apps.bench.store.schema import BINS, METRICS, PICKS, ROUNDS

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
