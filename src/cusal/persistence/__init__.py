"""Objects into files and back: what a saved session, model or audit may hold, and nothing else."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
