"""A session answered by an oracle, one record for each round."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import is_real
from cusal._checks import as_array, as_count
from cusal._types import Indices
from cusal.errors import InvalidInput, MissingLibrary, PoolExhausted, UnknownName
from cusal.session.labels import by_index, plain
from cusal.session.scores import Scores, score_predictions
from cusal.session.session import Session
from cusal.strategies._query_result import Query

Oracle = Callable[[Indices], Any]


@dataclass(frozen=True)
class Round:
    """One round of a simulation: the fitted model's scores, and the items that were asked for next.

    Attributes
    ----------
    round : int
        Number of the round; the first is 0.
    labelled : int
        Number of labels that the model was fitted to.
    test, pool : Scores or None
        Scores on the test set and on the open items; None where the labels are not known.
    temperature : float
        Temperature of the session's recalibration.
    evidence : int
        Number of pairs of prediction and label that the temperature is fitted to.
    query : Query or None
        What was asked for next; None in the last round, also where the simulation stopped early.
    measured : dict of str to float
        What the caller's `measure` returned.
    seconds : dict of str to float
        Time spent on "fit", "predict" (the pool), "select" and "test".

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 40)[:, None]
    >>> first, last = simulate(Session(items, LogisticRegression()), items[:, 0] > 0, rounds=1, batch_size=5)
    >>> first.labelled, last.labelled, len(first.query), last.query
    (5, 10, 5, None)
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
    stop: bool = False,
) -> Iterator[Round]:
    """Run a session against known labels, and yield a record of each round: round 0 up to and including `rounds`.

    The session is between two rounds whenever a record is yielded. Save it then to resume later: simulate the
    remaining rounds with the loaded session.

    Parameters
    ----------
    session : Session
        The session to run. If it has no labels, a first batch is asked for and labelled.
    oracle : (n,) array, or callable
        The labels of all items, in their order; or a function from indices to labels, such as `noisy` returns. With a
        function there are no scores on the pool, because they need all labels.
    rounds : int
        Number of batches to ask for after the first fit.
    batch_size : int, default 10
        Number of labels in each round.
    test : tuple of items and labels, optional
        A test set, which is never trained on.
    measure : callable, optional
        Called in every round with the fitted session; what it returns is stored as `measured`.
    stop : bool, default False
        End as soon as `session.stopping()` recommends it: that round is the last, and asks for nothing.

    Yields
    ------
    Round
        The scores of the fitted model, and what it asked for next.

    Raises
    ------
    InvalidInput
        If the oracle does not have one label for each item, or a number is out of its range.
    PoolExhausted
        If fewer items are open than a batch needs.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 200)[:, None]
    >>> labels = np.where(items[:, 0] < 0.3, "low", "high")
    >>> session = Session(items, LogisticRegression(), "margin")
    >>> records = list(simulate(session, labels, rounds=2, batch_size=5, test=(items, labels)))
    >>> [record.labelled for record in records], records[-1].test.raw["accuracy"] > 0.8
    ([5, 10, 15], True)
    """
    rounds, batch_size = as_count(rounds, "rounds", least=0), as_count(batch_size, "batch_size")
    answer, truth = _answering(by_index(oracle, session.items), len(session.pool))
    most = len(session.pool.open) // batch_size - (not session.labels)
    if rounds > most:
        raise PoolExhausted(
            f"{rounds} rounds of {batch_size} labels were asked for, but {len(session.pool.open)} items are open; "
            f"at most {max(most, 0)} rounds are possible. Lower rounds or batch_size."
        )
    if test is not None and not (isinstance(test, tuple) and len(test) == 2):
        raise InvalidInput(f"test is a {type(test).__name__}; expected a pair (items, labels).")
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
        ended = left == 0 or (stop and session.stopping().stop)
        query = None if ended else session.ask(batch_size)
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
        if ended:
            return


