"""Calibrated uncertainty sampling: label fewer items, get a classifier that is accurate and honest."""

from cusal import calibration, metrics, strategies
from cusal.errors import CusalError
from cusal.evidence import Calibration
from cusal.picks import Query
from cusal.pool import Pool
from cusal.query import query
from cusal.session import Session
from cusal.simulate import Round, noisy, simulate
from cusal.strategy import Strategy
from cusal.version import __version__
from cusal.view import View

__all__ = [
    "Calibration",
    "CusalError",
    "Pool",
    "Query",
    "Round",
    "Session",
    "Strategy",
    "View",
    "__version__",
    "calibration",
    "metrics",
    "noisy",
    "query",
    "simulate",
    "strategies",
]
