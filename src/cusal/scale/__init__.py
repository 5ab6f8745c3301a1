"""Pools in files larger than memory, scored on this machine or on a Ray cluster."""

from cusal.scale.columns import PoolColumns
from cusal.scale.engines import Engine, find_engine
from cusal.scale.engines.local import LocalEngine
from cusal.scale.picks import Picks
from cusal.scale.request import Request
from cusal.scale.score import Files, score, score_files

__all__ = ["Engine", "Files", "LocalEngine", "Picks", "PoolColumns", "Request", "find_engine", "score", "score_files"]
