"""The keys that a grid may have, and the values that each takes."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args, get_type_hints

from cusal import strategies
from cusal.apps.bench.features import check_features
from cusal.apps.bench.loaded_data import SPLITS
from cusal.apps.bench.variants import as_table, check_model
from cusal.errors import CusalError, InvalidInput, MissingExtra, UnknownName
from cusal.models import networks
from cusal.recalibration import Recalibrate
from cusal.session import Reference

try:
    from annotated_types import Ge, Gt, Le, MinLen
    from pydantic import AfterValidator, ConfigDict, TypeAdapter, ValidationError
    from typing_extensions import TypedDict
except ImportError as error:
    raise MissingExtra("a grid of experiments", "bench") from error

# Keys of the grid that a strategy may set for itself.
CHANGES = ("reference", "recalibrate", "audit", "stop", "model", "network", "epochs")
NONE = "none"  # TOML has no null: recalibrate = "none", density_floor = "none"

Entry = dict[str, Any]

PRECISIONS = ("float32", "bfloat16", "auto")  # of TorchClassifier, which would load torch
TABLES = ("network", "model", "features")  # each a name, or a table with a name and settings
NEEDED = ("dataset", "network", "rounds", "batch_size", "warm_up", "seeds", "strategies")
NAMELESS = ("seeds", "strategies", "sweep", "tasks", "title")  # changing these leaves runs comparable
OF_TASKS = ("name", "group")  # what a task has beside keys of the grid
NOT_OF_TASKS = ("extends", "on", "seeds", "strategies", "sweep", "tasks", "title")


def _one_of(kind: str, *known: str) -> AfterValidator:
    def check(value: str) -> str:
        if value not in known:
            raise UnknownName(kind, value, known)
        return value

    return AfterValidator(check)


def _named(check: Callable[[dict[str, Any]], None]) -> AfterValidator:
    def with_name(value: Any) -> Any:
        table = as_table(value)
        if not isinstance(table.get("name"), str):
            raise ValueError("a table without a name")
        check(table)
        return value

    return AfterValidator(with_name)


def _distinct(value: Any) -> Any:
    if isinstance(value, list) and len({str(item) for item in value}) < len(value):
        raise ValueError("the same value twice")
    return value


def _check_tasks(value: list[Any]) -> list[Any]:
    for number, task in enumerate(value, start=1):
        where = f"task {number}"
        if not isinstance(task, dict):
            raise InvalidInput(f"{where} is {task!r}; expected a table such as {{dataset = 'letter'}}.")
        for key in task.keys() & {*NOT_OF_TASKS}:
            raise InvalidInput(f"{where} has {key}, which all tasks share; move it above the tasks.")
        for key in task.keys() & {*OF_TASKS}:
            if not isinstance(task[key], str):
                raise InvalidInput(f"{where}: {key} is {task[key]!r}; expected a text.")
        check_keys({key: task[key] for key in task if key not in OF_TASKS}, where)
    return value


def _check_strategies(value: list[Any]) -> list[Any]:
    for written in value:
        entry = as_entry(written)
        check_keys({key: entry[key] for key in CHANGES if key in entry}, f"strategy {entry['name']}")
        check_settings(entry)
    return value


# The last text of each says what is expected, in messages.
Seeds = Annotated[int, Gt(0), Le(10_000), "how many"]
Whole = Annotated[int, Ge(0), "a whole number, 0 or more"]
Positive = Annotated[int, Gt(0), "a whole number above 0"]
Number = Annotated[float, Ge(0), "a number, 0 or more"]
Flag = Annotated[bool, "true or false"]
Words = Annotated[str, "a text"]
NameOrTable = str | dict[str, Any]


class GridKeys(TypedDict, total=False):
    """Every key of a grid; TOML has no null, so that `pool = 0` and `recalibrate = "none"` stand for none."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]

    title: Words
    extends: Words
    on: Annotated[dict[str, dict[str, Any]], "a table of presets and what they change, such as {svhn = {rounds = 50}}"]
    dataset: Words
    features: Annotated[
        NameOrTable,
        _named(lambda table: check_features(**table)),
        'a name, or a table such as {name = "efficientnet_lite0", side = 64}',
    ]
    network: Annotated[
        NameOrTable,
        _named(lambda table: networks.check_name(table["name"])),
        'a name, or a table such as {name = "mnist_net", dropout = 0.5}',
    ]
    model: Annotated[
        NameOrTable,
        _named(check_model),
        'a name, or a table such as {name = "temperature_scaled", method = "held-out"}',
    ]
    seeds: Annotated[
        Seeds | Annotated[list[Whole], MinLen(1)],
        AfterValidator(_distinct),
        "how many (10,000 at most), or a list of distinct whole numbers",
    ]
    strategies: Annotated[list[Any], MinLen(1), AfterValidator(_check_strategies), "a list of names and tables"]
    sweep: Annotated[
        dict[str, Annotated[list[Any], MinLen(1), AfterValidator(_distinct)]],
        "a table of distinct values such as {warm_up = [10, 20, 40]}",
    ]
    tasks: Annotated[
        list[Any],
        MinLen(1),
        AfterValidator(_check_tasks),
        'a list of tables such as {dataset = "ag_news", features = "tfidf"}',
    ]
    at_most: Annotated[
        dict[Literal["pool", "test"], Positive], "a table of whole numbers such as {pool = 2500, test = 1500}"
    ]
    rounds: Whole
    batch_size: Positive
    warm_up: Positive
    balanced: Flag
    pool: Whole
    epochs: Positive
    learning_rate: Number
    train_batch_size: Positive
    weight_decay: Number
    warm_start: Flag
    precision: Annotated[str, _one_of("precision", *PRECISIONS), "a text"]
    recalibrate: Annotated[str, _one_of("recalibrate", *get_args(Recalibrate), NONE), "a text"]
    recalibrations: Annotated[
        list[Annotated[str, _one_of("recalibrate", *get_args(Recalibrate))]],
        AfterValidator(_distinct),
        'a list of distinct recalibrations such as ["prequential", "cross-fit"]',
    ]
    audit: Annotated[float, Ge(0), Le(1), "a share of each batch, from 0 to 1"]
    test: Annotated[str, _one_of("test", *SPLITS), "a text"]
    reference: Annotated[str, _one_of("reference", *get_args(Reference)), "a text"]
    stop: Flag
    estimator_every: Whole
    bandwidth: Number
    p: Number


