"""The curves of every experiment in a store of runs."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from cusal.bench.report.curves import PHASES, REASONS, Curves, Key, Run
from cusal.bench.spec import Spec
from cusal.bench.store import Store
from cusal.errors import StoreError
from cusal.metrics.reliability import Reliability

# What tells runs of one experiment apart; every other setting says what the experiment is.
_OF_A_RUN = ("experiment", "label", "dataset", "strategy", "seed", "rounds", "batch_size")


def load(store: Store, run_ids: Iterable[str] | None = None) -> list[Curves]:
    """Give the curves of each experiment; runs of one strategy and seed that differ in a setting are set apart.

    run_ids: of the runs to look at; None takes all.
    """
    wanted = None if run_ids is None else set(run_ids)
    rows = [row for row in store.runs() if wanted is None or row["id"] in wanted]
    if not rows:
        raise StoreError(f"{store.place} holds no runs; run `cusal bench` with this store first.")
    groups = defaultdict(list)
    for row in sorted(rows, key=lambda row: (_paper_order(row["strategy"]), row["seed"])):
        groups[row["experiment"], row["dataset"], row["rounds"], row["batch_size"]].append(row)
    named = [(_name(key, groups), rows) for key, rows in sorted(groups.items())]
    return [Curves.of(name + suffix, _runs(store, part)) for name, rows in named for suffix, part in _apart(rows)]


def _paper_order(strategy: str) -> tuple[int, str]:
    """Random first, the method and its variants last, as in the paper's tables."""
    return (0 if strategy == "random" else 2 if "cusal" in strategy else 1), strategy


def _name(key: tuple[str, str, int, int], groups: Iterable[tuple[str, str, int, int]]) -> str:
    experiment, dataset, rounds, batch_size = key
    sets = {other[1] for other in groups if other[0] == experiment}
    name = f"{experiment} on {dataset}" if len(sets) > 1 else experiment
    if sum(other[:2] == key[:2] for other in groups) > 1:
        name += f", {rounds} rounds of {batch_size}"
    return name


def _apart(rows: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Split runs by the settings that differ between two of the same strategy and seed."""
    settings = {row["id"]: _settings(row["spec"]) for row in rows}
    differing: set[str] = set()
    first: dict[tuple[str, int], dict[str, str]] = {}
    for row in rows:
        own, other = settings[row["id"]], first.setdefault((row["strategy"], row["seed"]), settings[row["id"]])
        differing |= {name for name in own.keys() | other.keys() if own.get(name) != other.get(name)}
    parts = defaultdict(list)
    for row in rows:
        own = settings[row["id"]]
        parts[", ".join(f"{name} = {own.get(name, 'not set')}" for name in sorted(differing))].append(row)
    return [(f" ({suffix})" if suffix else "", part) for suffix, part in sorted(parts.items())]


def _settings(spec: str) -> dict[str, str]:
    """Give every setting by name, nested ones as `network.name`; those of the run itself are left out."""
    flat: dict[str, str] = {}

    def put(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for inner, deeper in value.items():
                put(f"{name}.{inner}", deeper)
        else:
            flat[name] = "none" if value is None else str(value)

    for name, value in dataclasses.asdict(Spec.of(spec)).items():
        if name not in _OF_A_RUN:
            put(name, value)
    return flat


def _runs(store: Store, rows: list[dict[str, Any]]) -> list[Run]:
    ids = [row["id"] for row in rows]
    values: dict[str, dict[Key, dict[int, float]]] = {run_id: defaultdict(dict) for run_id in ids}
    for line in store.rounds(ids):
        of_run = values[line["run_id"]]
        for name in ("labelled", "temperature", "evidence"):
            of_run["state", "measured", name][line["round"]] = line[name]
        for phase in PHASES:
            of_run["seconds", "measured", phase][line["round"]] = line[f"seconds_{phase}"]
    for line in store.metrics(ids):
        value = np.nan if line["value"] is None else line["value"]
        values[line["run_id"]][line["split"], line["kind"], line["name"]][line["round"]] = value
    for line in store.picks(ids):
        if line["decided_by"] is not None:
            for reason in REASONS:
                counts = values[line["run_id"]]["picks", "decided_by", reason]
                counts[line["round"]] = counts.get(line["round"], 0) + (line["decided_by"] == reason)
    bins = _bins(store, ids)
    return [
        Run(
            strategy=row["strategy"],
            seed=row["seed"],
            rounds=row["rounds"],
            values=dict(values[row["id"]]),
            bins=bins[row["id"]],
            status=row["status"],
            traceback=row["traceback"],
            settings=_settings(row["spec"]),
        )
        for row in rows
    ]


def _bins(store: Store, ids: list[str]) -> dict[str, dict[tuple[str, int], Reliability]]:
    lines = defaultdict(list)
    for line in store.bins(ids):
        if line["split"] == "test":
            lines[line["run_id"], line["kind"], line["round"]].append((line["count"], line["score"], line["hits"]))
    bins: dict[str, dict[tuple[str, int], Reliability]] = {run_id: {} for run_id in ids}
    for (run_id, kind, number), cells in lines.items():
        count, score, hits = (np.array(column) for column in zip(*cells, strict=True))
        bins[run_id][kind, number] = Reliability(count, score, hits)
    return bins
