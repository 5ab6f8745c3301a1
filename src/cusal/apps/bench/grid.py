"""Grids: a TOML file of settings, packaged (a preset) or one's own, and the specs that it stands for.

    extends = "mnist"                       # start from a preset or another grid file
    seeds = 3                               # 0, 1, 2; or a list
    strategies = ["margin", {name = "cusal", label = "cusal-b01", bandwidth = 0.01}, "package.module:Name"]

A strategy's table holds its name, the `label` that reports show, its settings, and what it changes of the session
(`reference`, `recalibrate`, `audit`, `stop`), the training variant (`model`), the network or the `epochs`.
`stop = true` ends a run as soon as `session.stopping()` recommends it; `rounds` is then the most that it asks.
`sweep = {warm_up = [10, 20, 40]}` repeats the grid with each value, as experiments of their own.
`[on.svhn]` holds what changes when the preset svhn stands in for the one that the grid extends.
`[[tasks]]` makes it a suite: each table holds a data set and whatever else differs, and is an experiment of its own. A
grid that extends a suite changes all of its tasks; one that names a `dataset` is no suite: its runs are on that data.
"""

import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cusal import strategies
from cusal.apps.bench.grid_keys import (
    CHANGES,
    NAMELESS,
    NEEDED,
    NONE,
    OF_TASKS,
    TABLES,
    Entry,
    GridKeys,
    as_entry,
    check_keys,
    label_of,
    setting_names,
    settings_of,
)
from cusal.apps.bench.spec import ALGORITHM, Spec
from cusal.apps.bench.variants import as_table, is_module, needs_network
from cusal.errors import DataError, InvalidInput, UnknownName

PRESETS = Path(__file__).parent / "presets"


