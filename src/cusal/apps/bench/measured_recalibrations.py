"""What other recalibrations than the session's own would give, measured in the same run.

A recalibration changes neither what is asked for nor what is fitted, so that one run serves for all of them.
"""

from collections.abc import Sequence
from typing import Any

from cusal import metrics
from cusal._types import Indices
from cusal.session import Session


def measure_recalibrations(session: Session, methods: Sequence[str], test: tuple[Any, Indices]) -> dict[str, float]:
    """Return `ece METHOD`, `accuracy METHOD` and `nll METHOD` of test items (n, ...) with class numbers (n,).

    methods: as `Session` takes them for `recalibrate`. Call it in every round: copies of a warm model continue with it.
    """
    if not methods:
        return {}
    items, labels = test
    raw = session.predict_proba(items, raw=True)
    measured = {}
    for method in methods:
        probs = session.recalibration_by(method).apply(raw)  # type: ignore[arg-type]
        measured[f"ece {method}"] = metrics.ece(probs, labels)
        measured[f"accuracy {method}"] = metrics.accuracy(probs, labels)
        measured[f"nll {method}"] = metrics.nll(probs, labels)
    return measured
