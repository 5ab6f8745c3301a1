"""Why an item was asked, in words."""

from collections.abc import Mapping
from typing import Any


def reason_in_words(reason: Mapping[str, Any] | None, names: Mapping[int, str]) -> str | None:
    """Return the reason of a pick as a short sentence.

    Parameters
    ----------
    reason : mapping or None
        What the worker wrote: a "kind", and the ids of two classes where it is between them.
    names : mapping of int to str
        The names of the classes by id.

    Returns
    -------
    str or None
        None where nothing is known.

    Examples
    --------
    >>> reason_in_words({"kind": "between", "classes": [3, 5]}, {3: "cat", 5: "dog"})
    'Between cat and dog'
    >>> reason_in_words({"kind": "new"}, {})
    'Nothing like it labelled yet'
    """
    if not reason:
        return None
    between = _between(reason.get("classes"), names)
    plain = {
        "between": between or "The model cannot decide between two classes",
        "new": "Nothing like it labelled yet",
        "typical": "Typical of many items",
        "random": "Random check",
        "audit": "Next in the order of the audit",
        "reserve": between or "Next in line while the model learns",
    }
    return plain.get(str(reason.get("kind")))


def _between(classes: object, names: Mapping[int, str]) -> str | None:
    if not isinstance(classes, list) or len(classes) != 2:
        return None
    found = [names.get(class_id) for class_id in classes]
    return None if None in found else f"Between {found[0]} and {found[1]}"
