"""Files that somebody made to harm: a tree of JSON in the archive of a session, a model or an audit, and the doors."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cusal
from cusal.persistence.object_file import FORMAT

ITEMS = np.arange(40, dtype=np.float64).reshape(20, 2)


def table(**parts: Any) -> dict[str, Any]:
    """Return the node of a dictionary."""
    return {"#": "dict", "of": [[key, part] for key, part in parts.items()]}


def thing(name: str, attributes: Any = None, **settings: Any) -> dict[str, Any]:
    """Return the node of an object."""
    found = table() if attributes is None else attributes
    return {"#": "object", "class": name, "settings": table(**settings), "attributes": found}


def write(path: Path, tree: Any, parts: dict[str, bytes] | None = None) -> Path:
    """Write an archive of a tree, given as nodes or as text."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.json", tree if isinstance(tree, str) else json.dumps(tree))
        for name, part in (parts or {}).items():
            archive.writestr(name, part)
    return path


def as_npy(array: Any) -> bytes:
    """Return the content of a .npy file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def in_session(node: Any) -> dict[str, Any]:
    """Return the tree of a session whose model and strategy are a node."""
    state = table(model=node, given=node, _unfitted=node, strategy=node, settings=table(strategy=node), more=node)
    return table(kind="cusal.Session", format=FORMAT, cusal="0", items="", state=state)


def in_model(node: Any) -> dict[str, Any]:
    """Return the tree of a model file whose head is a node that is fitted again to vectors of the file."""
    vectors = [[float(row), 1.0] for row in range(20)]
    head = table(kind="refit", name="x", model=node, vectors=vectors, sparse=False, numbers=[0, 1] * 10)
    parts = {"features": table(name="vectors", state=table()), "card": table()}
    parts["recalibration"] = table(temperature=1.0, offsets=None)
    return table(
        kind="cusal.model", format=FORMAT, cusal="0", classes=["a", "b"], columns=[0, 1], numbers=2, head=head, **parts
    )


def in_audit(node: Any) -> dict[str, Any]:
    """Return the tree of an audit whose predictions are a node."""
    parts = {"right": [], "true": [], "hunting_since": None, "names": ["a", "b"], "known": node, "identities": node}
    return table(kind="cusal audit", format=FORMAT, cusal="0", seed=0, predicted=node, confidence=node, **parts)


def use_session(path: Path) -> Any:
    """Read a session, and ask it for an item."""
    return cusal.Session.load(path, ITEMS).ask(1)


def use_model(path: Path) -> Any:
    """Read a model, and let it predict."""
    return cusal.load_model(path).predict_proba(ITEMS)


def use_audit(path: Path) -> Any:
    """Read an audit, and ask it for an item."""
    return cusal.Audit.load(path).ask(1)


DOORS: dict[str, tuple[Callable[[Any], Any], Callable[[Path], Any]]] = {
    "session": (in_session, use_session),
    "model": (in_model, use_model),
    "audit": (in_audit, use_audit),
}
