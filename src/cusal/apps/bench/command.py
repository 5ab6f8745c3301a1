"""What `cusal bench` does: overrides from the command line, the run, and what is said at the end."""

import importlib.util
import json
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

from cusal._progress import STOPPED, term_like_interrupt
from cusal.apps.bench import datasets
from cusal.apps.bench.experiment import build_model, suited_data, try_model
from cusal.apps.bench.grid import Grid, preset_names, read_grid
from cusal.apps.bench.loaded_data import draw_items, features_key, forget_data
from cusal.apps.bench.runner import Outcome, run_grid
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.variants import needs_network
from cusal.errors import CusalError, DataError, InvalidInput, MissingExtra, without_passwords

MOST_SEEDS = 10_000


def list_presets() -> str:
    """Return a table of the presets, one line each."""
    lines = []
    for name in preset_names():
        values = read_grid(name).values
        schedule = f"{values['warm_up']} + {values['rounds']} x {values['batch_size']} labels"
        size = f"{len(values['strategies'])} strategies, {values['seeds']} seeds"
        if sweep := values.get("sweep"):
            size += "".join(f", {len(some)} values of {key}" for key, some in sweep.items())
        if tasks := values.get("tasks"):
            size += f", {len(tasks)} tasks"
        lines.append(f"{name:26} {values['title']:50} {schedule:22} {size}")
    return "\n".join(lines)


def run(grid: Grid, *, place: str, workers: int | None, trusted: bool = False) -> int:
    """Do the runs of a grid, print how it went, and return the exit code."""
    try:
        with term_like_interrupt():
            specs = ready_specs(grid)
            print(f"{grid.name}: {len(specs)} runs, into {without_passwords(place)}", flush=True)
            outcome = run_grid(specs, place, workers=workers, trusted=trusted)
    except KeyboardInterrupt:
        print("\nstopped; the rounds done are kept, and the same command resumes from there.", file=sys.stderr)
        return STOPPED
    return _conclude(outcome, place)


def ready_specs(grid: Grid) -> list[Spec]:
    """Return the specs of a grid once all that its runs need is there.

    A task of a suite whose data or packages are not there is left out, in a line that says why.
    """
    specs = grid.specs()
    check_models(specs)
    if not any(spec.task for spec in specs):
        check_ready(specs)
        prepare(specs)
        return specs
    ready, refused = [], CusalError("")
    for task in dict.fromkeys(spec.task["name"] for spec in specs):
        own = [spec for spec in specs if spec.task["name"] == task]
        try:
            check_ready(own)
            prepare(own)
        except (DataError, MissingExtra) as error:
            print(f"{task} is left out: {error}", file=sys.stderr, flush=True)
            refused = error
        else:
            ready.append(task)
    if not ready:
        raise refused
    return [spec for spec in specs if spec.task["name"] in ready]


def check_ready(specs: Sequence[Spec]) -> None:
    """Raise an error, before any process starts, for what every run would meet: no torch, no data."""
    if any(needs_network(spec.model or "plain") for spec in specs) and importlib.util.find_spec("torch") is None:
        raise MissingExtra("training a network", "torch")
    here = {row.name: row.present for row in datasets.describe()}
    for name in dict.fromkeys(spec.dataset for spec in specs):
        if not here.get(name, False):
            data = datasets.load(name)  # one's own file; or an error that names what is missing and how to get it
            if data.reading:
                print(data.reading)


def check_models(specs: Sequence[Spec]) -> None:
    """Raise an error, before any process starts, for settings that a network or a training variant does not have."""
    for spec in _different_models(specs):
        build_model(spec, (1, 28, 28), 2)  # of any size: only the settings count, and nothing is trained


def prepare(specs: Sequence[Spec]) -> None:
    """Compute features that specs want, and try their sizes and models on the data, before any process starts."""
    for place in dict.fromkeys((spec.dataset, features_key(spec), spec.test) for spec in specs):
        own = [spec for spec in specs if (spec.dataset, features_key(spec), spec.test) == place]
        data = suited_data(own[0])
        drawn = {(spec.warm_up, spec.balanced, spec.pool, str(spec.at_most)): spec for spec in own}
        for spec in drawn.values():
            draw_items(spec, data.train_labels, len(data.classes))
        for spec in _different_models(own):
            try_model(spec, suited_data(spec))
        forget_data()  # this process trains nothing


def _different_models(specs: Sequence[Spec]) -> list[Spec]:
    return list({json.dumps([spec.network, spec.model], sort_keys=True): spec for spec in specs}.values())


def change_grid(grid: Grid, options: dict[str, Any], changes: list[str]) -> Grid:
    """Return the grid with the options of the command line and `key=value` changes."""
    values = dict(options)
    names, tasks = values.pop("strategies", None), values.pop("tasks", None)
    if "seeds" in values:
        values["seeds"] = parse_seeds(values["seeds"])
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise InvalidInput(f"--set {change} has no value; write --set key=value.")
        values[key.strip()] = _parse(text.strip())
    if names is not None:
        grid = grid.choose(_listed(names))
    if tasks is not None:
        grid = grid.choose_tasks(_listed(tasks))
    return grid.override(values)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_seeds(text: str) -> int | list[int]:
    """Return a number of seeds, or the seeds of a range "5-9" or a list "0,3".

    >>> parse_seeds("5"), parse_seeds("5-7"), parse_seeds("0,3")
    (5, [5, 6, 7], [0, 3])
    """
    try:
        if "-" in text:
            first, last = map(int, text.split("-"))
            if not first <= last < first + MOST_SEEDS:
                raise ValueError
            return list(range(first, last + 1))
        return [int(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise InvalidInput(f"--seeds is {text!r}; expected a number (5), a range (5-9) or a list (0,3).") from None


def _parse(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text  # a text without quotes


def _conclude(outcome: Outcome, place: str) -> int:
    print(f"{outcome.done} of {outcome.total} runs are done in {without_passwords(place)}.")
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
