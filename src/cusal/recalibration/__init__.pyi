from .evidence import Calibration
from .open_items import AccuracyEstimate
from .temperature import apply_temperature, fit_temperature
from .temperature_scaled import TemperatureScaled

__all__ = [
    "AccuracyEstimate",
    "Calibration",
    "TemperatureScaled",
    "apply_temperature",
    "fit_temperature",
]
