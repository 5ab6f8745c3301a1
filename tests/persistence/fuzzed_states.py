"""Read files of odd objects in a process of their own: `python fuzzed_states.py FOLDER FIRST`, from case FIRST on.

Each case is a class of scikit-learn, torch.nn or cusal with an odd state, by one of the three doors. A line of JSON for
each says what came out. A case that takes ten seconds ends the process, as one that takes a gigabyte more does.
"""

import importlib
import inspect
import json
import pkgutil
import resource
import signal
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from hostile_files import DOORS, ITEMS, in_model, table, thing, write
from sklearn.naive_bayes import GaussianNB

import cusal
from cusal.errors import CusalError
from cusal.persistence import allowed

SECONDS, MEMORY = 10, 1 << 30
ODD: list[Any] = [None, -1, 0, 10**9, 1e300, float("nan"), "evil", "", True, [], [[]], table(a=1),
                  {"#": "tuple", "of": []}, {"#": "array", "type": "<f8", "shape": [0], "of": []},
                  thing("sklearn.naive_bayes:GaussianNB"), {"#": "name", "of": "chi2"}]  # fmt: skip


def classes() -> list[str]:
    """Return the names of all classes of the three packages, private ones and compiled ones too."""
    found = set()
    for package in ("sklearn", "torch.nn", "cusal"):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda name: None):
            if any(part in module.name for part in (".tests", "conftest", "__main__", "_build_utils")):
                continue
            try:
                names = vars(importlib.import_module(module.name))
            except Exception:
                continue
            own = [part for part in names.values() if inspect.isclass(part) and part.__module__.startswith(package)]
            found |= {f"{part.__module__}:{part.__qualname__}" for part in own}
    listed = allowed.SETTINGS.keys() | allowed.ATTRIBUTES.keys()
    return sorted(listed) + sorted(found - listed)


def nodes() -> Iterator[tuple[str, Any]]:
    """Yield a name and a node of each case: every class bare and with odd states, listed ones with odd settings."""
    rng = np.random.default_rng(0)
    for name in classes():
        yield name, thing(name)
        yield name, thing(name, ODD[rng.integers(len(ODD))])
        yield name, {"#": "object", "class": name, "settings": table(), "attributes": table(_x=1), "state": []}
        yield name, {"#": "module", "class": name, **dict.fromkeys(("attributes", "parameters", "buffers"), table()),
                     "modules": table(), "frozen": [], "non_persistent": []}  # fmt: skip
        for setting in allowed.SETTINGS.get(name, ()):
            for odd in ODD:
                yield f"{name} {setting}", thing(name, **{setting: odd})
        for attribute in allowed.ATTRIBUTES.get(name, ()):
            for odd in ODD:
                state = table(training=False, **{attribute: odd})
                parts = {"parameters": table(), "buffers": table(), "modules": table(), "frozen": []}
                node = {"#": "module", "class": name, "attributes": state, "non_persistent": [], **parts}
                yield f"{name} {attribute}", node
                yield f"{name} {attribute}", thing(name, table(**{attribute: odd}))


def session_tree(folder: Path) -> Any:
    """Return the tree of a real session, with the word MODEL where its model is."""
    cusal.Session(ITEMS, GaussianNB(), labelled={0: "a", 19: "b", 1: "a", 18: "b"}).save(folder / "session")
    with zipfile.ZipFile(folder / "session") as archive:
        tree = json.loads(archive.read("content.json"))
    state = dict(tree["of"])["state"]
    state["of"] = [[key, "MODEL" if key in ("model", "given") else part] for key, part in state["of"]]
    return json.dumps(tree)


def main() -> None:
    """Read the cases from the given one on."""
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    cases, session = list(nodes()), session_tree(folder)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    print(json.dumps({"cases": len(cases), "classes": len({name.split()[0] for name, _ in cases})}), flush=True)
    for number, (name, node) in enumerate(cases[first:], start=first):
        for door, (wrapped, use) in DOORS.items():
            tree = session.replace('"MODEL"', json.dumps(node)) if door == "session" else wrapped(node)
            if door == "model":
                tree = in_model(node)
            signal.alarm(SECONDS)
            print(json.dumps({"case": number, "name": name, "door": door}), flush=True)
            print(json.dumps({"out": _read(write(folder / "file", tree), door, use)}), flush=True)
    signal.alarm(0)
    print(json.dumps({"done": True}), flush=True)


def _read(file: Path, door: str, use: Any) -> str:
    load = {"session": lambda: cusal.Session.load(file, ITEMS), "model": lambda: cusal.load_model(file)}.get(door)
    try:
        if load is not None:
            load()
    except CusalError:
        return "refused"
    except BaseException as error:  # what must not come out
        return f"foreign: {type(error).__name__}: {error}"[:300]
    try:
        use(file)
    except CusalError:
        return "refused" if load is None else "read, refused in use"
    except MemoryError:
        return "foreign: MemoryError"
    except Exception as error:
        return (
            f"foreign: {error!r}"[:300] if load is None else f"read, an error of the classifier: {type(error).__name__}"
        )
    return "read"


if __name__ == "__main__":
    main()
