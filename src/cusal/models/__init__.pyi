from .augmented import AugmentedClassifier
from .energy import EnergyClassifier
from .torch_classifier import TorchClassifier
from .uncalibrated import Uncalibrated

__all__ = [
    "AugmentedClassifier",
    "EnergyClassifier",
    "TorchClassifier",
    "Uncalibrated",
]
