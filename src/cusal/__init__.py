"""Calibrated uncertainty sampling: label fewer items, get a classifier that is accurate and honest."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
