"""cusal inside the libraries that people already use; each of them is imported when its adapter is first used."""

from typing import Any

import lazy_loader

from cusal.adapters._library import library_needed

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with library_needed(f"cusal.adapters.{name}"):
        return _load(name)
