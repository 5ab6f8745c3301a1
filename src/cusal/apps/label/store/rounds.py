"""The rounds of the model, and what the processes of a project are doing."""

import json
import time
from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store.connection import Part
from cusal.apps.label.store.predictions import LastPredictions
from cusal.apps.label.store.prepared import upsert
from cusal.apps.label.store.records import Round
from cusal.apps.label.store.schema import ROUNDS, STATUS

KEPT = 2  # rounds whose predictions and session are kept; they are large


class Rounds(LastPredictions):
    """The rounds of the model, and the predictions of the last one."""

    def add(self, record: Round) -> None:
        """Write a round; the predictions and the session of all but the last two are dropped.

        Parameters
        ----------
        record : Round
            A round that is there already is replaced.
        """
        at = time.time() if record.at is None else record.at
        line = (record.round, at, record.labels, json.dumps(record.report), record.predictions, record.session)
        with self._writing() as connection:
            upsert(connection, ROUNDS, [line])
            kept = sa.or_(ROUNDS.c.predictions.is_not(None), ROUNDS.c.session.is_not(None))
            old = ROUNDS.update().where(ROUNDS.c.round <= record.round - KEPT, kept)
            connection.execute(old.values(predictions=None, session=None))

    def last(self) -> Round | None:
        """Return the latest round with its predictions and session, or None before the first.

        Returns
        -------
        Round or None
        """
        columns = (
            ROUNDS.c.round,
            ROUNDS.c.labels,
            ROUNDS.c.report,
            ROUNDS.c.predictions,
            ROUNDS.c.session,
            ROUNDS.c.at,
        )
        with self._reading() as connection:
            row = connection.execute(sa.select(*columns).order_by(ROUNDS.c.round.desc()).limit(1)).one_or_none()
        if row is None:
            return None
        return Round(row.round, row.labels, json.loads(row.report), row.predictions, row.session, row.at)

    def last_number(self) -> int | None:
        """Return the number of the latest round, without reading the rest of it; None before the first.

        Returns
        -------
        int or None
        """
        with self._reading() as connection:
            number: int | None = connection.scalar(sa.select(sa.func.max(ROUNDS.c.round)))
        return number

    def reports(self) -> list[dict[str, Any]]:
        """Return the reports of all rounds, first one first.

        Returns
        -------
        list of dict
        """
        with self._reading() as connection:
            return [
                json.loads(text) for text in connection.scalars(sa.select(ROUNDS.c.report).order_by(ROUNDS.c.round))
            ]


class Status(Part):
    """What the processes of a project are doing, as each of them wrote it last."""

    def set(self, name: str, value: dict[str, Any]) -> None:
        """Write what a process is doing.

        Parameters
        ----------
        name : str
            Such as "worker", "features" or "items".
        value : dict
            What JSON can hold; it replaces what was said before.
        """
        with self._writing(durable=False) as connection:
            upsert(connection, STATUS, [(name, json.dumps(value), time.time())])

    def all(self) -> dict[str, dict[str, Any]]:
        """Return what each process said last.

        Returns
        -------
        dict of str to dict
            By name; `at` is when it was said, in seconds since 1970.
        """
        with self._reading() as connection:
            rows = connection.execute(sa.select(STATUS.c.name, STATUS.c.value, STATUS.c.at)).all()
        return {name: json.loads(value) | {"at": at} for name, value, at in rows}
