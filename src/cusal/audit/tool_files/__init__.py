"""Files as evaluation tools write them: each reader is one file, found by what a file holds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
