"""Why an item was asked and what was undone, in words."""

from collections.abc import Mapping
from typing import Any

from cusal.apps.label.store import Undone


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


def undone_in_words(undone: Undone, names: Mapping[int, str]) -> str | None:
    """Return what an undone change of the classes leads to, as a sentence; None where labels were undone.

    Parameters
    ----------
    undone : Undone
        What was undone.
    names : mapping of int to str
        The names of the classes by id, as they are now, also of those that are gone.

    Returns
    -------
    str or None

    Examples
    --------
    >>> undone_in_words(Undone(7, "class", [], "delete", class_id=3), {3: "cat"})
    'cat is back.'
    """
    if undone.kind != "class":
        return None
    name = "The class" if undone.class_id is None else names.get(undone.class_id, "The class")
    plain = {
        "add": f"{name} was taken away again.",
        "edit": f"{name} is as it was before.",
        "merge": f"{name} is a class of its own again.",
        "delete": f"{name} is back.",
        "reorder": "The classes are in the order that they had before.",
    }
    return plain.get(undone.action or "")