@dataclass(frozen=True)
class Grid:
    """The settings of an experiment, from which the specs of its runs follow.

    Parameters
    ----------
    name : str
        The name of the experiment in stores and reports.
    values : dict
        The keys of the grid; see `GridKeys`.
    sweep : dict
        What a sweep made of the grid: its `name` and the values that it is `over`; empty where there is none.
    task : dict
        Of one task of a suite: the suite's name, the task's `name` and its `group`; empty where there is none.

    Examples
    --------
    >>> grid = read_grid("digits").choose(["margin", "cusal"]).override({"seeds": 2, "rounds": 5})
    >>> grid.name, [(spec.label, spec.seed) for spec in grid.specs()]
    ('digits rounds=5', [('margin', 0), ('cusal', 0), ('margin', 1), ('cusal', 1)])
    """

    name: str
    values: dict[str, Any]
    sweep: dict[str, Any] = field(default_factory=dict)
    task: dict[str, str] = field(default_factory=dict)

    def override(self, changes: Mapping[str, Any]) -> "Grid":
        """Return the grid with some values changed.

        Parameters
        ----------
        changes : mapping
            Keys of the grid and their new values. What makes runs incomparable becomes part of the grid's name.

        Returns
        -------
        Grid

        Raises
        ------
        InvalidInput, UnknownName
            For a key that no grid has, a value that does not fit, or a key that the grid's sweep goes over.
        """
        check_keys(changes, "the command line")
        for key in changes.keys() & self.values.get("sweep", {}).keys():
            raise InvalidInput(f"{self.name} goes over values of {key} itself; give it others: sweep={{{key}=[...]}}.")
        marks = [f"{key}={changes[key]}" for key in sorted(changes) if key not in NAMELESS]
        return replace(self, name=" ".join([self.name, *marks]), values=_changed(self.values, changes))

    def choose(self, names: list[str]) -> "Grid":
        """Return the grid with these strategies alone.

        Parameters
        ----------
        names : list of str
            Labels of the grid's own strategies, or any strategy by its name.

        Returns
        -------
        Grid

        Raises
        ------
        InvalidInput
            If no name is given.
        UnknownName
            If neither the grid nor cusal has a strategy of that name.
        """
        own = {label_of(entry): entry for entry in map(as_entry, self.values["strategies"])}
        if not names:
            raise InvalidInput(f"no strategy is named; give some of {', '.join(own)}, or leave --strategies out.")
        for name in names:
            if ":" in name and name not in own:
                strategies.find(name)
            elif name not in own and name not in strategies.names():
                raise UnknownName("strategy", name, {*own, *strategies.names()})
        return replace(self, values=self.values | {"strategies": [own.get(name, name) for name in names]})

    def choose_tasks(self, names: list[str]) -> "Grid":
        """Return the suite with these tasks alone.

        Parameters
        ----------
        names : list of str
            Names of tasks of the grid.

        Returns
        -------
        Grid

        Raises
        ------
        InvalidInput
            If the grid has no tasks, or no name is given.
        UnknownName
            If it has none of that name.
        """
        own = {task_name(task): task for task in self.values.get("tasks", [])}
        if not own or not names:
            raise InvalidInput(f"{self.name}: {'no task is named' if own else 'it has no tasks'}; leave --tasks out.")
        for name in names:
            if name not in own:
                raise UnknownName("task", name, own)
        return replace(self, values=self.values | {"tasks": [own[name] for name in names]})

    def members(self) -> list["Grid"]:
        """Return the grids of a suite's tasks, in order; the grid itself where it is none."""
        if "tasks" not in self.values:
            return [self]
        names = [task_name(task) for task in self.values["tasks"]]
        for name in names:
            if names.count(name) > 1:
                raise InvalidInput(f"the grid {self.name} has two tasks named {name!r}; give one another name.")
        shared = _without(self.values, "tasks")
        return [
            Grid(
                f"{self.name}: {name}",
                shared | _without(task, *OF_TASKS),
                task={"suite": self.name, "name": name, "group": task.get("group", "")},
            )
            for name, task in zip(names, self.values["tasks"], strict=True)
        ]

    def specs(self) -> list[Spec]:
        """Return one spec for each seed, task, value of the sweep and strategy, all of a seed before the next seed.

        Returns
        -------
        list of Spec

        Raises
        ------
        InvalidInput
            If the grid lacks a key that every run needs, or two strategies have the same label.
        """
        if "tasks" in self.values:
            return sorted((spec for member in self.members() for spec in member.specs()), key=lambda spec: spec.seed)
        if sweep := self.values.get("sweep"):
            rest = Grid(self.name, _without(self.values, "sweep"), task=self.task)
            changes = (dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values()))
            members = [replace(rest.override(change), sweep={"name": self.name, "over": change}) for change in changes]
            return sorted((spec for member in members for spec in member.specs()), key=lambda spec: spec.seed)
        missing = [key for key in NEEDED if key not in self.values]
        if "network" in missing and not needs_network(self.values.get("model", "plain")):
            missing.remove("network")
        if missing:
            raise InvalidInput(f"the grid {self.name} has no {missing[0]}; add it, or extend a preset that has it.")
        entries = [as_entry(entry) for entry in self.values["strategies"]]
        labels = [label_of(entry) for entry in entries]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise InvalidInput(
                f"the grid {self.name} has two strategies shown as {twice[0]!r}; give one another label."
            )
        return [self._spec(entry, seed) for seed in self._seeds() for entry in entries]

    def _seeds(self) -> list[int]:
        seeds = self.values["seeds"]
        return list(range(seeds)) if isinstance(seeds, int) else list(seeds)

    def _spec(self, entry: Entry, seed: int) -> Spec:
        shared = GridKeys.__annotations__.keys() & Spec.__dataclass_fields__.keys() - {"sweep"}
        fixed = {key: self.values[key] for key in shared & self.values.keys()}
        fixed |= {key: entry[key] for key in CHANGES if key in entry}
        fixed["pool"] = fixed.get("pool") or None
        if fixed.get("recalibrate") == NONE:
            fixed["recalibrate"] = None
        fixed |= {key: as_table(fixed[key]) for key in TABLES if key in fixed}
        if "model" in fixed and is_module(fixed["model"]):
            fixed["network"] = fixed.pop("model")
        fixed.setdefault("network", {})
        own = setting_names(entry)
        settings: dict[str, Any] = {key: fixed[key] for key in ("bandwidth", "p") if key in own and key in fixed}
        settings |= settings_of(entry)
        names = {"experiment": self.name, "label": label_of(entry), "strategy": entry["name"]}
        fixed |= {"sweep": self.sweep, "task": self.task, "algorithm": ALGORITHM}
        return Spec(**names, **fixed, seed=seed, settings=settings)


