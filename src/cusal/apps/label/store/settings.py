"""Settings as lines of the table: one value each, as JSON."""

import json
from dataclasses import asdict, fields, replace
from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store.prepared import Prepared, upsert
from cusal.apps.label.store.records import Settings
from cusal.apps.label.store.schema import SETTINGS
from cusal.errors import InvalidInput, UnknownName

KINDS = ("image", "text", "table")

_VALUE = Prepared(lambda _: sa.select(SETTINGS.c.value).where(SETTINGS.c.name == sa.bindparam("name")))

# The overlap as a number inside of a statement, so that it need not be read first; a setting is JSON.
OVERLAP = sa.select(sa.cast(SETTINGS.c.value, sa.Integer)).where(SETTINGS.c.name == "overlap").scalar_subquery()


def read_settings(connection: sa.Connection) -> Settings:
    """Return the settings; those that a later version of cusal added are left out."""
    known = {field.name for field in fields(Settings)}
    rows = connection.execute(sa.select(SETTINGS.c.name, SETTINGS.c.value))
    return Settings(**{name: json.loads(value) for name, value in rows if name in known})


def read_setting(connection: sa.Connection, name: str) -> Any:
    """Return the value of one setting."""
    value = _VALUE(connection, name=name).scalar()
    return None if value is None else json.loads(value)


def write_settings(connection: sa.Connection, settings: Settings) -> None:
    """Write all settings."""
    check(settings)
    upsert(connection, SETTINGS, [(name, json.dumps(value)) for name, value in asdict(settings).items()])


def changed(settings: Settings, changes: dict[str, Any]) -> Settings:
    """Return settings with some replaced; raise an error for a name that is none."""
    known = [field.name for field in fields(Settings)]
    for name in changes:
        if name not in known:
            raise UnknownName("setting", name, known)
    return replace(settings, **changes)


def check(settings: Settings) -> None:
    """Raise an error for a setting out of its range."""
    if settings.kind not in KINDS:
        raise UnknownName("kind of project", settings.kind, KINDS)
    for name, least in (("batch", 1), ("overlap", 1), ("pool", 1), ("seed", 0)):
        value = getattr(settings, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidInput(f"{name} is {value!r}; it is a whole number of {least} or more.")
    if settings.budget is not None and (not isinstance(settings.budget, int) or settings.budget < 1):
        raise InvalidInput(f"budget is {settings.budget!r}; it is a whole number of 1 or more, or None for no limit.")
    if not 0 <= settings.audit < 1:
        raise InvalidInput(f"audit is {settings.audit!r}; it is a share from 0 up to, not including, 1.")
