"""The model of a session as one that classifies items and can be written to a file."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cusal import Session
from cusal._items import take
from cusal.deploy.heads import FittedHead
from cusal.deploy.item_classifier import ItemClassifier, Outputs, Temperature
from cusal.features import Vectoriser
from cusal.recalibration import CrossValidatedRecalibration


class SessionModel(NamedTuple):
    """What classifies items, and what a file needs of it besides."""

    classifier: ItemClassifier
    head: FittedHead


def model_of(session: Session, vectoriser: Vectoriser, names: Mapping[int, str]) -> SessionModel:
    """Return the model of a session over vectors, whose labels are class ids.

    names: the names of the classes that exist, by id, in the order of the columns. Others, merged or deleted after the
    session met them, are not predicted.
    """
    session.fit()
    found = session.recalibration
    number = dict(zip(session.classes_.tolist(), session.class_columns.tolist(), strict=True))
    shown = [known for known in names if known in number]
    outputs = Outputs(
        session.model,
        found.scaling if isinstance(found, CrossValidatedRecalibration) else Temperature(found.temperature),
        len(number),
        np.array([number[known] for known in shown], dtype=np.int64),
        tuple(names[known] for known in shown),
    )
    labelled = session.pool.labelled
    numbers = np.array([number[session.labels[place]] for place in labelled.tolist()], dtype=np.int64)
    return SessionModel(
        ItemClassifier(vectoriser, outputs), FittedHead(session.model, take(session.items, labelled), numbers)
    )
