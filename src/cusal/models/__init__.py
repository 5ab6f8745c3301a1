"""What has `fit` and `predict_proba`: torch modules with their trainer, networks, training variants."""

from typing import Any

import lazy_loader

from cusal.models._torch_extra import torch_needed

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with torch_needed(f"cusal.models.{name}"):
        return _load(name)
