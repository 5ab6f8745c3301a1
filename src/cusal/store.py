"""Runs and their rounds in one database: an SQLite file by default, PostgreSQL by URL.

A round is written in one transaction together with the session that goes on from it, so a process that is killed at
any moment loses the round in flight and nothing else. A runner holds a run by a lease that it renews; a run whose
runner died is free again, at once where the process can be seen to be dead, else when its lease ends.
"""

import os
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cusal.errors import MissingExtra, StoreError

try:
    import sqlalchemy as sa
except ImportError as error:
    raise MissingExtra("the store of runs", "bench") from error

from cusal import tables
from cusal.tables import BINS, CHECKPOINTS, METRICS, OF_A_ROUND, PICKS, ROUNDS, RUNS, STORE

if TYPE_CHECKING:
    from cusal.simulate import Round

LEASE_SECONDS = 300.0
BUSY_MILLISECONDS = 60_000
Row = dict[str, Any]


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
    """A run that is ours until the lease ends, and the pickled session to go on from; None starts at round 0."""

    run: Run
    owner: str
    state: bytes | None


class Store:
    """The runs of one or more experiments.

    `place` is the path of an SQLite file, made when it is not there, or a URL such as
    `postgresql://user:password@host/database`.

    >>> store = Store(":memory:")
    >>> store.runs()
    []
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = str(place)
        self._engine = _engine(self.place)
        with self._writing() as connection:
            known = set(sa.inspect(connection).get_table_names())
            if STORE.name not in known and known & set(tables.METADATA.tables):
                raise StoreError(
                    f"{self.place} is a database, but not a store of cusal; give another file or database."
                )
            tables.METADATA.create_all(connection)
            version = connection.scalar(sa.select(STORE.c.version))
            if version is None:
                connection.execute(STORE.insert().values(version=tables.VERSION))
            elif version != tables.VERSION:
                raise StoreError(
                    f"{self.place} is a store of version {version}, but this cusal reads version {tables.VERSION}; "
                    "use the cusal that wrote it to export it."
                )

    def close(self) -> None:
        """Let go of the file or server."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, runs: Iterable[Run]) -> None:
        """Put in the runs that are not there yet, and open those that failed for another try."""
        with self._writing() as connection:
            known = dict(connection.execute(sa.select(RUNS.c.id, RUNS.c.status)).tuples().all())
            for run in runs:
                if run.id not in known:
                    connection.execute(RUNS.insert().values(**asdict(run), status="open", updated=time.time()))
                elif known[run.id] == "failed":
                    _update(connection, run.id, status="open", traceback=None)
                known.setdefault(run.id, "open")

    def claim(self, run_ids: Sequence[str], owner: str | None = None) -> Claim | None:
        """Take the first of these runs that is open, or whose runner is gone; None when there is none."""
        owner = owner or process_name()
        with self._writing() as connection:
            columns = (RUNS.c.id, RUNS.c.status, RUNS.c.lease, RUNS.c.owner)
            rows = {row.id: row for row in connection.execute(sa.select(*columns)).all()}
            for run_id in run_ids:
                row = rows.get(run_id)
                if row is None or not _is_free(row):
                    continue
                same_owner = RUNS.c.owner.is_not_distinct_from(row.owner)
                unchanged = sa.and_(RUNS.c.id == run_id, RUNS.c.status == row.status, same_owner)
                mine = {"status": "running", "owner": owner, "lease": time.time() + LEASE_SECONDS}
                taken = connection.execute(RUNS.update().where(unchanged).values(**mine, updated=time.time()))
                if taken.rowcount == 1:
                    return self._claimed(connection, run_id, owner)
        return None

    def _claimed(self, connection: sa.Connection, run_id: str, owner: str) -> Claim:
        fields = [RUNS.c[name] for name in Run.__dataclass_fields__]
        run = Run(*connection.execute(sa.select(*fields).where(RUNS.c.id == run_id)).one())
        state = connection.scalar(sa.select(CHECKPOINTS.c.state).where(CHECKPOINTS.c.run_id == run_id))
        if state is None:  # it starts at round 0, so rounds of which the session is gone are of no use
            for table in reversed(OF_A_ROUND):
                connection.execute(table.delete().where(table.c.run_id == run_id))
        return Claim(run, owner, state)

    def renew(self, claim: Claim) -> None:
        """Hold the run for some more minutes."""
        with self._writing() as connection:
            self._hold(connection, claim)

    def write_round(
        self, claim: Claim, record: "Round", *, items: Sequence[int], labels: Sequence[str], state: bytes
    ) -> None:
        """Write a round and the session after it, all or nothing; the last one finishes the run.

        `items` and `labels` are those of the picks, as positions in the data set's train split.
        """
        last = record.round >= claim.run.rounds
        with self._writing() as connection:
            self._hold(connection, claim)
            for table, rows in _rows_of(claim.run, record, items, labels).items():
                if rows:
                    connection.execute(table.insert(), rows)
            connection.execute(CHECKPOINTS.delete().where(CHECKPOINTS.c.run_id == claim.run.id))
            if last:
                _update(connection, claim.run.id, status="done", lease=None, owner=None)
            else:
                line = {"run_id": claim.run.id, "round": record.round, "state": state}
                connection.execute(CHECKPOINTS.insert().values(**line))

    def fail(self, claim: Claim, traceback: str) -> None:
        """Record that the run ended with an error; what it has written stays."""
        with self._writing() as connection:
            self._hold(connection, claim)
            _update(connection, claim.run.id, status="failed", traceback=traceback, lease=None, owner=None)

    def release(self, owner: str, *, failed: str | None = None) -> list[str]:
        """Free the runs that this owner holds, or mark them failed with a reason; give their ids."""
        with self._writing() as connection:
            held = sa.and_(RUNS.c.owner == owner, RUNS.c.status == "running")
            run_ids = list(connection.scalars(sa.select(RUNS.c.id).where(held)))
            for run_id in run_ids:
                status = "open" if failed is None else "failed"
                _update(connection, run_id, status=status, traceback=failed, lease=None, owner=None)
        return run_ids

    def runs(self, experiment: str | None = None) -> list[Row]:
        """Give every run, or those of one experiment, sorted by data set, strategy and seed."""
        query = sa.select(RUNS).order_by(RUNS.c.experiment, RUNS.c.dataset, RUNS.c.strategy, RUNS.c.seed, RUNS.c.id)
        return self._read(query if experiment is None else query.where(RUNS.c.experiment == experiment))

    def rounds(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Give the rounds of all or some runs, in order."""
        return self._of_runs(ROUNDS, run_ids)

    def metrics(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Give the metrics of all or some runs, in order."""
        return self._of_runs(METRICS, run_ids)

    def bins(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Give the reliability bins of all or some runs, in order."""
        return self._of_runs(BINS, run_ids)

    def picks(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Give the picks of all or some runs, in order."""
        return self._of_runs(PICKS, run_ids)

    def _of_runs(self, table: sa.Table, run_ids: Iterable[str] | None) -> list[Row]:
        query = sa.select(table).order_by(*table.primary_key.columns)
        if run_ids is None:
            return self._read(query)
        return [row for run_id in run_ids for row in self._read(query.where(table.c.run_id == run_id))]

    def _read(self, query: sa.Select[Any]) -> list[Row]:
        with _translated(self.place), self._engine.connect().execution_options(reading=True) as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with _translated(self.place), self._engine.begin() as connection:
            yield connection

    def _hold(self, connection: sa.Connection, claim: Claim) -> None:
        ours = sa.and_(RUNS.c.id == claim.run.id, RUNS.c.owner == claim.owner, RUNS.c.status == "running")
        lease = {"lease": time.time() + LEASE_SECONDS, "updated": time.time()}
        if connection.execute(RUNS.update().where(ours).values(**lease)).rowcount != 1:
            raise LeaseLost(f"run {claim.run.id} was taken over by another runner; its rounds go on there.")


class LeaseLost(StoreError):
    """The run belongs to another runner by now."""


def process_name(pid: int | None = None) -> str:
    """Give a name that no other process has, now or later: host, process id (this one's), time of its start."""
    pid = pid or os.getpid()
    return f"{socket.gethostname()}/{pid}/{_started(pid)}"


def _started(pid: int) -> str:
    """The kernel's start time of a process, which tells it from a later one of the same number; "" if not known."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _is_dead(owner: str) -> bool:
    host, _, process = owner.partition("/")
    pid, _, started = process.partition("/")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return started != "" and started != _started(int(pid))


def _is_free(row: Any) -> bool:
    if row.status != "running":
        return bool(row.status == "open")
    return row.lease is None or row.lease < time.time() or row.owner is None or _is_dead(row.owner)


def _update(connection: sa.Connection, run_id: str, **values: Any) -> None:
    connection.execute(RUNS.update().where(RUNS.c.id == run_id).values(**values, updated=time.time()))


def _rows_of(run: Run, record: "Round", items: Sequence[int], labels: Sequence[str]) -> dict[sa.Table, list[Row]]:
    key = {"run_id": run.id, "round": record.round}
    seconds = {f"seconds_{phase}": record.seconds[phase] for phase in ("fit", "predict", "select", "test")}
    line = {"labelled": record.labelled, "temperature": record.temperature, "evidence": record.evidence}
    measured = [("estimate", "measured", record.measured)]
    for split, scores in (("test", record.test), ("pool", record.pool)):
        if scores is not None:
            measured += [(split, "raw", scores.raw), (split, "recalibrated", scores.recalibrated)]
    metrics = [
        key | {"split": split, "kind": kind, "name": name, "value": None if value != value else float(value)}
        for split, kind, values in measured
        for name, value in values.items()
    ]
    bins: list[Row] = []
    if record.test is not None and record.round in quarters(run.rounds):
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
            "error": None if query.error is None else float(query.error[rank]),
            "confidence": None if query.confidence is None else float(query.confidence[rank]),
            "decided_by": None if query.decided_by is None else str(query.decided_by[rank]),
        }
        rows.append(key | {"rank": rank, "item": int(item), "label": label} | known)
    return rows


def quarters(rounds: int) -> set[int]:
    """Give the rounds 0, T/4, T/2, 3T/4 and T of a run of T rounds."""
    return {round(rounds * part / 4) for part in range(5)}


def _engine(place: str) -> sa.Engine:
    if place == ":memory:":
        return _sqlite(sa.create_engine("sqlite://", poolclass=sa.StaticPool))
    if "://" not in place:
        path = Path(place).expanduser()
        if path.is_dir() or not path.parent.is_dir():
            reason = "a folder" if path.is_dir() else "in a folder that does not exist"
            raise StoreError(f"{place} is {reason}; give the path of a file, such as runs.db, or a database URL.")
        return _sqlite(sa.create_engine(sa.URL.create("sqlite", database=str(path))))
    try:
        url = sa.make_url(place)
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingExtra("a store on PostgreSQL", "postgres") from error
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError) as error:
        raise StoreError(
            f"{place!r} is no database URL ({error}); give postgresql://user@host/name or a path."
        ) from None
    return _sqlite(engine) if url.get_backend_name() == "sqlite" else engine


def _sqlite(engine: sa.Engine) -> sa.Engine:
    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        for pragma in (
            f"busy_timeout={BUSY_MILLISECONDS}",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A transaction that reads first and writes later would fail, not wait, when another writes in between.
        if not connection.get_execution_options().get("reading"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


@contextmanager
def _translated(place: str) -> Iterator[None]:
    try:
        yield
    except sa.exc.DBAPIError as error:
        hint = "check that it is a store of cusal and can be written, or that the server is up"
        raise StoreError(f"cannot use the store {place}: {str(error.orig).strip()}; {hint}.") from error
