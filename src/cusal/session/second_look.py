"""What a session predicts of all its items, and of the labelled ones by models that had not seen their labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.session.session import Session


@dataclass(frozen=True)
class SecondLook:
    """Labelled items, looked at again by models that were not fitted to them.

    indices: positions of the items (n,). probs: recalibrated, (n, classes), columns as `session.classes_`. labels:
    their columns (n,). drawn: whether each was drawn at random, (n,).
    """

    indices: Indices
    probs: NDArray[np.float64]
    labels: Indices
    drawn: NDArray[np.bool_]


def second_look(session: Session) -> SecondLook:
    """Return out-of-fold predictions of the labelled items, or, where fits are dear, those from before their labels."""
    session.fit()
    recalibration = session.recalibration
    found = session._honesty.found()
    place = np.empty(len(session.class_columns), dtype=np.int64)
    place[session.class_columns] = np.arange(len(place))  # the column of each class number
    probs = recalibration.apply(found.probs)[:, session.class_columns] if len(found.labels) else found.probs
    return SecondLook(found.indices, np.asarray(probs), place[found.labels], found.drawn)


def take_time(session: Session, seconds: float) -> None:
    """Allow "auto" out-of-fold predictions that take so long: more than two seconds where nobody waits for them.

    With 0 it does without: also where a model can be fitted to all labels, and not to four fifths of them.
    """
    session._learner.patience = seconds
    session._honesty.made = None


def all_probs(session: Session) -> Floats:
    """Return recalibrated probabilities of all items, (items, classes), columns as `session.classes_`."""
    session.fit()
    raw = session._learner.fitted.probs(np.arange(len(session.pool)))
    return np.asarray(session.recalibration.apply(raw)[:, session.class_columns])
