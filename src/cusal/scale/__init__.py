"""Pools in files larger than memory, scored on this machine or on a Ray cluster."""

from cusal.scale.engines.local import Engine, LocalEngine, find_engine
from cusal.scale.score import Files, score
from cusal.scale.scorer import Request

__all__ = ["Engine", "Files", "LocalEngine", "Request", "find_engine", "score"]
