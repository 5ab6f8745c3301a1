"""Runs and their rounds in one database: an SQLite file by default, PostgreSQL by URL."""

from cusal.errors import MissingExtra

try:
    import sqlalchemy  # noqa: F401 - everything here needs it
except ImportError as error:
    raise MissingExtra("the store of runs", "bench") from error

from cusal.apps.bench.store.archive import ExportedRuns
from cusal.apps.bench.store.leases import process_name
from cusal.apps.bench.store.records import Claim, Run, quarters
from cusal.apps.bench.store.store import LEASE_SECONDS, LeaseLost, Store

__all__ = ["LEASE_SECONDS", "Claim", "ExportedRuns", "LeaseLost", "Run", "Store", "process_name", "quarters"]