def task_name(task: Mapping[str, Any]) -> str:
    """Return the name of a suite's task: its own, or that of the data set with that of the features.

    >>> task_name({"dataset": "ag_news", "features": "tfidf"})
    'ag_news tfidf'
    """
    if "name" in task:
        return str(task["name"])
    features = as_table(task["features"])["name"] if "features" in task else ""
    return f"{task.get('dataset', 'unnamed')} {features}".strip()


def preset_names() -> list[str]:
    """Return the names of the grids that come with cusal."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def read_grid(name: str, *, on: str | None = None) -> Grid:
    """Return a preset by its name, or a grid of one's own by the path of its TOML file.

    Parameters
    ----------
    name : str
        A preset, or a path that ends in `.toml`.
    on : str, optional
        Another grid to stand in for the one that it extends: the same comparison with other data and another network.

    Returns
    -------
    Grid

    Raises
    ------
    UnknownName
        If there is no such preset, or a key or name in the file is unknown.
    DataError
        If the file cannot be read or is no TOML.
    InvalidInput
        If a value does not fit.
    """
    path = Path(name).expanduser() if name.endswith(".toml") else PRESETS / f"{name}.toml"
    if not name.endswith(".toml") and name not in preset_names():
        raise UnknownName("preset", name, preset_names())
    if on is None:
        return Grid(path.stem, _without(_read(path, ()), "on"))
    own = _own_values(path)
    if "extends" not in own:
        raise InvalidInput(
            f"{path.stem} extends no other grid, so --on {on} has nothing to stand in for; leave it out."
        )
    stage = read_grid(on)
    values = _changed(_changed(stage.values, own), own.get("on", {}).get(stage.name, {}))
    return Grid(f"{path.stem} on {stage.name}", _without(values, "extends", "on"))


def _read(path: Path, seen: tuple[Path, ...]) -> dict[str, Any]:
    if "\0" in str(path):
        raise DataError(f"there is no grid {str(path)!r}; give a preset or a TOML file.")
    if path.resolve() in seen:
        raise InvalidInput(f"{path} extends itself; let it extend a preset or another file.")
    values = _own_values(path)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    if not parent.endswith(".toml"):
        return _changed(read_grid(parent).values, values)
    return _changed(_read(path.parent / parent, (*seen, path.resolve())), values)


def _changed(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a grid with changes, each of which is for all tasks, whatever each had of its own.

    With another data set there is one experiment, on that data set: the tasks are gone.
    """
    changed = {**values, **changes}
    if "tasks" in values and "tasks" not in changes:
        if "dataset" in changes:
            return _without(changed, "tasks")
        changed["tasks"] = [_without(task, *changes) for task in values["tasks"]]
    return changed


def _without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _own_values(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the grid {path}: {error.strerror}; give a preset or a TOML file.") from None
    except (ValueError, RecursionError) as error:  # of the syntax, the encoding, or a path that no file can have
        raise DataError(f"the grid {path} is no TOML: {error}.") from None
    check_keys(values, str(path))
    if "dataset" in values and all("dataset" in task for task in values.get("tasks", [{}])):
        raise InvalidInput(f"{path}: every task has a data set of its own; leave out dataset = {values['dataset']!r}.")
    return values
