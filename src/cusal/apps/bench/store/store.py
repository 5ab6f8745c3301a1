"""Runs and their rounds in one database: an SQLite file by default, PostgreSQL by URL.

A round is written in one transaction together with the session as it is then, so a process that is killed at
any moment loses the round in flight and nothing else. A runner holds a run by a lease that it renews; a run whose
runner died is free again, at once where the process can be seen to be dead, else when its lease ends.
"""

import itertools
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cusal.apps._database import open_engine, translated
from cusal.apps.bench.store import archive, digests, leases
from cusal.apps.bench.store import schema as tables
from cusal.apps.bench.store.archive import Summary
from cusal.apps.bench.store.digests import Check, signed, verified
from cusal.apps.bench.store.leases import LEASE_SECONDS as LEASE_SECONDS
from cusal.apps.bench.store.leases import process_name, through_outages
from cusal.apps.bench.store.records import Claim, Row, Run, check_cells, rows_of
from cusal.apps.bench.store.schema import BINS, CHECKPOINTS, DIGESTS, METRICS, OF_A_ROUND, PICKS, ROUNDS, RUNS
from cusal.errors import StoreError

if TYPE_CHECKING:
    from cusal.session import Round


class Store:
    """The runs of one or more experiments in a database.

    Several processes may use one store at a time. `add`, `claim`, `write_round`, `fail` and `release` are for runners;
    `runs`, `rounds`, `metrics`, `bins` and `picks` return rows as dictionaries; `export` and `load` move runs between
    stores.

    Parameters
    ----------
    place : str or path
        An SQLite file, ":memory:", or a URL such as `postgresql://user:password@host/database`.
    read_only : bool
        Whether the store is only read. A file on a disk that cannot be written can then be opened too, and none is made
        or changed.

    Raises
    ------
    StoreError
        If the file or server cannot be used, or holds something else.

    Examples
    --------
    >>> with Store(":memory:") as store:
    ...     store.runs()
    []
    """

    def __init__(self, place: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.place = str(place)
        if read_only:
            self._engine = open_engine(self.place, read_only=True)
            with self._reading() as connection:
                tables.require(connection, self.place)
            return
        self._engine = open_engine(self.place)
        with self._writing() as connection:
            tables.prepare(connection, self.place)

    def close(self) -> None:
        """Close the file or the connection to the server."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, runs: Iterable[Run]) -> None:
        """Add the runs that are not there yet, and open those that failed for another try.

        Parameters
        ----------
        runs : iterable of Run
            Such as `spec.run` of every spec of a grid.
        """
        insert = (postgresql if self._engine.name == "postgresql" else sqlite).insert(RUNS)
        with self._writing() as connection:
            known = set(connection.scalars(sa.select(DIGESTS.c.run_id).where(DIGESTS.c.round == digests.LINE)))
            for run in runs:
                line = insert.values(**asdict(run), status="open", updated=time.time())
                connection.execute(line.on_conflict_do_nothing())
                if run.id not in known:
                    digests.write_digests(connection, run.id, [digests.LINE])
                failed = sa.and_(RUNS.c.id == run.id, RUNS.c.status == "failed")
                connection.execute(RUNS.update().where(failed).values(status="open", traceback=None))

    def claim(self, run_ids: Sequence[str], owner: str | None = None, *, trusted: bool = False) -> Claim | None:
        """Take the first of these runs that is open, or whose runner is gone.

        Parameters
        ----------
        run_ids : sequence of str
            The runs to choose from.
        owner : str, optional
            Who takes it; by default this process.
        trusted : bool, default False
            Whether to resume from checkpoints that somebody else wrote. They are pickles, and reading one runs code.

        Returns
        -------
        Claim or None
            The run, held for some minutes; None where there is none to take.
        """
        holder = owner or process_name()
        return through_outages(lambda: self._claim(run_ids, holder, trusted))

    def _claim(self, run_ids: Sequence[str], owner: str, trusted: bool) -> Claim | None:
        with self._writing() as connection:
            leases.shorten_leases(connection)
            moment = leases.now(connection)
            columns = (RUNS.c.id, RUNS.c.status, RUNS.c.lease, RUNS.c.owner)
            rows = {row.id: row for row in connection.execute(sa.select(*columns)).all()}
            for run_id in run_ids:
                row = rows.get(run_id)
                if row is None or not leases.is_free(row, moment):
                    continue
                same_owner = RUNS.c.owner.is_not_distinct_from(row.owner)
                unchanged = sa.and_(RUNS.c.id == run_id, RUNS.c.status == row.status, same_owner)
                mine = {"status": "running", "owner": owner, "lease": leases.new_lease(connection)}
                taken = connection.execute(RUNS.update().where(unchanged).values(**mine, updated=time.time()))
                if taken.rowcount == 1:
                    return self._claimed(connection, run_id, owner, trusted)
        return None

    def _claimed(self, connection: sa.Connection, run_id: str, owner: str, trusted: bool) -> Claim:
        fields = [RUNS.c[name] for name in Run.__dataclass_fields__]
        run = Run(*connection.execute(sa.select(*fields).where(RUNS.c.id == run_id)).one())
        stored = connection.scalar(sa.select(CHECKPOINTS.c.state).where(CHECKPOINTS.c.run_id == run_id))
        state = verified(run_id, stored, trusted=trusted)
        if state is None:  # it starts at round 0, so rounds of which the session is gone are of no use
            for table in reversed(OF_A_ROUND):
                connection.execute(table.delete().where(table.c.run_id == run_id))
            digests.forget_digests(connection, run_id, rounds=True)
        return Claim(run, owner, state, refused=state is None and stored is not None)

    def renew(self, claim: Claim) -> None:
        """Hold the run for some more minutes."""
        through_outages(lambda: self._renew(claim))

    def _renew(self, claim: Claim) -> None:
        with self._writing() as connection:
            self._hold(connection, claim)

    def write_round(
        self, claim: Claim, record: "Round", *, items: Sequence[int], labels: Sequence[str], state: bytes
    ) -> None:
        """Write a round and the session after it, all or nothing; the last one finishes the run.

        Parameters
        ----------
        claim : Claim
            The run.
        record : Round
            The round.
        items, labels : sequence
            Positions in the train split and labels of the picks, best first.
        state : bytes
            The session to resume from. It is stored with a signature: see `cusal.apps.bench.store.digests`.

        Raises
        ------
        LeaseLost
            If another runner has taken the run over.
        """
        last = record.query is None or record.round >= claim.run.rounds
        tables_rows, state = rows_of(claim.run, record, items, labels), signed(claim.run.id, state)
        tries = itertools.count()
        through_outages(
            lambda: self._write_round(claim, record.round, tables_rows, None if last else state, next(tries) > 0)
        )

    def _write_round(
        self, claim: Claim, number: int, tables_rows: dict[sa.Table, list[Row]], state: bytes | None, again: bool
    ) -> None:
        with self._writing() as connection:
            here = sa.and_(ROUNDS.c.run_id == claim.run.id, ROUNDS.c.round == number)
            if again and connection.scalar(sa.select(sa.func.count()).where(here)):
                return  # the server took it, and was gone before it could say so
            self._hold(connection, claim)
            for table, rows in tables_rows.items():
                if rows:
                    connection.execute(table.insert(), rows)
            connection.execute(CHECKPOINTS.delete().where(CHECKPOINTS.c.run_id == claim.run.id))
            digests.forget_digests(connection, claim.run.id)
            if state is None:
                _update(connection, claim.run.id, status="done", lease=None, owner=None)
            else:
                line = {"run_id": claim.run.id, "round": number, "state": state}
                connection.execute(CHECKPOINTS.insert().values(**line))
            digests.write_digests(connection, claim.run.id, [number, digests.SESSION])

    def copy(self, source: str, target: str) -> None:
        """Finish an open run with the rounds of a finished one that is the same under another name."""
        ours = sa.and_(RUNS.c.id == target, RUNS.c.status == "open")
        with self._writing() as connection:
            if connection.execute(RUNS.update().where(ours).values(status="done", updated=time.time())).rowcount != 1:
                return  # another runner has begun it
            connection.execute(CHECKPOINTS.delete().where(CHECKPOINTS.c.run_id == target))
            for table in reversed(OF_A_ROUND):
                connection.execute(table.delete().where(table.c.run_id == target))
            digests.forget_digests(connection, target, rounds=True)
            for table in (*OF_A_ROUND, DIGESTS):
                columns = [sa.literal(target) if column.name == "run_id" else column for column in table.columns]
                rows = sa.select(*columns).where(table.c.run_id == source, table.c.round >= 0)
                connection.execute(table.insert().from_select(list(table.columns.keys()), rows))

    def fail(self, claim: Claim, traceback: str) -> None:
        """Record that the run ended with an error; what it has written stays."""
        through_outages(lambda: self._fail(claim, traceback))

    def _fail(self, claim: Claim, traceback: str) -> None:
        with self._writing() as connection:
            self._hold(connection, claim)
            _update(connection, claim.run.id, status="failed", traceback=traceback, lease=None, owner=None)

    def release(self, owner: str, *, failed: str | None = None) -> list[str]:
        """Free the runs that this owner holds, or mark them failed with a reason; return their ids."""
        return through_outages(lambda: self._release(owner, failed))

    def _release(self, owner: str, failed: str | None) -> list[str]:
        with self._writing() as connection:
            held = sa.and_(RUNS.c.owner == owner, RUNS.c.status == "running")
            run_ids = list(connection.scalars(sa.select(RUNS.c.id).where(held)))
            for run_id in run_ids:
                status = "open" if failed is None else "failed"
                _update(connection, run_id, status=status, traceback=failed, lease=None, owner=None)
        return run_ids

    def runs(self, experiment: str | None = None) -> list[Row]:
        """Return every run, or those of one experiment, sorted by data set, strategy and seed.

        Parameters
        ----------
        experiment : str, optional
            The name of the experiment; by default all.

        Returns
        -------
        list of dict
            The columns of `schema.RUNS`.
        """
        query = sa.select(RUNS).order_by(RUNS.c.experiment, RUNS.c.dataset, RUNS.c.strategy, RUNS.c.seed, RUNS.c.id)
        return self._read(query if experiment is None else query.where(RUNS.c.experiment == experiment), RUNS)

    def rounds(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the rounds of all or some runs, in order."""
        return self._of_runs(ROUNDS, run_ids)

    def metrics(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the metrics of all or some runs, in order."""
        return self._of_runs(METRICS, run_ids)

    def bins(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the reliability bins of all or some runs, in order."""
        return self._of_runs(BINS, run_ids)

    def picks(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the picks of all or some runs, in order."""
        return self._of_runs(PICKS, run_ids)

    def export(self, folder: str | os.PathLike[str], *, compact: bool = False) -> Summary:
        """Write each run to a compact file of its own in `folder`.

        Parameters
        ----------
        folder : path
            Created if need be. Files of runs that this store does not have stay, and so do those with more rounds.
        compact : bool, default False
            Leave out what curves and tables do not need: picks, reliability bins, scores on the pool, and runs that are
            not done.

        Returns
        -------
        Summary

        Raises
        ------
        DataError
            If the folder cannot be written.
        StoreError
            If the store is damaged.
        """
        with self._reading() as connection:
            digests.check(connection, self.place).require()
            return archive.export(connection, Path(folder).expanduser(), compact=compact)

    def load(self, folder: str | os.PathLike[str]) -> Summary:
        """Add the runs that `export` wrote; of a run that is here already, the one with more rounds stays.

        Parameters
        ----------
        folder : path
            Written by this or an earlier version. No code of it runs: a session that somebody else wrote is not read,
            and its run starts again.

        Returns
        -------
        Summary
            Of the runs that were taken in.

        Raises
        ------
        StoreError
            If the folder holds no runs, or a file is damaged.
        """
        with self._writing() as connection:
            running = connection.execute(sa.select(RUNS).where(RUNS.c.status == "running")).all()
            moment = leases.now(connection)
            held = {row.id for row in running if not leases.is_free(row, moment)}
            return archive.load(connection, Path(folder).expanduser(), held=held)

    def check(self, run_ids: Iterable[str] | None = None) -> Check:
        """Compare all or some runs with the digests that were written with them.

        Parameters
        ----------
        run_ids : iterable of str, optional
            The runs; by default all, and the file itself too.

        Returns
        -------
        Check
            What is damaged and what cannot be checked; its method `require` raises a StoreError for the first.
        """
        with self._reading() as connection:
            return digests.check(connection, self.place, run_ids)

    def _of_runs(self, table: sa.Table, run_ids: Iterable[str] | None) -> list[Row]:
        query = sa.select(table).order_by(*table.primary_key.columns)
        if run_ids is None:
            return self._read(query, table)
        return [row for run_id in run_ids for row in self._read(query.where(table.c.run_id == run_id), table)]

    def _read(self, query: sa.Select[Any], table: sa.Table) -> list[Row]:
        """Return rows of a table; a file that somebody changed may hold values that no run writes."""
        with self._reading() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        try:
            for column in table.columns:
                check_cells([row[column.name] for row in rows], column)
        except ValueError as error:
            raise StoreError(
                f"{self.place} was changed by hand: in its table {table.name}, {error}; restore it from a copy, or do "
                "the runs again in a new store."
            ) from error
        return rows

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """One unchanging picture of the store, whatever others write meanwhile."""
        level = {"isolation_level": "REPEATABLE READ"} if self._engine.name == "postgresql" else {}
        with translated(self.place), self._engine.connect().execution_options(reading=True, **level) as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with translated(self.place), self._engine.begin() as connection:
            yield connection

    def _hold(self, connection: sa.Connection, claim: Claim) -> None:
        ours = sa.and_(RUNS.c.id == claim.run.id, RUNS.c.owner == claim.owner, RUNS.c.status == "running")
        lease = {"lease": leases.new_lease(connection), "updated": time.time()}
        if connection.execute(RUNS.update().where(ours).values(**lease)).rowcount != 1:
            raise LeaseLost(f"run {claim.run.id} was taken over by another runner; it continues there.")


class LeaseLost(StoreError):
    """The run belongs to another runner by now."""


def _update(connection: sa.Connection, run_id: str, **values: Any) -> None:
    connection.execute(RUNS.update().where(RUNS.c.id == run_id).values(**values, updated=time.time()))
