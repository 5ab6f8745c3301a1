from . import experts, networks, objectives
from .ensemble import Ensemble
from .few_label_classifier import FewLabelClassifier
from .objectives._objective import Objective, Training, TrainingData
from .objectives.augmented import Augmented
from .objectives.cross_entropy import CrossEntropy
from .objectives.energy import Energy
from .pool_classifier import PoolClassifier
from .torch_classifier import TorchClassifier
from .uncalibrated import Uncalibrated

__all__ = [
    "Augmented",
    "CrossEntropy",
    "Energy",
    "Ensemble",
    "FewLabelClassifier",
    "Objective",
    "PoolClassifier",
    "TorchClassifier",
    "Training",
    "TrainingData",
    "Uncalibrated",
    "experts",
    "networks",
    "objectives",
]
