from .evidence import Calibration
from .temperature import apply_temperature, fit_temperature
from .temperature_scaled import TemperatureScaled

__all__ = [
    "Calibration",
    "TemperatureScaled",
    "apply_temperature",
    "fit_temperature",
]
