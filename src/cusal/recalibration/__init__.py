"""Honest probabilities: temperatures, the evidence that they are fitted to, out-of-sample predictions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
