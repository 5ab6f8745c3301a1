"""Which items a list shows, and its lines."""

from dataclasses import dataclass

from cusal.apps.label.store.records import Item


@dataclass(frozen=True, slots=True)
class Filter:
    """Which items to list; None leaves a condition out.

    Parameters
    ----------
    label, prediction : int or None
        The class that people or the model gave.
    confidence_low, confidence_high : float or None
        Bounds of the confidence of the prediction.
    person : str or None
        Somebody who answered.
    kind : str or None
        An answer of this kind ("label", "skip", "unsure"), by anybody, or by `person`.
    disagree : bool or None
        Whether people gave different labels.
    text : str or None
        Words to find in the text or the key.
    labelled : bool or None
        Whether there is a label.
    aside : bool or None
        Whether the item is set aside, because its file is missing or broken.
    order : str
        "id", "confidence" (least sure first), "recent" (latest label first) or "disagree" (those first).

    Examples
    --------
    >>> from cusal.apps.label import Filter
    >>> Filter(prediction=2, confidence_low=0.9, labelled=False).order
    'id'
    """

    label: int | None = None
    prediction: int | None = None
    confidence_low: float | None = None
    confidence_high: float | None = None
    person: str | None = None
    kind: str | None = None
    disagree: bool | None = None
    text: str | None = None
    labelled: bool | None = None
    aside: bool | None = None
    order: str = "id"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list of items.

    Parameters
    ----------
    item : Item
        The item.
    label : int or None
        The class that people gave it.
    prediction : int or None
        The class that the model gives it.
    confidence : float or None
        The probability of that class.
    people : tuple of str
        Who answered, first one first.
    disagree : bool
        Whether their labels differ.
    kind : str or None
        What the last of them answered: "label", "skip" or "unsure".
    """

    item: Item
    label: int | None
    prediction: int | None
    confidence: float | None
    people: tuple[str, ...]
    disagree: bool
    kind: str | None = None
