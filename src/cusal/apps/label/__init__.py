"""The labelling app: from a folder of images or a table of texts to labels and a calibrated model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
