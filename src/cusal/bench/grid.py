"""Grids: a TOML file of settings, packaged (a preset) or one's own, and the specs that it stands for.

    extends = "mnist"                       # start from a preset or another grid file
    seeds = 3                               # 0, 1, 2; or a list
    strategies = ["margin", {name = "cusal", label = "cusal-b01", bandwidth = 0.01}]

A strategy's table holds its name, the `label` that reports show, its settings, and what it changes of the session
(`reference`, `recalibrate`), the training variant (`model`) or the network; `numerics = "listing"` gives the paper's
float32 listing. `sweep = {warm_up = [10, 20, 40]}` repeats the grid with each value, as experiments of their own.
`[on.svhn]` holds what changes when the preset svhn stands in for the one that the grid extends.
"""

import dataclasses
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from cusal import strategies
from cusal.bench.features import check_features
from cusal.bench.networks import check_network
from cusal.bench.spec import Spec
from cusal.bench.variants import as_table, check_model
from cusal.errors import DataError, InvalidInput, UnknownName
from cusal.loop.session import Recalibrate, Reference
from cusal.strategies._strategy import Strategy
from cusal.strategies.cusal_listing import CusalListing

PRESETS = Path(__file__).parent / "presets"
COUNTS = ("rounds", "batch_size", "warm_up", "pool", "epochs", "train_batch_size", "estimator_every")
NUMBERS = ("learning_rate", "weight_decay", "bandwidth", "p")
FLAGS = ("balanced", "warm_start")
TEXTS = ("title", "dataset", "precision", "recalibrate", "reference")
TABLES = ("network", "model", "features")  # each a name, or a table with a name and settings
KEYS = {*COUNTS, *NUMBERS, *FLAGS, *TEXTS, *TABLES, "extends", "on", "seeds", "strategies", "sweep"}
NEEDED = ("dataset", "network", "rounds", "batch_size", "warm_up", "seeds", "strategies")
OF_A_STRATEGY = ("name", "label", "numerics", "reference", "recalibrate", "model", "network")
NAMELESS = ("seeds", "strategies", "sweep", "title")  # changing these leaves runs comparable
PRECISIONS = ("float32", "bfloat16", "auto")  # of TorchClassifier, which would load torch
NONE = "none"  # TOML has no null: recalibrate = "none", density_floor = "none", pool = 0


@dataclass(frozen=True)
class Grid:
    """The settings of an experiment: `name` is shown in reports, `values` are the grid's keys."""

    name: str
    values: dict[str, Any]

    def override(self, changes: Mapping[str, Any]) -> "Grid":
        """Give the grid with some values changed; what makes runs incomparable becomes part of its name."""
        check_values(changes, "the command line")
        for key in changes.keys() & self.values.get("sweep", {}).keys():
            raise InvalidInput(f"{self.name} goes over values of {key} itself; give it others: sweep={{{key}=[...]}}.")
        marks = [f"{key}={changes[key]}" for key in sorted(changes) if key not in NAMELESS]
        return Grid(" ".join([self.name, *marks]), self.values | dict(changes))

    def choose(self, names: list[str]) -> "Grid":
        """Give the grid with these strategies alone: labels of the grid's own, or any strategy by its name."""
        own = {_label(entry): entry for entry in map(_entry, self.values["strategies"])}
        if not names:
            raise InvalidInput(f"no strategy is named; give some of {', '.join(own)}, or leave --strategies out.")
        for name in names:
            if name not in own and name not in strategies.names():
                raise UnknownName("strategy", name, {*own, *strategies.names()})
        return Grid(self.name, self.values | {"strategies": [own.get(name, name) for name in names]})

    def specs(self) -> list[Spec]:
        """Give one spec for each seed, value of the sweep and strategy, all of a seed before the next seed."""
        if sweep := self.values.get("sweep"):
            rest = Grid(self.name, _without(self.values, "sweep"))
            changes = (dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values()))
            return sorted((spec for change in changes for spec in rest.override(change).specs()), key=lambda s: s.seed)
        missing = [key for key in NEEDED if key not in self.values]
        if missing:
            raise InvalidInput(f"the grid {self.name} has no {missing[0]}; add it, or extend a preset that has it.")
        entries = [_entry(entry) for entry in self.values["strategies"]]
        labels = [_label(entry) for entry in entries]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise InvalidInput(
                f"the grid {self.name} has two strategies shown as {twice[0]!r}; give one another label."
            )
        return [self._spec(entry, seed) for seed in self._seeds() for entry in entries]

    def _seeds(self) -> list[int]:
        seeds = self.values["seeds"]
        return list(range(seeds)) if isinstance(seeds, int) else list(seeds)

    def _spec(self, entry: dict[str, Any], seed: int) -> Spec:
        fixed = {key: self.values[key] for key in KEYS & set(Spec.__dataclass_fields__) & set(self.values)}
        fixed |= {key: entry[key] for key in OF_A_STRATEGY if key not in ("name", "label") and key in entry}
        fixed["pool"] = fixed.get("pool") or None
        if fixed.get("recalibrate") == NONE:
            fixed["recalibrate"] = None
        fixed |= {key: as_table(fixed[key]) for key in TABLES if key in fixed}
        fields = {field.name for field in dataclasses.fields(_strategy_class(entry))}
        settings: dict[str, Any] = {key: fixed[key] for key in ("bandwidth", "p") if key in fields and key in fixed}
        settings |= _settings(entry)
        names = {"experiment": self.name, "label": _label(entry), "strategy": entry["name"]}
        return Spec(**names, **fixed, seed=seed, settings=settings)


