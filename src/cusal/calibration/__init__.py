"""Calibration error as a number: for each pool point, for a labelled set, and the bounds that hold for it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