_TYPES = get_type_hints(GridKeys, include_extras=True)
_GRID = TypeAdapter(GridKeys)


def check_keys(values: Mapping[str, Any], where: str) -> None:
    """Raise an error for the first key that no grid has, or value that does not fit.

    Parameters
    ----------
    values : mapping
        The keys of a grid, or some of them.
    where : str
        What the message names as their origin.

    Raises
    ------
    UnknownName
        For a key, strategy, setting, network, model or choice that there is none of; suggests the nearest.
    InvalidInput
        For a value of the wrong kind or out of range.
    """
    check_plain(values, where)
    try:
        _GRID.validate_python(dict(values))
    except ValidationError as refused:
        first = refused.errors(include_url=False)[0]
        raise _explained(first, values, where) from None
    for key, swept in values.get("sweep", {}).items():
        if key in ("extends", *NAMELESS):
            raise InvalidInput(f"{where}: a sweep goes over a setting such as warm_up, not over {key}.")
        for value in swept:
            check_keys({key: value}, f"{where}, sweep")
    for stage, changes in values.get("on", {}).items():
        check_keys(changes, f"{where}, on {stage}")


def _explained(refusal: Any, values: Mapping[str, Any], where: str) -> CusalError:
    key = refusal["loc"][0]
    if isinstance(own := refusal.get("ctx", {}).get("error"), CusalError):
        return own
    if refusal["type"] == "extra_forbidden":
        return UnknownName(f"key of a grid ({where})", key, _TYPES)
    return InvalidInput(f"{where}: {key} is {values[key]!r}; expected {_TYPES[key].__metadata__[-1]}.")


# What a value of a grid may be made of at all: texts, flags, finite numbers, and lists and tables of them.
#
# A spec is stored as JSON, which has no dates, and a hash of it is the run's id, so that what would not come back as it
# was is refused where the grid is read.


