"""The active-learning loop: the session with `ask` and `tell`, one query, a simulated oracle."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
