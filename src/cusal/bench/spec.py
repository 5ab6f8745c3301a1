"""What defines one run, and the id that follows from it."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Self

from cusal.bench.store import Run

_SHOWN = ("sweep", "task", "title")  # where reports show a run: it computes the same without


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

    @property
    def json(self) -> str:
        """The JSON that a store keeps.

        Values at their default are left out, so that an id outlives fields that are added later.
        """
        defaults = {f.name: f.default for f in dataclasses.fields(self) if f.default is not dataclasses.MISSING}
        defaults |= {"model": {}, "features": {}, "recalibrations": [], "sweep": {}, "at_most": {}, "task": {}}
        values = {k: v for k, v in dataclasses.asdict(self).items() if k not in defaults or defaults[k] != v}
        return _dump(_as_stored(values))

    @property
    def content(self) -> str:
        """The JSON without the names that reports show: two runs of the same content have the same rounds."""
        return self._json_without("experiment", "label", *_SHOWN)

    @property
    def id(self) -> str:
        """The name of the run in a store; its title, and whether it is of a sweep or a suite, make no difference."""
        return hashlib.sha256(self._json_without(*_SHOWN).encode()).hexdigest()[:16]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the spec of a JSON that this or an earlier version wrote."""
        return cls(**_from_stored(json.loads(text)))

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

    def _json_without(self, *names: str) -> str:
        return _dump({key: value for key, value in json.loads(self.json).items() if key not in names})


def _dump(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


# Ids are hashes of what is stored, and the paper's listing was once a setting of cusal: it is still stored so.


def _as_stored(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"strategy": "cusal", "numerics": "listing"} if values["strategy"] == "cusal_listing" else values


def _from_stored(values: dict[str, Any]) -> dict[str, Any]:
    numerics = values.pop("numerics", "exact")
    return values | {"strategy": "cusal_listing"} if numerics == "listing" else values
