"""What defines one run, and the id that follows from it."""

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Self

from cusal.apps.bench.store import Run
from cusal.apps.bench.store.records import canonical, run_id
from cusal.errors import StoreError

# What the rounds of a spec are computed by. Raise it whenever a change to cusal changes the rounds of any spec. New
# runs then get other ids, so that no run, and no curve of a report, mixes rounds of two algorithms.
ALGORITHM = 1
NAMES = (
    "experiment",
    "label",
    "sweep",
    "task",
    "title",
)  # of reports; the rounds are the same


@dataclass(frozen=True)
class Spec:
    """Everything that defines one run: data, model, strategy, seed and schedule.

    Parameters
    ----------
    experiment, label : str
        The names under which reports show the run.
    dataset : str
        The name of a data set, or the path of a file.
    strategy : str
        The name of the strategy.
    seed : int
        From which warm-up, pool and every other random choice follow.
    rounds, batch_size : int
        How often the run asks, and for how many labels each time.
    warm_up : int
        How many labels it starts with.
    network : dict
        Name and settings of the network.
    settings : dict
        Settings of the strategy.
    model : dict
        Name and settings of the training variant; empty for plain training.
    features : dict
        Name and settings of the pretrained network whose features replace the items; empty for the items themselves.
    balanced : bool
        Whether the warm-up has equally many items of each class.
    pool : int or None
        How many items are open besides the warm-up; None takes the whole train split.
    epochs, learning_rate, train_batch_size, weight_decay, warm_start, precision
        How the model is trained in each round.
    recalibrate, reference, audit : str, str, float
        Of the session.
    stop : bool
        Whether the run ends as soon as its session recommends to stop; `rounds` is then the most that it asks.
    recalibrations : list of str
        Further recalibrations whose error is measured in each round; the picks are the same with all of them.
    test : str
        What the rounds are measured on: the "test" split, or a "validation" part of the train split, which is then no
        part of the pool.
    estimator_every : int
        Rounds between two measurements of the estimator; 0 for none.
    bandwidth, p : float
        Of that measurement; those of the strategy are in `settings`.
    sweep : dict
        For a run of a sweep: the sweep's `name` and `over`, the value of each setting that it goes over.
    at_most : dict
        How many items of the `pool` and of the `test` split take part at most, drawn by the seed.
    task : dict
        For a run of a suite: the suite's name, the task's `name`, and its `group` or "".
    title : str
        Of the grid, for reports.
    algorithm : int
        The version of what the rounds are computed by: see `ALGORITHM`.
    """

    experiment: str
    label: str
    dataset: str
    strategy: str
    seed: int
    rounds: int
    batch_size: int
    warm_up: int
    network: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    features: dict[str, Any] = field(default_factory=dict)
    balanced: bool = True
    pool: int | None = None
    epochs: int = 30
    learning_rate: float = 1e-3
    train_batch_size: int = 128
    weight_decay: float = 0.0
    warm_start: bool = True
    precision: str = "float32"
    recalibrate: str | None = "prequential"
    reference: str = "fitted"
    stop: bool = False
    audit: float = 0.0
    recalibrations: list[str] = field(default_factory=list)
    test: str = "test"
    estimator_every: int = 0
    bandwidth: float = 1e-3
    p: float = 1
    sweep: dict[str, Any] = field(default_factory=dict)
    at_most: dict[str, int] = field(default_factory=dict)
    task: dict[str, str] = field(default_factory=dict)
    title: str = ""
    algorithm: int = 1  # not ALGORITHM: a stored spec without it is of the first, for ever

    @property
    def json(self) -> str:
        """The JSON that a store keeps.

        Values at their default are left out, so that an id outlives fields that are added later.
        """
        defaults = {f.name: f.default for f in dataclasses.fields(self) if f.default is not dataclasses.MISSING}
        defaults |= {"model": {}, "features": {}, "recalibrations": [], "sweep": {}, "at_most": {}, "task": {}}
        values = {k: v for k, v in dataclasses.asdict(self).items() if k not in defaults or defaults[k] != v}
        return canonical(_as_stored(values))

    @property
    def content(self) -> str:
        """The JSON without the names that reports show: two runs of the same content have the same rounds."""
        return stored_content(self.json)

    @property
    def id(self) -> str:
        """The name of the run in a store; its title, and whether it is of a sweep or a suite, make no difference."""
        return run_id(self.json)

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the spec of a JSON that this or an earlier version wrote.

        Raises
        ------
        StoreError
            For anything else, for instance the spec of a later version, with fields that are not known here.
        """
        try:
            return cls(**_from_stored(json.loads(text)))
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise StoreError(
                f"a run's spec cannot be read ({error}); use the version of cusal that wrote it."
            ) from error

    def check_algorithm(self) -> None:
        """Raise StoreError if this cusal computes other rounds than those that the run began with."""
        if self.algorithm != ALGORITHM:
            raise StoreError(
                f"run {self.id} is one of algorithm {self.algorithm}, but this cusal has algorithm {ALGORITHM}; "
                "start the grid again, which makes runs of its own, or use the version of cusal that began it."
            )

    @property
    def run(self) -> Run:
        """The line that a store keeps of it."""
        return Run(
            id=self.id,
            experiment=self.experiment,
            dataset=self.dataset,
            strategy=self.label,
            seed=self.seed,
            rounds=self.rounds,
            batch_size=self.batch_size,
            spec=self.json,
        )


def stored_content(text: str) -> str:
    """Return the content of a spec as it is stored, which may be of a later version."""
    try:
        return canonical({key: value for key, value in json.loads(text).items() if key not in NAMES})
    except (ValueError, AttributeError, RecursionError):
        return ""  # not the content of any spec


# Ids are hashes of what is stored, and the paper's listing was once a setting of cusal: it is still stored so.


def _as_stored(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"strategy": "cusal", "numerics": "listing"} if values["strategy"] == "cusal_listing" else values


def _from_stored(values: dict[str, Any]) -> dict[str, Any]:
    numerics = values.pop("numerics", "exact")
    return values | {"strategy": "cusal_listing"} if numerics == "listing" else values
