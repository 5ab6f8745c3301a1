"""What a round says of itself: how good the model is, how honest, and what it finds odd."""

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from cusal import Session
from cusal._types import Floats, Indices
from cusal.metrics import reliability
from cusal.session import OutOfSamplePredictions

MOST_MISTAKES = 50
Report = dict[str, Any]


def plain_report(labels: dict[int, int], classes: Sequence[int]) -> Report:
    """Return the report of a round without a model: of labels by item, and the classes that exist."""
    counts = Counter(labels.values())
    return {
        "labels": len(labels),
        "accuracy": None,
        "calibration": None,
        "stopping": None,
        "classes": [{"id": one, "labels": counts[one], "predicted": 0} for one in classes],
        "confusion": None,
        "mistakes": [],
    }


def full_report(session: Session, ids: Indices, classes: Sequence[int]) -> Report:
    """Return the report of a round with a model.

    ids: the item at each position of the session. classes: the ids of the classes that exist, in order.
    """
    found = session.out_of_sample()
    top = session.classes_[session.predict_proba().argmax(axis=1)]
    predicted = Counter(top[session.pool.open].tolist())
    report = plain_report(labels_of(session, ids), classes)
    for one in report["classes"]:
        one["predicted"] = predicted[one["id"]]
    return report | {
        "accuracy": _accuracy(session),
        "calibration": _calibration(session, found),
        "stopping": asdict(session.stopping()),
        "confusion": _confusion(found, session.classes_, classes),
        "mistakes": _mistakes(found, session.classes_, ids),
    }


def labels_of(session: Session, ids: Indices) -> dict[int, int]:
    """Return the class ids that a session was told, by item."""
    return {int(ids[place]): label for place, label in session.labels.items() if isinstance(label, int)}


def packed_predictions(session: Session, ids: Indices) -> bytes:
    """Return what the model takes each item for, as an .npz file without pickles; classes are ids."""
    probs = session.predict_proba()
    order = np.argsort(-probs, axis=1, kind="stable")[:, :2]
    best = np.take_along_axis(probs, order, axis=1)
    classes = session.classes_[order].astype(np.int32)
    content = io.BytesIO()
    np.savez_compressed(
        content,
        items=ids,
        top=classes[:, 0],
        second=classes[:, -1],
        confidence=best[:, 0].astype(np.float32),
        margin=(best[:, 0] - best[:, -1]).astype(np.float32),
    )
    return content.getvalue()


def _accuracy(session: Session) -> Report | None:
    if len(session.pool.open) == 0:
        return None
    return asdict(session.estimate_accuracy())


def _calibration(session: Session, found: OutOfSamplePredictions) -> Report:
    estimate = session.calibration
    ends = {
        f"{name}_{end}": None if interval is None else interval[place]
        for name, interval in (("ece_before", estimate.ece_before_interval), ("ece_after", estimate.ece_after_interval))
        for place, end in enumerate(("low", "high"))
    }
    own = {name: getattr(estimate, name) for name in ("temperature", "evidence", "ece_before", "ece_after")}
    return own | ends | {"provisional": estimate.provisional, "reliability": _reliability(found)}


def _reliability(found: OutOfSamplePredictions) -> list[Report]:
    """Return the bins of the reliability diagram that hold labels, of predictions out of sample."""
    if len(found.labels) == 0:
        return []
    bins = reliability(found.probs.max(axis=1), found.probs.argmax(axis=1) == found.labels)
    columns = zip(bins.score.tolist(), bins.hits.tolist(), bins.share.tolist(), bins.count.tolist(), strict=True)
    return [
        {"confidence": score, "right": hits, "share": share, "labels": count}
        for score, hits, share, count in columns
        if count
    ]


def _confusion(found: OutOfSamplePredictions, known: Any, classes: Sequence[int]) -> Report | None:
    """Return how often a label (row) was taken for a class (column), out of sample."""
    if len(found.labels) == 0:
        return None
    place = {one: row for row, one in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for label, guess in zip(known[found.labels].tolist(), known[found.probs.argmax(axis=1)].tolist(), strict=True):
        if label in place and guess in place:
            counts[place[label], place[guess]] += 1
    return {"classes": list(classes), "counts": counts.tolist()}


def _mistakes(found: OutOfSamplePredictions, known: Any, ids: Indices) -> list[Report]:
    """Return the items that models without their labels take for something else, surest first."""
    guess, confidence = found.probs.argmax(axis=1), _highest(found.probs)
    wrong = np.flatnonzero(guess != found.labels)
    wrong = wrong[np.argsort(-confidence[wrong], kind="stable")][:MOST_MISTAKES]
    return [
        {
            "item": int(ids[found.indices[row]]),
            "label": int(known[found.labels[row]]),
            "guess": int(known[guess[row]]),
            "confidence": float(confidence[row]),
        }
        for row in wrong
    ]


def _highest(probs: Floats) -> Floats:
    return np.asarray(probs.max(axis=1))
