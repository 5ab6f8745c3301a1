from .cross_validated import CrossValidatedRecalibration
from .methods import REFIT_LIMIT, Counts, Method, Recalibrate, choose_method
from .pool_estimates import AccuracyEstimate, CalibrationEstimate
from .recalibration import Recalibration
from .temperature import apply_temperature, fit_temperature
from .temperature_scaled import TemperatureScaled

__all__ = [
    "REFIT_LIMIT",
    "AccuracyEstimate",
    "CalibrationEstimate",
    "Counts",
    "CrossValidatedRecalibration",
    "Method",
    "Recalibrate",
    "Recalibration",
    "TemperatureScaled",
    "apply_temperature",
    "choose_method",
    "fit_temperature",
]
