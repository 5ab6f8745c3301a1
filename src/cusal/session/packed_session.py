"""A session as bytes, without its items and without its model: for a database, whose content must never run.

The model is given again when the session is unpacked, for instance made from its name, and fitted to the same labels
with the same seed. So a model of any class comes back without a pickle; only one that starts warm begins from scratch.
"""

import io
from typing import Any

from cusal import _protocol as protocol
from cusal._item_hash import fingerprint
from cusal._items import as_items, count_items
from cusal._version import __version__
from cusal.errors import DataError
from cusal.persistence.object_file import as_bytes, read_objects
from cusal.session.moving import fresh_model, without_predictions
from cusal.session.session import Session

KIND, FORMAT = "cusal.Session without its model", 1


def pack(session: Session) -> bytes:
    """Return everything about a session but its items and its model."""
    state = session.checkpoint()
    own = {name: part for name, part in state.items() if name not in ("model", "_unfitted", "_seeded")}
    own["_unseen"] = own["_unseen"].without_copies()
    content = {"kind": KIND, "format": FORMAT, "cusal": __version__, "items": fingerprint(session.items), "state": own}
    return as_bytes(content)


def unpack(content: bytes, items: Any, model: protocol.Model) -> Session:
    """Return a packed session over the same items, to continue as if it had not stopped.

    Over other vectors of them, or more of them, it continues as `cusal.session.moving` says.

    Raises
    ------
    DataError
        If the bytes are damaged or are no packed session.
    """
    found = read_objects(io.BytesIO(content))
    if not isinstance(found, dict) or found.get("kind") != KIND or found.get("format") != FORMAT:
        raise DataError(f"these bytes are no {KIND} of format {FORMAT}; expected what `pack` returned.")
    items, state = as_items(items), found["state"]
    state |= fresh_model(model) | {"refit": state["fitted"]}
    if len(state["pool"]) != count_items(items) or found["items"] != fingerprint(items):
        state |= without_predictions(state) | {"refit": False, "pool": state["pool"].extended(count_items(items))}
    return Session.resume(state, items)
