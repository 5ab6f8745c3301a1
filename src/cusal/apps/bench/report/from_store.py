"""The curves of every experiment in a store of runs, or in a folder of exported ones."""

import dataclasses
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from cusal.apps.bench.report.curves import PHASES, REASONS, About, Curve, Curves, Key, Task
from cusal.apps.bench.report.sweeps import find_swept
from cusal.apps.bench.spec import ALGORITHM, Spec
from cusal.apps.bench.store import ExportedRuns, Store
from cusal.apps.bench.store.records import Row
from cusal.errors import StoreError
from cusal.metrics import Reliability

# What tells runs of one experiment apart; every other setting says what the experiment is.
_OF_A_RUN = (
    *("experiment", "label", "dataset", "strategy", "seed", "rounds", "batch_size"),
    *("sweep", "task", "title", "algorithm"),
)

Source = Store | ExportedRuns
_Group = tuple[str, str, int, int, int]  # experiment, data set, rounds, batch size, algorithm


def load(source: Source, run_ids: Iterable[str] | None = None) -> list[Curves]:
    """Return the curves of each experiment; runs of one strategy and seed that differ in a setting are set apart.

    Parameters
    ----------
    source : Store or ExportedRuns
        Where the runs are.
    run_ids : iterable of str, optional
        The runs to look at; by default all.

    Returns
    -------
    list of Curves

    Raises
    ------
    StoreError
        If there are no runs, or if the store is damaged.
    """
    wanted = None if run_ids is None else set(run_ids)
    rows = [row for row in source.runs() if wanted is None or row["id"] in wanted]
    if not rows:
        raise StoreError(f"{source.place} holds no runs; run `cusal bench` with this store first.")
    if isinstance(source, Store):  # exported files have checksums of their own
        source.check([row["id"] for row in rows]).require()
    groups = defaultdict(list)
    for row in sorted(rows, key=lambda row: (_paper_order(row["strategy"]), row["seed"])):
        algorithm = Spec.of(row["spec"]).algorithm
        groups[row["experiment"], row["dataset"], row["rounds"], row["batch_size"], algorithm].append(row)
    made = []
    for key, members in sorted(groups.items()):
        name = _name(key, groups)
        for difference, part in _apart(members):
            specs = [Spec.of(row["spec"]) for row in part]
            suffix = name[len(key[0]) :] + difference
            swept, task = find_swept(specs, suffix=suffix), _task(specs, suffix)
            about = About(key[1], _title(specs))
            made.append(Curves.of(name + difference, _curves(source, part), swept=swept, task=task, about=about))
    return made


def _title(specs: Sequence[Spec]) -> str:
    """Return the title of the grid; runs of earlier versions have none, but may be those of a preset."""
    kept = next((spec.title for spec in specs if spec.title), "")
    if kept:
        return kept
    presets = {preset.name: preset for preset in (files("cusal.apps.bench") / "presets").iterdir()}
    preset = presets.get(f"{re.split('[: ]', specs[0].experiment, maxsplit=1)[0]}.toml")
    return str(tomllib.loads(preset.read_text(encoding="utf-8")).get("title", "")) if preset else ""


def _task(specs: Sequence[Spec], suffix: str) -> Task | None:
    """Return the place of an experiment in a suite; `suffix` sets suites apart that differ in a setting."""
    kept = next((spec.task for spec in specs if spec.task), None)
    return Task(kept["suite"] + suffix, kept["name"], kept["group"]) if kept else None


def _paper_order(strategy: str) -> tuple[int, str]:
    """Random first, the method and its variants last, as in the paper's tables."""
    return (0 if strategy == "random" else 2 if "cusal" in strategy else 1), strategy


def _name(key: _Group, groups: Iterable[_Group]) -> str:
    experiment, dataset, rounds, batch_size, algorithm = key
    sets = {other[1] for other in groups if other[0] == experiment}
    name = f"{experiment} on {dataset}" if len(sets) > 1 else experiment
    if len({other[2:4] for other in groups if other[:2] == key[:2]}) > 1:
        name += f", {rounds} rounds of {batch_size}"
    if algorithm != ALGORITHM:
        name += f" (algorithm {algorithm}; this cusal has {ALGORITHM})"
    return name


def _apart(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Split runs by the settings that differ between two of the same strategy and seed."""
    settings = {row["id"]: _settings(row["spec"], "strategy") for row in rows}
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


def _settings(spec: str, *also: str) -> dict[str, str]:
    """Return every setting by name, nested ones as `network.name`; those of the run itself only if named."""
    flat: dict[str, str] = {}

    def put(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for inner, deeper in value.items():
                put(f"{name}.{inner}", deeper)
        else:
            flat[name] = "none" if value is None else str(value)

    for name, value in dataclasses.asdict(Spec.of(spec)).items():
        if name not in _OF_A_RUN or name in also:
            put(name, value)
    return flat


def _curves(source: Source, rows: list[Row]) -> list[Curve]:
    ids = [row["id"] for row in rows]
    values: dict[str, dict[Key, dict[int, float]]] = {run_id: defaultdict(dict) for run_id in ids}
    for line in source.rounds(ids):
        of_run = values[line["run_id"]]
        for name in ("labelled", "temperature", "evidence"):
            of_run["state", "measured", name][line["round"]] = line[name]
        for phase in PHASES:
            of_run["seconds", "measured", phase][line["round"]] = line[f"seconds_{phase}"]
    for line in source.metrics(ids):
        value = np.nan if line["value"] is None else line["value"]
        values[line["run_id"]][line["split"], line["kind"], line["name"]][line["round"]] = value
    for line in source.picks(ids):
        if line["decided_by"] is not None:
            for reason in REASONS:
                counts = values[line["run_id"]]["picks", "decided_by", reason]
                counts[line["round"]] = counts.get(line["round"], 0) + (line["decided_by"] == reason)
    bins = _bins(source, ids)
    return [
        Curve(
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


def _bins(source: Source, ids: list[str]) -> dict[str, dict[tuple[str, int], Reliability]]:
    lines = defaultdict(list)
    for line in source.bins(ids):
        if line["split"] == "test":
            lines[line["run_id"], line["kind"], line["round"]].append((line["count"], line["score"], line["hits"]))
    bins: dict[str, dict[tuple[str, int], Reliability]] = {run_id: {} for run_id in ids}
    for (run_id, kind, number), cells in lines.items():
        count, score, hits = (np.array(column) for column in zip(*cells, strict=True))
        bins[run_id][kind, number] = Reliability(count, score, hits)
    return bins
