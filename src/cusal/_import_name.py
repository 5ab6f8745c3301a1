"""Classes of the user, named as "package.module:Name"; those of cusal have plain names."""

import importlib
import os
import sys
from typing import Any

from cusal.errors import InvalidInput, UnknownName


def is_import_name(name: str) -> bool:
    """Return whether a name is of the form "package.module:Name"."""
    return ":" in name


def import_name(name: str, kind: str) -> Any:
    """Return the object called "package.module:Name"; error messages call it a `kind`.

    Modules are also looked for in the current folder, as with `python -m`.

    >>> import_name("fractions:Fraction", "number")
    <class 'fractions.Fraction'>
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InvalidInput(f"the {kind} {name!r} is not of the form package.module:Name; name a class of a module.")
    found: Any = _import(module, name, kind)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UnknownName(f"{kind} in {module}", attribute, [known for known in dir(found) if known[0] != "_"])
        found = getattr(found, part)
    return found


def _import(module: str, name: str, kind: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not error.name or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists; something that it imports is missing
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # for good: checkpoints of the user's classes are unpickled later
            return _import(module, name, kind)
        raise InvalidInput(
            f"the {kind} {name!r} cannot be imported: there is no module {error.name!r}. "
            "Install it, or start in the folder that holds it."
        ) from error
