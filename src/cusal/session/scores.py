"""Scores of predictions on a labelled set, raw and recalibrated: metrics and reliability bins."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cusal import metrics
from cusal._types import Floats
from cusal.errors import InvalidInput
from cusal.metrics.reliability import Reliability, reliability
from cusal.session.labels import plain

METRICS: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": metrics.accuracy,
    "ece": metrics.ece,
    "nll": metrics.nll,
    "brier": metrics.brier,
    "macro_f1": metrics.macro_f1,
    "balanced_accuracy": metrics.balanced_accuracy,
}


@dataclass(frozen=True, repr=False)
class Scores:
    """Metrics and reliability bins on one labelled set, of raw and of recalibrated predictions.

    Attributes
    ----------
    raw, recalibrated : dict of str to float
        accuracy, ece, nll, brier, macro_f1 and balanced_accuracy.
    raw_bins, recalibrated_bins : Reliability
        Confidence against accuracy, bin by bin.
    """

    raw: dict[str, float]
    recalibrated: dict[str, float]
    raw_bins: Reliability
    recalibrated_bins: Reliability

    def __repr__(self) -> str:
        kinds = (("raw", self.raw), ("recalibrated", self.recalibrated))
        return f"Scores({'; '.join(f'{kind}: {_describe(values)}' for kind, values in kinds)})"


def _describe(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def labels_to_score(labels: Any, count: int, classes: Sequence[Hashable]) -> list[Any]:
    """Return labels as plain values, or raise an error if they are not `count`, or all of another kind."""
    names = plain(labels)
    if len(names) != count:
        raise InvalidInput(f"{len(names)} labels were given for {count} items; give one label for each.")
    if names and not set(names) & set(classes):
        raise InvalidInput(
            f"none of the labels, such as {names[0]!r}, is a class of the session, such as {classes[0]!r}; give "
            "labels of the kind that were told."
        )
    return names


def score_predictions(
    raw: Floats, recalibrated: Floats, labels: Sequence[Hashable], classes: Sequence[Hashable]
) -> Scores:
    """Return the scores of predictions (n, classes) against labels (n,) of any kind.

    A class that the model does not know yet counts too: its probability is zero.
    """
    number = {name: i for i, name in enumerate(classes)}
    for name in sorted(set(labels) - set(number), key=repr):
        number[name] = len(number)
    numbers = np.array([number[name] for name in labels], dtype=np.int64)
    unmet = ((0, 0), (0, len(number) - raw.shape[1]))
    raw, recalibrated = np.pad(raw, unmet), np.pad(recalibrated, unmet)
    return Scores(
        {name: metric(raw, numbers) for name, metric in METRICS.items()},
        {name: metric(recalibrated, numbers) for name, metric in METRICS.items()},
        reliability(raw.max(axis=1), raw.argmax(axis=1) == numbers),
        reliability(recalibrated.max(axis=1), recalibrated.argmax(axis=1) == numbers),
    )
