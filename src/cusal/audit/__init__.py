"""How good given predictions are, which of them are wrong and which can be trusted, from few checks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
