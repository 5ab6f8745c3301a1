from . import adapters, audit, calibration, datasets, features, label, metrics, models, recalibration, scale, strategies
from ._version import __version__
from .audit.audit import Audit
from .errors import CusalError
from .label.export.item_classifier import ItemClassifier
from .label.export.model_file import load_model
from .loop.pool import Pool
from .loop.query import query
from .loop.session import Session
from .loop.simulate import Round, noisy, simulate
from .recalibration.evidence import Calibration
from .scale.picks import Picks
from .scale.scoring import score_files
from .strategies._query_result import Query
from .strategies._strategy import Strategy
from .strategies._view import View

__all__ = [
    "Audit",
    "Calibration",
    "CusalError",
    "ItemClassifier",
    "Picks",
    "Pool",
    "Query",
    "Round",
    "Session",
    "Strategy",
    "View",
    "__version__",
    "adapters",
    "audit",
    "calibration",
    "datasets",
    "features",
    "label",
    "load_model",
    "metrics",
    "models",
    "noisy",
    "query",
    "recalibration",
    "scale",
    "score_files",
    "simulate",
    "strategies",
]
