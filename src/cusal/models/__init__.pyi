from . import networks, objectives
from .ensemble import Ensemble
from .objectives._objective import Objective, Training, TrainingData
from .objectives.augmented import Augmented
from .objectives.cross_entropy import CrossEntropy
from .objectives.energy import Energy
from .pool_classifier import PoolClassifier
from .pool_pipeline import PoolPipeline
from .table_classifier import TableClassifier
from .torch_classifier import TorchClassifier
from .uncalibrated import Uncalibrated

__all__ = [
    "Augmented",
    "CrossEntropy",
    "Energy",
    "Ensemble",
    "Objective",
    "PoolClassifier",
    "PoolPipeline",
    "TableClassifier",
    "TorchClassifier",
    "Training",
    "TrainingData",
    "Uncalibrated",
    "networks",
    "objectives",
]
