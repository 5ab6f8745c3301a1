"""Objects of the user's own by name: "package.module:Name"."""

import importlib
import os
import sys
from typing import Any

from cusal.errors import InvalidInput


def is_dotted(name: str) -> bool:
    """Return whether a name has the form "package.module:Name"."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load_dotted(name: str, kind: str) -> Any:
    """Return the object that "package.module:Name" names; modules in the current folder are found too.

    Parameters
    ----------
    name : str
    kind : str
        What is looked for, as errors call it: "strategy", "model".

    Examples
    --------
    >>> load_dotted("fractions:Fraction", "number")
    <class 'fractions.Fraction'>
    """
    module_name, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path and "" not in sys.path:  # a console script does not look in the current folder
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = f" ({error})" if error.name != module_name else ""
        raise InvalidInput(
            f"the {kind} {name!r} is in no module that Python finds{missing}; install its package, or start from the "
            "folder that it lies in."
        ) from error
    if not hasattr(module, attribute):
        raise InvalidInput(f"the module {module_name} has no {attribute}; check the {kind} {name!r}.")
    return getattr(module, attribute)
