"""What defines one run, and the name that follows from it."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Self

from cusal.bench.store import Run


@dataclass(frozen=True)
class Spec:
    """One run: data, model, strategy, seed and schedule.

    experiment, label: under which names reports show it.
    strategy, numerics, settings: the strategy's name, "exact" or "listing", and its settings.
    network: name and settings of the network; model: of the training variant, plain if empty; features: of the
        pretrained network whose frozen features stand for the items, if any.
    epochs .. precision: how each round's fit is done.
    warm_up, balanced: how many labels it starts with, and whether each class has the same number of them.
    pool: how many items are open besides the warm-up; None takes all that the train split has.
    rounds, batch_size: how often it asks, and for how many labels each time.
    recalibrate, reference: of the session. estimator_every: rounds between two looks at the estimator; 0 is never.
    bandwidth, p: of that look; strategies have their own in `settings`.
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
    numerics: str = "exact"
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
    estimator_every: int = 0
    bandwidth: float = 1e-3
    p: float = 1

    @property
    def json(self) -> str:
        """The canonical JSON; values at their default are left out, so that an id outlives fields that come later."""
        defaults = {f.name: f.default for f in dataclasses.fields(self) if f.default is not dataclasses.MISSING}
        defaults |= {"model": {}, "features": {}}
        values = {k: v for k, v in dataclasses.asdict(self).items() if k not in defaults or defaults[k] != v}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @property
    def content(self) -> str:
        """The canonical JSON without the names that reports show: two runs of the same content give the same rounds."""
        values = {k: v for k, v in json.loads(self.json).items() if k not in ("experiment", "label")}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @property
    def id(self) -> str:
        """The name of the run in a store."""
        return hashlib.sha256(self.json.encode()).hexdigest()[:16]

    @classmethod
    def of(cls, text: str) -> Self:
        """Give back the spec of a canonical JSON."""
        return cls(**json.loads(text))

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
