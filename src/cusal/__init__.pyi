from . import (
    adapters,
    apps,
    audit,
    calibration,
    deploy,
    features,
    metrics,
    models,
    recalibration,
    scale,
    session,
    strategies,
)
from ._version import __version__
from .audit.audit import Audit
from .audit.comparison import Comparison
from .deploy.item_classifier import ItemClassifier
from .deploy.model_file import load_model
from .errors import CusalError
from .recalibration.pool_estimates import CalibrationEstimate
from .scale.picks import Picks
from .scale.scoring import score_files
from .session.labels import Pool
from .session.query import query
from .session.session import Session
from .session.simulate import Round, noisy, plot, simulate, to_frame
from .strategies._query_result import Query
from .strategies._strategy import Strategy
from .strategies._view import View

__all__ = [
    "Audit",
    "CalibrationEstimate",
    "Comparison",
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
    "apps",
    "audit",
    "calibration",
    "deploy",
    "features",
    "load_model",
    "metrics",
    "models",
    "noisy",
    "plot",
    "query",
    "recalibration",
    "scale",
    "score_files",
    "session",
    "simulate",
    "strategies",
    "to_frame",
]
