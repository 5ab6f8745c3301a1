from .columns import PoolColumns
from .engines import Engine, find_engine
from .engines.local import LocalEngine
from .picks import Picks
from .request import Request
from .scoring import Files, score, score_files

__all__ = ["Engine", "Files", "LocalEngine", "Picks", "PoolColumns", "Request", "find_engine", "score", "score_files"]
