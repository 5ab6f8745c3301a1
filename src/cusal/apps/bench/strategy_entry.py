"""A strategy as grids write it: a name, or a table with its name, its label, its settings and what it changes."""

import dataclasses
from typing import Any

from cusal import strategies
from cusal.errors import InvalidInput, UnknownName

# Keys of the grid that a strategy may set for itself.
CHANGES = ("reference", "recalibrate", "audit", "stop", "model", "network", "epochs")
NONE = "none"  # TOML has no null: recalibrate = "none", density_floor = "none"

Entry = dict[str, Any]


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
