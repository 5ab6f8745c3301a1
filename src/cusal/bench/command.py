"""What `cusal bench` does: overrides from the command line, the run, and what is said at the end."""

import importlib.util
import json
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

from cusal import datasets
from cusal.bench.experiment import build_model, draw_items, features_key, load_data, try_model
from cusal.bench.grid import Grid, preset_names, read_grid
from cusal.bench.runner import Outcome, run_grid
from cusal.bench.spec import Spec
from cusal.errors import InvalidInput, MissingExtra

STOPPED = 130  # what a shell gives for Ctrl-C


def list_presets() -> str:
    """Return a table of the presets, one line each."""
    lines = []
    for name in preset_names():
        values = read_grid(name).values
        schedule = f"{values['warm_up']} + {values['rounds']} x {values['batch_size']} labels"
        size = f"{len(values['strategies'])} strategies, {values['seeds']} seeds"
        if sweep := values.get("sweep"):
            size += "".join(f", {len(some)} values of {key}" for key, some in sweep.items())
        lines.append(f"{name:26} {values['title']:50} {schedule:22} {size}")
    return "\n".join(lines)


def run(grid: Grid, *, place: str, workers: int | None) -> int:
    """Do the runs of a grid, print how it went, and return the exit code."""
    specs = grid.specs()
    check_ready(specs[0].dataset)
    check_models(specs)
    print(f"{grid.name}: {len(specs)} runs, into {place}", flush=True)
    try:
        prepare(specs)
        outcome = run_grid(specs, place, workers=workers)
    except KeyboardInterrupt:
        print("\nstopped; the rounds done are kept, and the same command resumes from there.", file=sys.stderr)
        return STOPPED
    return _conclude(outcome, place)


def check_ready(dataset: str) -> None:
    """Raise an error, before any process starts, for what every run would meet: no torch, no data."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("training a network", "torch")
    here = {row.name: row.present for row in datasets.describe()}
    if not here.get(dataset, False):
        datasets.load(dataset)  # one's own file; or an error that names what is missing and how to get it


def check_models(specs: Sequence[Spec]) -> None:
    """Raise an error, before any process starts, for settings that a network or a training variant does not have."""
    for spec in _different_models(specs):
        build_model(spec, (1, 28, 28), 2)  # of any size: only the settings count, and nothing is trained


def prepare(specs: Sequence[Spec]) -> None:
    """Compute features that specs want, and try their sizes and models on the data, before any process starts."""
    for place in dict.fromkeys((spec.dataset, features_key(spec), spec.test) for spec in specs):
        data = load_data(*place)
        own = [spec for spec in specs if (spec.dataset, features_key(spec), spec.test) == place]
        for spec in {(spec.warm_up, spec.balanced, spec.pool): spec for spec in own}.values():
            draw_items(spec, data.train_labels, len(data.classes))
        for spec in _different_models(own):
            try_model(spec, data)
        load_data.cache_clear()  # this process trains nothing


def _different_models(specs: Sequence[Spec]) -> list[Spec]:
    return list({json.dumps([spec.network, spec.model], sort_keys=True): spec for spec in specs}.values())


def change_grid(grid: Grid, options: dict[str, Any], changes: list[str]) -> Grid:
    """Return the grid with the options of the command line and `key=value` changes."""
    values = dict(options)
    names = values.pop("strategies", None)
    if "seeds" in values:
        values["seeds"] = parse_seeds(values["seeds"])
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise InvalidInput(f"--set {change} has no value; write --set key=value.")
        values[key.strip()] = _parse(text.strip())
    if names is not None:
        grid = grid.choose([name.strip() for name in names.split(",") if name.strip()])
    return grid.override(values)


def parse_seeds(text: str) -> int | list[int]:
    """Return a number of seeds, or the seeds of a range "5-9" or a list "0,3".

    >>> parse_seeds("5"), parse_seeds("5-7"), parse_seeds("0,3")
    (5, [5, 6, 7], [0, 3])
    """
    try:
        if "-" in text:
            first, last = text.split("-")
            return list(range(int(first), int(last) + 1))
        return [int(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise InvalidInput(f"--seeds is {text!r}; expected a number (5), a range (5-9) or a list (0,3).") from None


def _parse(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a text without quotes


def _conclude(outcome: Outcome, place: str) -> int:
    print(f"{outcome.done} of {outcome.total} runs are done in {place}.")
    if outcome.elsewhere:
        print(f"{outcome.elsewhere} are under way in another runner.")
    for run_id, traceback in outcome.failed:
        print(f"\nrun {run_id} failed:\n{traceback.rstrip()}", file=sys.stderr)
    not_done = outcome.total - outcome.done - outcome.elsewhere - len(outcome.failed)
    if not_done:
        print(f"{not_done} were not done: their processes ended at the start; see above.", file=sys.stderr)
    if outcome.failed:
        print(f"\n{len(outcome.failed)} failed; the same command tries them again.", file=sys.stderr)
    return 1 if outcome.failed or not_done else 0
