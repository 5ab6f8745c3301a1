"""Classifiers that `cusal.models.FewLabelClassifier` pools, found by the name of their file: `ridge.py` holds `Ridge`.

Each has one contract, `Expert`: a fit to labelled points that also makes out-of-fold predictions of them. Files whose
names begin with an underscore hold what experts share.
"""

import importlib
import pkgutil

from cusal.errors import UnknownName
from cusal.models.experts._expert import Expert

__all__ = ["Expert", "find", "names"]


def names() -> list[str]:
    """Return the names of all experts, sorted.

    >>> names()
    ['forest', 'kernel', 'lda', 'ridge']
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> type[Expert]:
    """Return the class of the expert called `name`.

    Raises
    ------
    UnknownName
        If there is none of this name.

    Examples
    --------
    >>> find("lda")()
    Lda()
    """
    if not isinstance(name, str) or name not in names():
        raise UnknownName("expert", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    found: type[Expert] = getattr(module, name.title())
    return found


def __dir__() -> list[str]:
    return __all__
