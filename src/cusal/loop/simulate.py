"""A session answered by an oracle, one record for each round."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array, as_count
from cusal._types import Indices
from cusal.errors import InvalidInput
from cusal.loop.classes import plain
from cusal.loop.scores import Scores, score_predictions
from cusal.loop.session import Session
from cusal.strategies._query_result import Query

Oracle = Callable[[Indices], Any]


@dataclass(frozen=True)
class Round:
    """One round: the model fitted to `labelled` labels, how good it is, and what it asked for next.

    test, pool: how good it is on the test set and on the open items; None where labels are not known.
    temperature, evidence: of the session's recalibration.
    query: what was asked for next; None in the last round.
    measured: what the caller's `measure` gave.
    seconds: fit, predict (the pool), select, and test.
    """

    round: int
    labelled: int
    test: Scores | None
    pool: Scores | None
    temperature: float
    evidence: int
    query: Query | None
    measured: dict[str, float]
    seconds: dict[str, float]


def simulate(
    session: Session,
    oracle: Oracle | Any,
    *,
    rounds: int,
    batch_size: int = 10,
    test: tuple[Any, Any] | None = None,
    measure: Callable[[Session], dict[str, float]] | None = None,
) -> Iterator[Round]:
    """Run a session against known labels and yield each round as it ends: round 0 up to and including `rounds`.

    Parameters
    ----------
    oracle: the labels of all items, in their order, or a function from indices to labels (a noisy one, a person).
        Metrics on the pool need all labels and are left out with a function.
    rounds: how many batches are asked for.
    test: (items, labels) that are never trained on.
    measure: called in every round with the fitted session, for numbers of one's own.

    The session is between two rounds whenever a record is yielded: save it then, and a simulation of the rounds that
    are left goes on from there.
    """
    rounds, batch_size = as_count(rounds, "rounds", least=0), as_count(batch_size, "batch_size")
    answer, truth = _answering(oracle, len(session.pool))
    for left in range(rounds, -1, -1):
        if not session.labels:
            first = session.ask(batch_size)
            session.tell(first.indices, answer(first.indices))
        session.fit()
        labelled = len(session.labels)
        started = time.perf_counter()
        tested = None if test is None else session.evaluate(*test)
        testing = time.perf_counter() - started
        pool = None if truth is None or not len(session.pool.open) else _pool_scores(session, truth)
        measured = {} if measure is None else measure(session)
        query = session.ask(batch_size) if left else None
        record = Round(
            round=session.round,
            labelled=labelled,
            test=tested,
            pool=pool,
            temperature=session.recalibration.temperature,
            evidence=session.recalibration.evidence,
            query=query,
            measured=measured,
            seconds=session.seconds | {"test": testing},
        )
        if query is not None:
            session.tell(query.indices, answer(query.indices))
        yield record


def noisy(labels: Any, rate: float, *, seed: int = 0) -> Oracle:
    """Return an oracle that answers with another class, drawn uniformly, for a share `rate` of the items.

    An item's answer is always the same, however often it is asked.
    """
    if not 0 <= rate <= 1:
        raise InvalidInput(f"rate is {rate!r}; expected a share between 0 and 1.")
    truth = as_array(labels)
    classes, numbers = np.unique(truth, return_inverse=True)
    rng = np.random.default_rng(seed)
    flipped = rng.random(len(truth)) < rate
    shift = rng.integers(1, max(2, len(classes)), size=len(truth))
    answers = classes[(numbers + np.where(flipped, shift, 0)) % len(classes)]
    return lambda indices: answers[indices]


def _answering(oracle: Oracle | Any, size: int) -> tuple[Oracle, NDArray[Any] | None]:
    if callable(oracle):
        return oracle, None
    truth = as_array(oracle)
    if truth.shape != (size,):
        raise InvalidInput(f"the oracle has {truth.shape} labels for {size} items; give one for each item.")
    return lambda indices: truth[indices], truth


def _pool_scores(session: Session, truth: NDArray[Any]) -> Scores:
    raw = session.open_probs
    columns = session.class_columns
    recalibrated = session.recalibration.apply(raw)
    labels = plain(truth[session.view.candidates])
    return score_predictions(raw[:, columns], recalibrated[:, columns], labels, session.classes_.tolist())
