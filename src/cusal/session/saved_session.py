"""A session as a file: its books, its strategy and its model, without the items.

The weights of a torch model are saved. A scikit-learn model is saved as its settings and fitted again when the file is
read, to the same labels with the same seed. What can be saved in neither way, for instance a user-defined model class
or a warm scikit-learn model, is read only with `trusted=True`. See `cusal.persistence` for the format.
"""

import os
from typing import Any

from cusal._item_hash import fingerprint
from cusal._version import __version__
from cusal.errors import DataError, InvalidInput
from cusal.persistence.object_file import FittedEstimator, is_object_file, read_objects, write_objects

KIND, FORMAT = "cusal.Session", 2


def write(path: str | os.PathLike[str], state: dict[str, Any], print_of_items: str) -> None:
    """Write the state of a session, and a fingerprint of its items."""
    content = {"kind": KIND, "format": FORMAT, "cusal": __version__, "items": print_of_items, "state": state}
    given = state["_unfitted"]
    warm = bool(getattr(given, "warm_start", False))
    if hasattr(given, "get_params") and not warm and not hasattr(given, "module"):
        # An estimator that is fitted from scratch in every round; one that is none of scikit-learn's is pickled.
        write_objects(path, content | {"state": _to_refit(state)}, pickle_fitted=True)
        return
    try:
        write_objects(path, content)
    except FittedEstimator:
        write_objects(path, content, pickle_fitted=True)


def read(path: str | os.PathLike[str], *, trusted: bool) -> tuple[dict[str, Any], str | None]:
    """Return the state of a saved session, and the fingerprint of its items, if the file has one."""
    if not is_object_file(path):
        raise DataError(f"{path} is not a saved {KIND}; expected a file written by save().")
    content = read_objects(path, trusted=trusted)
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise DataError(f"{path} is not a saved {KIND}; expected a file written by save().")
    if content["format"] != FORMAT:
        raise DataError(
            f"{path} has format {content['format']}, written by cusal {content['cusal']}, but this is cusal "
            f"{__version__}, which reads format {FORMAT}; install the other version."
        )
    return content["state"], content["items"]


def check_items(path: str | os.PathLike[str], print_of_items: str | None, items: Any) -> None:
    """Raise `InvalidInput` if a file was saved over other items; files of the first version cannot say so."""
    if print_of_items is not None and print_of_items != fingerprint(items):
        raise InvalidInput(
            f"{path} was saved over other items: their number is the same, but not what they hold; give the same, in "
            "the same order."
        )


def _to_refit(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state with the unfitted model in place of the fitted one."""
    from sklearn.base import clone

    unfitted = clone(state["_unfitted"])
    return state | {"model": unfitted, "_unfitted": unfitted, "fitted": False, "refit": state["fitted"]}
