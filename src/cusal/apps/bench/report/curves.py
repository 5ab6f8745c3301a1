"""The runs of one experiment as plain arrays: what every table and figure of a report is made from.

key = (split, kind, name)     values[key]  (strategies, seeds, rounds)     NaN where a run has no such number

split      kind                  name
test,pool  raw, recalibrated     accuracy, ece, nll, brier
estimate   measured              estimated_pool_error, known_pool_error, labelled_error, known_test_error, bound
picks      decided_by            calibration, uncertainty: how many picks of the batch that this round asked for
seconds    measured              fit, predict, select, test
state      measured              labelled, temperature, evidence

A run that its session ended early keeps its last scores in the rounds after that (`CARRIED`): a mean over seeds then is
of all seeds, as in a run where the model is used from the stop on, and not of the harder ones that are still going.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cusal.errors import InvalidInput
from cusal.metrics import Reliability

if TYPE_CHECKING:
    from cusal.session import Round  # its module loads all that a session needs

Key = tuple[str, str, str]
Values = NDArray[np.float64]

ACCURACY: Key = ("test", "raw", "accuracy")
ECE: Key = ("test", "raw", "ece")
KEPT = ("accuracy", "ece", "nll", "brier")  # of the metrics of a round: what a store keeps of them
RECALIBRATED_ECE: Key = ("test", "recalibrated", "ece")
POOL_ECE: Key = ("pool", "raw", "ece")
LABELLED: Key = ("state", "measured", "labelled")
TEMPERATURE: Key = ("state", "measured", "temperature")
ESTIMATED: Key = ("estimate", "measured", "estimated_pool_error")
KNOWN: Key = ("estimate", "measured", "known_pool_error")
EPSILON: Key = ("estimate", "measured", "labelled_error")
ON_TEST: Key = ("estimate", "measured", "known_test_error")
BOUND: Key = ("estimate", "measured", "bound")
REASONS = ("calibration", "uncertainty")
PHASES = ("fit", "predict", "select", "test")
CARRIED = ("test", "pool")  # splits whose last values a run that stopped early keeps


@dataclass(frozen=True)
class Curve:
    """The numbers of one run, a strategy with one seed, by key and round.

    Parameters
    ----------
    strategy : str
        The label of the strategy.
    seed : int
        The seed.
    rounds : int
        How many batches it was to ask for, T.
    values : dict
        By key, the value of each round that was done, 0 .. T at most.
    bins : dict
        Reliability on the test set by (kind, round).
    status : str
        "done", "open", "running" or "failed".
    traceback : str or None
        Of a run that failed.
    settings : dict
        What defines the run, by name.
    """

    strategy: str
    seed: int
    rounds: int
    values: dict[Key, dict[int, float]]
    bins: dict[tuple[str, int], Reliability] = field(default_factory=dict)
    status: str = "done"
    traceback: str | None = None
    settings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, strategy: str, seed: int, records: "Iterable[Round]", *, rounds: int | None = None) -> "Curve":
        """Return the run of a simulation's records; without `rounds` its last record is the end."""
        records = list(records)
        values: dict[Key, dict[int, float]] = {}
        bins = {}
        for record in records:
            for key, value in _numbers(record).items():
                values.setdefault(key, {})[record.round] = value
            if record.test is not None:
                bins["raw", record.round] = record.test.raw_bins
                bins["recalibrated", record.round] = record.test.recalibrated_bins
        last = max((record.round for record in records), default=0)
        rounds = last if rounds is None else rounds
        ended = last >= rounds or (bool(records) and records[-1].query is None)
        return cls(strategy, seed, rounds, values, bins, status="done" if ended else "running")

    @property
    def reached(self) -> int:
        """The last round that was done; -1 before the first."""
        return max(self.values.get(LABELLED, {}), default=-1)

    @property
    def stopped(self) -> bool:
        """Whether its session ended it before T, so that it is done with fewer rounds."""
        return self.status == "done" and 0 <= self.reached < self.rounds

    def reliability(self, kind: str, number: int) -> Reliability | None:
        """Return the bins of a round, or of the last one if the run stopped before it; None where there are none."""
        return self.bins.get((kind, min(number, self.reached) if self.stopped else number))


@dataclass(frozen=True)
class Swept:
    """That an experiment is one of a sweep: the sweep's name, the setting it goes over, and the value here."""

    sweep: str
    key: str
    value: str


@dataclass(frozen=True)
class Task:
    """That an experiment is one of a suite: the suite's name, the task's, and the group that it belongs to, or ""."""

    suite: str
    name: str
    group: str = ""


@dataclass(frozen=True)
class About:
    """What an experiment is about: the name of its data set and the title of its grid, each "" where not known."""

    dataset: str = ""
    title: str = ""

    def __str__(self) -> str:
        named = f"data set {self.dataset}" if self.dataset else ""
        return "; ".join(part for part in (self.title, named) if part)