def to_frame(rounds: Iterable[Round]) -> Any:
    """Return rounds as a pandas DataFrame, a row for each.

    Parameters
    ----------
    rounds : iterable of Round
        What `simulate` yields.

    Returns
    -------
    pandas.DataFrame
        `round`, `labelled`, `temperature`, `evidence`; `test_accuracy`, `test_ece` and so on of recalibrated
        predictions, `test_raw_ece` and so on of raw ones, the same with `pool`; what was measured; and `seconds_fit`
        and so on.

    Raises
    ------
    MissingLibrary
        If pandas is not installed.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 40)[:, None]
    >>> session = Session(items, LogisticRegression())
    >>> frame = to_frame(simulate(session, items[:, 0] > 0, rounds=2, batch_size=5, test=(items, items[:, 0] > 0)))
    >>> frame["labelled"].tolist(), "test_ece" in frame.columns
    ([5, 10, 15], True)
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingLibrary("to_frame", "pandas") from error
    return pandas.DataFrame([_row(record) for record in rounds])


def plot(rounds: Iterable[Round], *, metrics: Sequence[str] = ("accuracy", "ece")) -> Any:
    """Return a figure of metrics over the number of labels, raw and recalibrated, on the test set if there is one.

    Parameters
    ----------
    rounds : iterable of Round
        What `simulate` yields.
    metrics : sequence of str, default ("accuracy", "ece")
        A panel for each: "accuracy", "ece", "nll", "brier", "macro_f1", "balanced_accuracy".

    Returns
    -------
    matplotlib.figure.Figure
        Save it by `figure.savefig("curve.png")`; a notebook shows it.

    Raises
    ------
    InvalidInput
        If there are no rounds with scores.
    MissingLibrary
        If matplotlib is not installed.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 40)[:, None]
    >>> rounds = simulate(Session(items, LogisticRegression()), items[:, 0] > 0, rounds=2, batch_size=5)
    >>> figure = plot(rounds, metrics=["accuracy"])
    >>> figure.axes[0].get_xlabel()
    'labels'
    """
    try:
        import matplotlib.figure as figures
    except ImportError as error:
        raise MissingLibrary("plot", "matplotlib") from error
    scored = [(one.labelled, one.test or one.pool) for one in rounds]
    known = [(labelled, scores) for labelled, scores in scored if scores is not None]
    if not known:
        raise InvalidInput("no round has scores; give simulate a test set, or an array of all labels as the oracle.")
    figure = figures.Figure(figsize=(4.5 * len(metrics), 3.2), layout="constrained")
    for name, axes in zip(metrics, figure.subplots(1, len(metrics), squeeze=False)[0], strict=True):
        if name not in known[0][1].raw:
            raise UnknownName("metric", name, list(known[0][1].raw))
        for kind, style in (("raw", "--"), ("recalibrated", "-")):
            axes.plot([one[0] for one in known], [getattr(one[1], kind)[name] for one in known], style, label=kind)
        axes.set(xlabel="labels", ylabel=name.replace("_", " "))
    axes.legend()
    return figure


def noisy(labels: Any, rate: float, *, seed: int = 0) -> Oracle:
    """Return an oracle that makes mistakes: each item gets another class with probability `rate`.

    The wrong class is drawn uniformly. The answer for an item is always the same, however often it is asked.

    Parameters
    ----------
    labels : (n,) array
        The true labels of all items, in their order.
    rate : float
        Probability of a wrong answer, from 0 to 1.
    seed : int, default 0
        Seed of the mistakes.

    Returns
    -------
    callable
        A function from indices to labels, for `simulate`.

    Raises
    ------
    InvalidInput
        If `rate` is not between 0 and 1.

    Examples
    --------
    >>> oracle = noisy(["cat", "dog"] * 500, rate=0.1)
    >>> answers = oracle(np.arange(1000))
    >>> bool(0.05 < np.mean(answers != ["cat", "dog"] * 500) < 0.15)
    True
    """
    if not is_real(rate) or not 0 <= rate <= 1:
        raise InvalidInput(f"rate is {rate!r}; expected a share between 0 and 1.")
    truth, seed = as_array(labels), as_count(seed, "seed", least=0)
    if truth.ndim != 1 or truth.dtype.kind not in "biufUS":
        raise InvalidInput(f"labels is {truth.dtype} of shape {truth.shape}; expected a number or text for each item.")
    classes, numbers = np.unique(truth, return_inverse=True)
    rng = np.random.default_rng(seed)
    flipped = rng.random(len(truth)) < rate
    shift = rng.integers(1, max(2, len(classes)), size=len(truth))
    answers = classes[(numbers + np.where(flipped, shift, 0)) % len(classes)]
    return lambda indices: answers[indices]


def _row(record: Round) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(record, name) for name in ("round", "labelled", "temperature", "evidence")}
    for split in ("test", "pool"):
        scores: Scores | None = getattr(record, split)
        if scores is not None:
            row |= {f"{split}_{name}": value for name, value in scores.recalibrated.items()}
            row |= {f"{split}_raw_{name}": value for name, value in scores.raw.items()}
    return row | record.measured | {f"seconds_{name}": value for name, value in record.seconds.items()}


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
