"""Digests: what was written, to know later whether it is still what is read.

A round has one over its rows in all tables, a run one over what defines it, and the session to resume from one too.
Each is taken in the transaction that writes the rows, from the rows as the database returns them. Rows of earlier
versions have none, and are named as unchecked.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cusal._files import cache_folder
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


# Which checkpoints this user wrote: only those are unpickled, because reading a pickle runs code.
#
# A checkpoint is stored with an HMAC of it and of its run's id. The key lies in the user's cache folder, readable by
# nobody else, and is made when it is first needed. So a checkpoint that came with an archive, a database or a file of
# somebody else is told apart, and its run starts again. Machines that share a store resume each other's runs if they
# have the same key file.


MAGIC = b"cusal-signed-1\n"
LENGTH = 32  # bytes, of the key and of a signature


def signed(run_id: str, state: bytes) -> bytes:
    """Return a checkpoint as it is stored; where no key can be kept it is not signed, and its run cannot resume."""
    key = _key()
    return state if key is None else MAGIC + _signature(key, run_id, state) + state


def verified(run_id: str, stored: bytes | None, *, trusted: bool = False) -> bytes | None:
    """Return a stored checkpoint if this user wrote it for this run, or if it is to be trusted anyway; else None."""
    if stored is None:
        return None
    start = len(MAGIC) + LENGTH
    is_signed = stored.startswith(MAGIC)
    state = stored[start:] if is_signed else stored
    if trusted:
        return state
    key = _key() if is_signed else None
    if key is None or not hmac.compare_digest(stored[len(MAGIC) : start], _signature(key, run_id, state)):
        return None
    return state


def _signature(key: bytes, run_id: str, state: bytes) -> bytes:
    return hmac.digest(key, run_id.encode() + b"\0" + state, "sha256")


def _key() -> bytes | None:
    path = cache_folder() / f"checkpoints-{_user()}.key"
    try:
        if not path.exists():
            _make(path)
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            # A key that others can read is none: they could sign with it.
            if found.st_uid != _user() or stat.S_IMODE(found.st_mode) & 0o077:
                return None
            key = file.read(LENGTH)
    except OSError:
        return None
    return key if len(key) == LENGTH else None


def _make(path: Path) -> None:
    """Write a new key, unless another process does so first: whoever links it in first wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(LENGTH))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