def preset_names() -> list[str]:
    """Give the names of the grids that come with cusal."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def read_grid(name: str, *, on: str | None = None) -> Grid:
    """Give a preset by its name, or a grid of one's own by the path of its TOML file.

    on: another grid to stand in for the one that it extends: the same comparison with other data and another network.
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
    values = stage.values | own | own.get("on", {}).get(stage.name, {})
    return Grid(f"{path.stem} on {stage.name}", _without(values, "extends", "on"))


def _read(path: Path, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path.resolve() in seen:
        raise InvalidInput(f"{path} extends itself; let it extend a preset or another file.")
    values = _own_values(path)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    if not parent.endswith(".toml"):
        return read_grid(parent).values | values
    return _read(path.parent / parent, (*seen, path.resolve())) | values


def _without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _own_values(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the grid {path}: {error.strerror}; give a preset or a TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"the grid {path} is no TOML: {error}.") from None
    check_values(values, str(path))
    return values


def check_values(values: Mapping[str, Any], where: str) -> None:
    """Complain about keys that no grid has and values that do not fit."""
    for key, value in values.items():
        if key not in KEYS:
            raise UnknownName(f"key of a grid ({where})", key, KEYS)
        if not _fits(key, value):
            raise InvalidInput(f"{where}: {key} is {value!r}; expected {_expected(key)}.")
    _check_tables(values)
    _check_session(values)
    _check_sweep(values.get("sweep", {}), where)
    for stage, changes in values.get("on", {}).items():
        check_values(changes, f"{where}, on {stage}")
    for entry in values.get("strategies", []):
        _check_entry(_entry(entry))


def _fits(key: str, value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if key in COUNTS:
        return whole and (value > 0 or key in ("pool", "rounds", "estimator_every"))
    if key in NUMBERS:
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if key in FLAGS:
        return isinstance(value, bool)
    if key in TABLES:
        return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("name"), str))
    if key == "on":
        return isinstance(value, dict) and all(isinstance(changes, dict) for changes in value.values())
    if key == "sweep":
        return isinstance(value, dict) and all(isinstance(some, list) and _distinct(some) for some in value.values())
    if key == "seeds":
        distinct = isinstance(value, list) and _distinct(value)
        return (whole and value > 0) or (distinct and all(isinstance(seed, int) and seed >= 0 for seed in value))
    if key == "strategies":
        return isinstance(value, list) and len(value) > 0
    return isinstance(value, str)


