"""The easy end: open items that the model takes for one class, surest first."""

from collections.abc import Iterable

import numpy as np

from cusal.apps.label.server.predictions import Predictions
from cusal.apps.label.store import Project

CHUNK = 200  # candidates looked at in one step


def confident_items(project: Project, predictions: Predictions, class_id: int, count: int) -> list[tuple[int, float]]:
    """Return up to `count` items of one predicted class that nobody has answered, with their confidence.

    Parameters
    ----------
    project : Project
        Knows which items are open.
    predictions : Predictions
        Of the last round.
    class_id : int
        What the model takes the items for.
    count : int
        The largest number of items.

    Returns
    -------
    list of (int, float)
        Surest first.
    """
    rows = predictions.rows(class_id=class_id)
    rows = rows[np.argsort(-predictions.confidence[rows], kind="stable")]
    found: list[tuple[int, float]] = []
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        items = predictions.items[chunk].tolist()
        answered = {answer.item for answer in project.answers.given(items=items)}
        shown = {item.id for item in project.items.of(items) if item.state == "ok"} - answered
        pairs = zip(items, predictions.confidence[chunk].tolist(), strict=True)
        found += [(item, confidence) for item, confidence in pairs if item in shown]
        if len(found) >= count:
            break
    return found[:count]


def most_confident_class(
    project: Project, predictions: Predictions, classes: Iterable[int], count: int
) -> tuple[int | None, list[int]]:
    """Return the class whose first `count` open items the model is surest of, and these items."""
    best: tuple[float, int | None, list[int]] = (0.0, None, [])
    for class_id in classes:
        found = confident_items(project, predictions, class_id, count)
        total = sum(confidence for _, confidence in found)
        if total > best[0]:
            best = (total, class_id, [item for item, _ in found])
    return best[1], best[2]
