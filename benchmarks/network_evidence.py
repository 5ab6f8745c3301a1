"""Which temperature makes networks honest from what they said before each label was known? Validation items decide.

    python benchmarks/network_evidence.py FOLDER --collect GRID --seeds 0-3 [--strategy LABEL] [--rounds T] [--audit A]
    python benchmarks/network_evidence.py FOLDER       calibration error by each way, for every kind of session there

GRID is one whose test set are the last 10,000 train items: results/grids/*-choose.toml, whose first candidate are two
augmented networks, and results/grids/*-plain.toml. Evidence are the session's predictions of each pick from before its
label was known; of an ensemble also the temperature that its members agree on.
A session that was stopped starts again; one that is in FOLDER is not repeated.
"""

import argparse
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

import cusal
from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.spec import Spec
from cusal.recalibration import CrossValidatedRecalibration
from cusal.recalibration.recalibration import AGREED_SHARE
from cusal.recalibration.temperature import apply_temperature, fit_temperature
from cusal.session import simulate

Found = dict[str, Any]
Way = Callable[[Found], np.ndarray]  # probabilities of the validation items after it


def collect(spec: Spec) -> list[Found]:
    """Return the evidence of one session after each of its rounds, and its predictions of the validation items."""
    experiment = Experiment(spec)
    items, labels = experiment.test
    found: list[Found] = []

    def keep(session: cusal.Session) -> dict[str, float]:
        recalibrator = session._recalibrator
        evidence = recalibrator.evidence()
        found.append(
            {
                "probs": evidence.probs.astype(np.float32),
                "truth": evidence.labels,
                "age": np.maximum(recalibrator.picks.age(evidence.indices, session.round) - 1, 0),
                "drawn": evidence.drawn,
                "agreed": recalibrator._agreed(),
                "test": session.model.predict_proba(items).astype(np.float32),
                "test_truth": labels,
            }
        )
        return {}

    session = experiment.start()
    for record in simulate(session, experiment.labels, rounds=spec.rounds, batch_size=spec.batch_size, measure=keep):
        print(f"{spec.experiment}, seed {spec.seed}: round {record.round} of {spec.rounds}", flush=True)
    return found


def by_temperature(found: Found, weights: np.ndarray | None = None) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logs = np.log(found["probs"].astype(float))
    return tempered(found, fit_temperature(logs, found["truth"], weights=weights) if len(logs) else 1.0)


def tempered(found: Found, temperature: float) -> np.ndarray:
    return apply_temperature(found["test"].astype(float), temperature)


def with_agreement(found: Found, share: float = AGREED_SHARE) -> np.ndarray:
    """What "auto" is: a share of the log temperature is that of an ensemble's members, the rest that of picks."""
    if found["agreed"] is None or not len(found["truth"]):
        return discounted(0.95)(found)
    with np.errstate(divide="ignore"):
        logs = np.log(found["probs"].astype(float))
    told = fit_temperature(logs, found["truth"], weights=0.95 ** found["age"])
    return tempered(found, found["agreed"] ** share * told ** (1 - share))


def best(found: Found) -> np.ndarray:
    """The temperature that the validation labels themselves ask for: a bound for all ways."""
    with np.errstate(divide="ignore"):
        return tempered(found, fit_temperature(np.log(found["test"].astype(float)), found["test_truth"], strength=0))


def guarded(found: Found, rate: float) -> np.ndarray:
    """What light models get: probabilities clipped at 1e-7, and nothing where the Brier score shows no gain."""
    made = CrossValidatedRecalibration(found["probs"].astype(float), found["truth"], rate ** found["age"], False)
    return made.apply(found["test"].astype(float))


def of_drawn(found: Found) -> np.ndarray:
    return by_temperature(found, found["drawn"].astype(float))


def discounted(rate: float) -> Way:
    return lambda found: by_temperature(found, rate ** found["age"])


def drifting(found: Found, *, first: int = 20, batch: int = 10, strength: float = 20.0) -> np.ndarray:
    """log T = s + r log(labels now / labels when it was said), of which s counts; strength: of a prior on r."""
    if not len(found["truth"]):
        return found["test"].astype(float)
    labels = first + len(found["truth"])
    since = np.log(labels / (labels - batch * (found["age"] + 1)))
    logs = np.log(np.maximum(found["probs"].astype(float), 1e-38))

    def loss(line: np.ndarray) -> float:
        scaled = log_softmax(logs * np.exp(-line[0] - line[1] * since)[:, None], axis=1)
        own = scaled[np.arange(len(logs)), found["truth"]]
        return float(5 / 2 * line[0] ** 2 + strength / 2 * line[1] ** 2 - own.sum())

    return tempered(found, float(np.exp(minimize(loss, np.zeros(2), method="L-BFGS-B", bounds=[(-3, 3)] * 2).x[0])))


WAYS: dict[str, Way] = {
    "raw": lambda found: found["test"].astype(float),
    "best possible": best,
    "prequential": by_temperature,
    "discount .97 a round": discounted(0.97),
    "discount .95 a round": discounted(0.95),
    "discount .9 a round": discounted(0.9),
    "discount .9, guarded and clipped": lambda found: guarded(found, 0.9),
    "a temperature that drifts": drifting,
    "items drawn at random alone": of_drawn,
    "auto: .95, a third of it agreement": with_agreement,
    ".95, half of it agreement": lambda found: with_agreement(found, 1 / 2),
    ".95, two thirds of it agreement": lambda found: with_agreement(found, 2 / 3),
    "agreement alone": lambda found: with_agreement(found, 1.0),
}


def judge(folder: Path) -> str:
    """Return the calibration error in points by each way, at the end and over the rounds, of each kind of session."""
    kinds: dict[str, list[list[Found]]] = {}
    for path in sorted(folder.glob("*.pickle")):
        kinds.setdefault(path.stem.rpartition(", seed ")[0], []).append(pickle.loads(path.read_bytes()))
    lines = []
    for kind, sessions in kinds.items():
        lines.append(f"{kind}: {len(sessions)} seeds; at the end  over the rounds  each seed at the end")
        for name, way in WAYS.items():
            errors = np.array(
                [[100 * cusal.metrics.ece(way(one), one["test_truth"]) for one in session[1:]] for session in sessions]
            )
            each = " ".join(f"{value:.1f}" for value in errors[:, -1])
            lines.append(f"  {name:36}{errors[:, -1].mean():16.2f}{errors.mean():17.2f}  {each}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--collect", metavar="GRID")
    parser.add_argument("--strategy", help="a label of the grid; its first by default")
    parser.add_argument("--seeds", default="0-3", help="first-last")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--audit", type=float, default=0.0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.collect:
        grid = read_grid(options.collect).override({"rounds": options.rounds})
        spec = next(one for one in grid.specs() if options.strategy in (None, one.label))
        first, last = map(int, options.seeds.split("-"))
        for seed in range(first, last + 1):
            audit = f", audit {options.audit}" if options.audit else ""
            name = f"{spec.dataset}, {spec.label}, {options.rounds} rounds{audit}, seed {seed}.pickle"
            if not (options.folder / name).exists():
                found = collect(replace(spec, seed=seed, audit=options.audit, recalibrations=()))
                (options.folder / name).write_bytes(pickle.dumps(found))
    print(judge(options.folder))


if __name__ == "__main__":
    main()