def _distinct(values: list[Any]) -> bool:
    return len({str(value) for value in values}) == len(values) > 0


def _expected(key: str) -> str:
    if key in COUNTS:
        return "a whole number"
    if key in NUMBERS:
        return "a number, 0 or more"
    special = {
        "network": 'a name, or a table such as {name = "mnist_net", dropout = 0.5}',
        "model": 'a name, or a table such as {name = "temperature_scaled", method = "held-out"}',
        "features": 'a name, or a table such as {name = "efficientnet_lite0", side = 64}',
        "on": "a table of presets and what they change, such as {svhn = {rounds = 50}}",
        "sweep": "a table of distinct values such as {warm_up = [10, 20, 40]}",
        "seeds": "how many, or a list of distinct whole numbers",
        "strategies": "a list of names and tables",
    }
    return special.get(key, "true or false" if key in FLAGS else "a text")


def _entry(entry: Any) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"name": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InvalidInput(f"a strategy is {entry!r}; expected a name, or a table with a name.")
    return entry


def _label(entry: dict[str, Any]) -> str:
    if "label" in entry:
        return str(entry["label"])
    extra = [f"{key}={_short(entry[key])}" for key in sorted(entry) if key not in ("name", "label", "numerics")]
    name = f"{entry['name']}-listing" if entry.get("numerics") == "listing" else entry["name"]
    return " ".join([name, *extra])


def _short(value: Any) -> str:
    """Give a setting as part of a label; of a table, its name and its settings."""
    if not isinstance(value, dict):
        return str(value)
    return "/".join([str(value["name"]), *(f"{key}={_short(value[key])}" for key in sorted(value) if key != "name")])


def _settings(entry: dict[str, Any]) -> dict[str, Any]:
    """Give the strategy's own settings."""
    return {key: None if value == NONE else value for key, value in entry.items() if key not in OF_A_STRATEGY}


def _strategy_class(entry: dict[str, Any]) -> type[Strategy]:
    found = strategies.find(entry["name"])
    return CusalListing if entry.get("numerics") == "listing" else found


def _check_tables(values: Mapping[str, Any]) -> None:
    for key in TABLES:
        if key in values and not _fits(key, values[key]):
            raise InvalidInput(f"{key} is {values[key]!r}; expected {_expected(key)}.")
    if "network" in values:
        check_network(as_table(values["network"])["name"])
    if "model" in values:
        check_model(values["model"])
    if "features" in values:
        check_features(**as_table(values["features"]))


def _check_sweep(sweep: dict[str, list[Any]], where: str) -> None:
    for key, values in sweep.items():
        if key in ("extends", *NAMELESS):
            raise InvalidInput(f"{where}: a sweep goes over a setting such as warm_up, not over {key}.")
        for value in values:
            check_values({key: value}, f"{where}, sweep")


def _check_entry(entry: dict[str, Any]) -> None:
    _check_choice("numerics", entry.get("numerics"), ("exact", "listing"))
    _check_session(entry)
    _check_tables(entry)
    if entry.get("numerics") == "listing" and entry["name"] != "cusal":
        raise InvalidInput(f'numerics = "listing" is for cusal, not for {entry["name"]}; leave it out.')
    chosen = _strategy_class(entry)
    fields = {field.name for field in dataclasses.fields(chosen)}
    settings = _settings(entry)
    for key in settings:
        if key not in fields:
            raise UnknownName(f"setting of {entry['name']}", key, fields | set(OF_A_STRATEGY))
    chosen(**settings)  # its own checks of the values


def _check_session(values: Mapping[str, Any]) -> None:
    _check_choice("precision", values.get("precision"), PRECISIONS)
    _check_choice("recalibrate", values.get("recalibrate"), (*get_args(Recalibrate), NONE))
    _check_choice("reference", values.get("reference"), get_args(Reference))


def _check_choice(kind: str, value: Any, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise UnknownName(kind, value, known)
