"""A session that continues on other vectors of its items, or with more items.

Better vectors often come late: texts are TF-IDF rows at once and sentence vectors a minute later. What people said
stays true on any vectors; what a model of the old ones predicted does not.

| kept in any case | kept only where the old items stay what they are |
|---|---|
| labels, skips, classes | predictions from before labels were known (`Evidence`) |
| which items were drawn at random, and when each was asked for | the course of predictions (`Course`) |
| the fold of each label, the seed, the number of the round | how long fits take; weights of a warm model |
"""

import copy
from typing import Any

from cusal import _protocol as protocol
from cusal._items import as_items, count_items
from cusal.errors import InvalidInput
from cusal.recalibration.evidence import Evidence
from cusal.session.session import Session
from cusal.session.stopping import Course


def on_other_vectors(session: Session, items: Any, model: protocol.Model | None = None) -> Session:
    """Return a session over other vectors of the same items, in the same order.

    Parameters
    ----------
    session : Session
        It stays as it is.
    items : as a session takes them
        As many as before, or more: those at the end are new and open.
    model : object with fit(X, y) and predict_proba(X), optional
        By default a copy of the session's, as it was before its first fit.
    """
    items = as_items(items)
    state = copy.deepcopy(_state(session, items))
    given = state["_unfitted"] if model is None else model
    return Session.resume(state | fresh_model(given) | without_predictions(state), items)


def with_more_items(session: Session, items: Any) -> Session:
    """Return a session over the same items and further ones after them, which are open.

    Parameters
    ----------
    session : Session
        It stays as it is.
    items : as a session takes them
        The old ones first.
    """
    items = as_items(items)
    state = copy.deepcopy(_state(session, items))
    return Session.resume(state | {"_course": state["_course"].extended(count_items(items)), "fitted": False}, items)


def fresh_model(model: protocol.Model) -> dict[str, Any]:
    """Return what a checkpoint holds of a model that was not fitted yet."""
    unfitted = copy.deepcopy(model)
    return {"model": unfitted, "_unfitted": unfitted, "_seeded": protocol.unseeded(unfitted), "fitted": False}


def without_predictions(state: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a checkpoint that rest on predictions, empty."""
    unseen = state["_unseen"].without_copies()
    return {"_evidence": Evidence(), "_course": Course(), "_fit_seconds": [], "_unseen": unseen}


def _state(session: Session, items: Any) -> dict[str, Any]:
    """Return the checkpoint of a session, its pool as large as the items."""
    size, before = count_items(items), len(session.pool)
    if size < before:
        raise InvalidInput(
            f"the session has {before} items, but {size} are given; give all of them in the same order, new ones last."
        )
    return session.checkpoint() | {"pool": session.pool.extended(size)}
