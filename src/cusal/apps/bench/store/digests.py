"""Digests: what was written, to know later whether it is still what is read.

A round has one over its rows in all tables, a run one over what defines it, and the session to resume from one too.
Each is taken in the transaction that writes the rows, from the rows as the database returns them. Rows of earlier
versions have none, and are named as unchecked.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cusal.apps.bench.store.records import Run
from cusal.apps.bench.store.schema import CHECKPOINTS, DIGESTS, OF_A_ROUND, RUNS, has_digests
from cusal.errors import StoreError

LINE, SESSION, NO_NUMBER = -1, -2, -3  # in place of a round's number; the last is of what was never written
STATUSES = ("open", "running", "done", "failed")
DEFINING = [RUNS.c[name] for name in Run.__dataclass_fields__]
SHOWN = 5  # damages that a message names


@dataclass(frozen=True)
class Check:
    """What a check of a store found.

    Attributes
    ----------
    place : str
        The store.
    runs, rounds : int
        How many were looked at.
    damaged : tuple of str
        What is not what was written.
    unchecked : tuple of str
        The ids of runs with rounds that an earlier version wrote without digests.
    """

    place: str
    runs: int
    rounds: int
    damaged: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.place}: {self.runs} runs, {self.rounds} rounds; "
        if not self.unchecked:
            return text + "all are as they were written."
        return text + (
            f"{len(self.unchecked)} runs have rounds of an earlier version, without digests, which cannot be checked: "
            f"{', '.join(self.unchecked)}. All others are as they were written."
        )

    def require(self) -> None:
        """Raise a StoreError if anything is damaged."""
        if self.damaged:
            more = f" and {len(self.damaged) - SHOWN} more" if len(self.damaged) > SHOWN else ""
            raise StoreError(
                f"{self.place} is damaged, not as it was written: {', '.join(self.damaged[:SHOWN])}{more}; restore the "
                "store from a copy, or do these runs again in a new one."
            )


def write_digests(connection: sa.Connection, run_id: str, numbers: Iterable[int] | None = None) -> None:
    """Write the digests of what the database now holds of a run: of some rounds, SESSION or LINE; by default of all."""
    found = _digests_of(connection, run_id, None if numbers is None else list(numbers))
    if found:
        rows = [{"run_id": run_id, "round": number, "digest": one} for number, one in found.items()]
        insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(DIGESTS)
        key, digest = (DIGESTS.c.run_id, DIGESTS.c.round), insert.excluded.digest
        connection.execute(insert.on_conflict_do_update(index_elements=key, set_={"digest": digest}), rows)


def forget_digests(connection: sa.Connection, run_id: str, *, rounds: bool = False) -> None:
    """Delete the digest of a run's session, and with `rounds` those of its rounds too."""
    gone = DIGESTS.c.round != LINE if rounds else DIGESTS.c.round == SESSION
    connection.execute(DIGESTS.delete().where(DIGESTS.c.run_id == run_id, gone))


def check(connection: sa.Connection, place: str, run_ids: Iterable[str] | None = None) -> Check:
    """Return what is damaged and what cannot be checked of some runs, by default of the whole store."""
    lines = {row.id: row for row in connection.execute(sa.select(RUNS.c.id, RUNS.c.status))}
    written: dict[str, dict[int, str]] = defaultdict(dict)
    for row in connection.execute(sa.select(DIGESTS)) if has_digests(connection) else ():
        written[row.run_id][_as_number(row.round)] = row.digest
    damaged = [f"run {run_id} is missing" for run_id in written if run_id not in lines]
    if run_ids is None:
        damaged += _faults_of_file(connection)
    unchecked, rounds = [], 0
    wanted = list(lines) if run_ids is None else [run_id for run_id in run_ids if run_id in lines]
    for run_id in wanted:
        found = _digests_of(connection, run_id, None)
        known = written[run_id]
        rounds += sum(number >= 0 for number in found)
        wrong = [number for number in sorted(known) if found.get(number) != known[number]]
        damaged += [f"{_name(number)} of run {run_id}" for number in wrong]
        if lines[run_id].status not in STATUSES:
            damaged.append(f"the status of run {run_id}")
        if any(number not in known for number in found):
            unchecked.append(str(run_id))
    return Check(place, len(wanted), rounds, tuple(damaged), tuple(unchecked))


def _digests_of(connection: sa.Connection, run_id: str, numbers: list[int] | None) -> dict[int, str]:
    parts: dict[int, list[str]] = defaultdict(list)
    for table in OF_A_ROUND:
        own = sa.select(table).where(table.c.run_id == run_id).order_by(*table.primary_key.columns)
        if numbers is not None:
            own = own.where(table.c.round.in_(numbers))
        for row in connection.execute(own):
            parts[_as_number(row.round)].append(_text([table.name, *row[1:]]))  # the first is the run
    if numbers is None or SESSION in numbers:
        session = sa.select(CHECKPOINTS.c.round, CHECKPOINTS.c.state).where(CHECKPOINTS.c.run_id == run_id)
        for row in connection.execute(session):
            parts[SESSION].append(_text([row.round, hashlib.blake2b(_bytes(row.state)).hexdigest()]))
    if numbers is None or LINE in numbers:
        for row in connection.execute(sa.select(*DEFINING).where(RUNS.c.id == run_id)):
            parts[LINE].append(_text(list(row)))
    # Sorted: databases differ in how they order text.
    return {
        number: hashlib.blake2b("\n".join(sorted(lines)).encode(), digest_size=16).hexdigest()
        for number, lines in parts.items()
    }


def _as_number(found: Any) -> int:
    return found if type(found) is int else NO_NUMBER


def _text(values: list[Any]) -> str:
    return json.dumps(values, default=repr)  # repr: of a type that was never written


def _bytes(state: Any) -> bytes:
    return state if isinstance(state, bytes) else repr(state).encode()


def _name(number: int) -> str:
    return {LINE: "the settings", SESSION: "the session", NO_NUMBER: "a round"}.get(number, f"round {number}")


def _faults_of_file(connection: sa.Connection) -> list[str]:
    """Return what SQLite itself finds wrong with the file: its pages and indexes, and rows without a run."""
    if connection.dialect.name != "sqlite":
        return []
    said = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(3)")]
    lost = [f"a line of {row[0]} without its run" for row in connection.exec_driver_sql("PRAGMA foreign_key_check")]
    return [" ".join(line.split()) for line in said if line != "ok"] + lost[:3]