DEEPEST = 20  # tables in tables; real grids have three
LARGEST = 2**31 - 1  # the largest number that every database keeps as a whole one


def check_plain(values: Mapping[str, Any], where: str) -> None:
    """Raise `InvalidInput` for a value that no setting can have, however deep it lies.

    Parameters
    ----------
    values : mapping
        The keys of a grid, or some of them.
    where : str
        What the message names as their origin.
    """
    for key, value in values.items():
        left = [(value, 1)]
        while left:
            part, depth = left.pop()
            fault = _fault(part, depth)
            if fault:
                raise InvalidInput(f"{where}: {str(key)[:80]} holds {fault}.")
            if isinstance(part, Mapping):
                left += [(inner, depth + 1) for pair in part.items() for inner in pair]
            elif isinstance(part, list | tuple):
                left += [(inner, depth + 1) for inner in part]


def _fault(part: Any, depth: int) -> str | None:
    if depth > DEEPEST:
        return f"lists or tables that are more than {DEEPEST} deep; write them flat"
    if isinstance(part, float) and not math.isfinite(part):
        return f"{part}; expected a finite number"
    if isinstance(part, int) and abs(part) > LARGEST:
        return f"a whole number beyond {LARGEST:,}; write a smaller one"
    if not isinstance(part, str | bool | int | float | Mapping | list | tuple | None):
        return f"a {type(part).__name__}; expected a text, a number, true or false, or a list or table of them"
    return None


# A strategy as grids write it: a name, or a table with its name, its label, its settings and what it changes.


def as_entry(written: Any) -> Entry:
    """Return a strategy of a grid as a table."""
    if isinstance(written, str):
        return {"name": written}
    if not isinstance(written, dict) or not isinstance(written.get("name"), str):
        raise InvalidInput(f"a strategy is {written!r}; expected a name, or a table with a name.")
    return _without_numerics(written) if "numerics" in written else written


def _without_numerics(written: Entry) -> Entry:
    """Translate `numerics = "listing"`, as grids once called `cusal_listing`; the label stays what it was."""
    entry = {key: value for key, value in written.items() if key != "numerics"}
    if written["numerics"] not in ("exact", "listing"):
        raise UnknownName("numerics", written["numerics"], ("exact", "listing"))
    if written["numerics"] == "exact":
        return entry
    if entry["name"] != "cusal":
        raise InvalidInput(f'numerics = "listing" is for cusal, not for {entry["name"]}; leave it out.')
    return entry | {"name": "cusal_listing", "label": label_of(entry | {"name": "cusal-listing"})}


def label_of(entry: Entry) -> str:
    """Return the name under which reports show a strategy.

    >>> label_of({"name": "cusal", "bandwidth": 0.01})
    'cusal bandwidth=0.01'
    """
    if "label" in entry:
        return str(entry["label"])
    name = entry["name"].rpartition(":")[2]
    return " ".join([name, *(f"{key}={_short(entry[key])}" for key in sorted(entry) if key not in ("name", "label"))])


def _short(value: Any) -> str:
    """Return a setting as part of a label; of a table, its name and its settings."""
    if not isinstance(value, dict):
        return str(value)
    return "/".join([str(value["name"]), *(f"{key}={_short(value[key])}" for key in sorted(value) if key != "name")])


def settings_of(entry: Entry) -> dict[str, Any]:
    """Return the strategy's own settings."""
    other = ("name", "label", *CHANGES)
    return {key: None if value == NONE else value for key, value in entry.items() if key not in other}


def setting_names(entry: Entry) -> set[str]:
    """Return the settings that the strategy has."""
    return {field.name for field in dataclasses.fields(strategies.find(entry["name"]))}


def check_settings(entry: Entry) -> None:
    """Raise an error for a strategy that there is none of, a setting that it lacks, or a value that it refuses."""
    known = setting_names(entry)
    settings = settings_of(entry)
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of {entry['name']}", key, known | {"name", "label", *CHANGES})
    strategies.find(entry["name"])(**settings)  # its own checks of the values