@dataclass(frozen=True)
class Curves:
    """Every run of one experiment as arrays; `Curves.of` and `Curves.of_rounds` make them.

    Attributes
    ----------
    experiment : str
        The name of the experiment.
    runs : tuple of Curve
        What the arrays are made from.
    rounds : int
        T; arrays have a place for each of the rounds 0 .. T.
    strategies, seeds : tuple
        What the first two axes of the arrays stand for.
    values : dict
        By key, an array (strategies, seeds, rounds); NaN where a run has no such number.
    swept : tuple of Swept
        The sweeps that the experiment belongs to.
    task : Task or None
        Its place in a suite.
    about : About
        Its data set and the title of its grid.
    """

    experiment: str
    runs: tuple[Curve, ...]
    rounds: int
    strategies: tuple[str, ...]
    seeds: tuple[int, ...]
    values: dict[Key, Values]
    swept: tuple[Swept, ...] = ()
    task: Task | None = None
    about: About = About()

    @classmethod
    def of(
        cls,
        experiment: str,
        runs: Iterable[Curve],
        *,
        swept: Iterable[Swept] = (),
        task: Task | None = None,
        about: About = About(),  # noqa: B008 - it never changes
    ) -> "Curves":
        """Return the arrays of some runs; strategies keep the order in which they first come."""
        runs = tuple(runs)
        begun = [run for run in runs if run.reached >= 0]
        strategies = tuple(dict.fromkeys(run.strategy for run in begun))
        seeds = tuple(sorted({run.seed for run in begun}))
        rounds = max((run.rounds for run in runs), default=0)
        shape = (len(strategies), len(seeds), rounds + 1)
        values: dict[Key, Values] = {}
        seen = set()
        for run in begun:
            place = strategies.index(run.strategy), seeds.index(run.seed)
            if place in seen:
                raise InvalidInput(
                    f"{experiment} holds {run.strategy} with seed {run.seed} twice; give each strategy and seed once."
                )
            seen.add(place)
            for key, by_round in run.values.items():
                array = values.setdefault(key, np.full(shape, np.nan))
                array[(*place, list(by_round))] = list(by_round.values())
                if run.stopped and key[0] in CARRIED:
                    array[(*place, slice(run.reached + 1, None))] = by_round[max(by_round)]
        return cls(experiment, runs, rounds, strategies, seeds, values, tuple(swept), task, about)

    @classmethod
    def of_rounds(
        cls, experiment: str, simulated: "Mapping[tuple[str, int], Iterable[Round]]", *, rounds: int | None = None
    ) -> "Curves":
        """Return the arrays of simulations in memory: {(strategy, seed): records}.

        rounds: T; without it the last record of each is its end, so that none counts as stopped early.
        """
        runs = (Curve.of(strategy, seed, records, rounds=rounds) for (strategy, seed), records in simulated.items())
        return cls.of(experiment, runs)

    @property
    def milestones(self) -> tuple[int, ...]:
        """The rounds T/4, T/2, 3T/4 and T, each once."""
        return (
            tuple(dict.fromkeys(max(1, round(self.rounds * part / 4)) for part in range(1, 5))) if self.rounds else (0,)
        )

    @property
    def unfinished(self) -> tuple[Curve, ...]:
        """The runs that have not come to their end."""
        return tuple(run for run in self.runs if run.status != "done")

    @property
    def stopped(self) -> tuple[Curve, ...]:
        """The runs that their sessions ended before T."""
        return tuple(run for run in self.runs if run.stopped)

    @cached_property
    def labelled(self) -> Values:
        """(rounds,) labels known in each round, the mean over the runs that are still going in it.

        Where all runs have stopped, it is what one would have that had not.
        """
        labels = mean(self.of_key(LABELLED).reshape(-1, self.rounds + 1))
        known = np.flatnonzero(np.isfinite(labels))
        if self.stopped and len(known) > 1:
            after = np.arange(known[-1] + 1, self.rounds + 1)
            labels[after] = labels[known[-1]] + (after - known[-1]) * (labels[known[-1]] - labels[known[-2]])
        return labels

    def of_key(self, key: Key) -> Values:
        """Return (strategies, seeds, rounds) of one number; all NaN where nobody has it."""
        empty = np.full((len(self.strategies), len(self.seeds), self.rounds + 1), np.nan)
        return self.values.get(key, empty)

    def has(self, key: Key) -> bool:
        """Return whether any run has this number."""
        return key in self.values and bool(np.isfinite(self.values[key]).any())

    def reliability(self, strategy: str, kind: str, number: int) -> Reliability | None:
        """Return the bins of a round with the items of all seeds taken together; None where no seed has them."""
        own = (run.reliability(kind, number) for run in self.runs if run.strategy == strategy)
        found = [bins for bins in own if bins is not None]
        if not found:
            return None
        count = np.sum([bins.count for bins in found], axis=0)
        items = np.maximum(count, 1)
        score = np.sum([bins.score * bins.count for bins in found], axis=0) / items
        return Reliability(count, score, np.sum([bins.hits * bins.count for bins in found], axis=0) / items)


def mean(values: Values, axis: int = 0) -> Values:
    """Return the mean of what is there; NaN where nothing is."""
    there = np.isfinite(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def deviation(values: Values, axis: int = 0) -> Values:
    """Return the sample standard deviation of what is there; NaN where there are fewer than two."""
    count = np.isfinite(values).sum(axis=axis)
    squares = (values - np.expand_dims(mean(values, axis), axis)) ** 2
    total = np.where(np.isfinite(squares), squares, 0.0).sum(axis=axis)
    return np.where(count > 1, np.sqrt(total / np.maximum(count - 1, 1)), np.nan)


def _numbers(record: "Round") -> dict[Key, float]:
    numbers: dict[Key, float] = {
        LABELLED: record.labelled,
        TEMPERATURE: record.temperature,
        ("state", "measured", "evidence"): record.evidence,
    }
    for split, scores in (("test", record.test), ("pool", record.pool)):
        if scores is not None:
            for kind, values in (("raw", scores.raw), ("recalibrated", scores.recalibrated)):
                numbers |= {(split, kind, name): values[name] for name in KEPT}
    numbers |= {("estimate", "measured", name): value for name, value in record.measured.items()}
    numbers |= {("seconds", "measured", phase): value for phase, value in record.seconds.items()}
    if record.query is not None and record.query.decided_by is not None:
        decided = record.query.decided_by
        numbers |= {("picks", "decided_by", reason): int(np.sum(decided == reason)) for reason in REASONS}
    return numbers
