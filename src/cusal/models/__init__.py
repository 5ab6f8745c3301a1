"""What has `fit` and `predict_proba`: torch modules with their trainer, networks, training variants."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
