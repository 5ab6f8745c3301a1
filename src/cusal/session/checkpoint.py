"""What is saved of a session: one record of plain values, arrays, the strategy and the model, without the items.

A file holds the weights of a torch model. A scikit-learn model is saved as its settings and fitted again when the file
is read, to the same labels with the same seed. Bytes for a database hold no model at all: it is given again when they
are read. See `cusal.persistence` for what else a file may hold.
"""

import io
import os
from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, get_origin

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal._item_hash import fingerprint
from cusal.errors import DataError, InvalidInput
from cusal.persistence.object_file import (
    FittedEstimator,
    as_bytes,
    checked,
    header,
    is_object_file,
    read_objects,
    write_objects,
)
from cusal.session.labels import OPEN

KIND, PACKED = "cusal.Session", "cusal.Session without its model"


@dataclass(frozen=True)
class Checkpoint:
    """The state of a session, from which it continues as if it had not stopped.

    settings: of the session, by the names of its parameters. states: of each item, (items,). labels: by position.
    classes: in the order of their numbers; all_classes: whether no others may come. model: as last fitted; given: as it
    was before. fitted: whether the model is fitted to the latest labels; refit: whether it is to be fitted to them
    again. predictions, rounds, at_random: what is remembered of picks. folds, copies: of the model's copies. course:
    label counts, predicted classes and agreements of `Course`.
    """

    settings: dict[str, Any]
    states: NDArray[np.int8]
    labels: dict[int, Hashable]
    classes: list[Hashable]
    all_classes: bool
    model: Any
    given: Any
    seeded: list[str]
    round: int
    seconds: dict[str, float]
    fitted: bool
    refit: bool = False
    predictions: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)
    at_random: dict[int, bool] = field(default_factory=dict)
    folds: dict[int, int] = field(default_factory=dict)
    copies: dict[int, tuple[Any, int]] = field(default_factory=dict)
    course: tuple[list[int], list[NDArray[Any]], list[tuple[int, float]]] = ([], [], [])

    def with_model(self, model: protocol.Model) -> Self:
        """Return the same with a model that was not fitted yet, and without what the former one predicted."""
        return replace(
            self,
            model=model,
            given=model,
            seeded=protocol.unseeded(model),
            fitted=False,
            predictions={},
            copies={},
            course=([], [], []),
        )

    def extended(self, size: int) -> Self:
        """Return the same over more items, `size` in all: new ones at the end are open."""
        if size < len(self.states):
            raise InvalidInput(
                f"the session has {len(self.states)} items, but {size} are given; give all of them in the same order, "
                "new ones last."
            )
        added = np.full(size - len(self.states), OPEN, dtype=np.int8)
        return replace(self, states=np.concatenate([self.states, added]))

    def to_refit(self) -> Self:
        """Return the same with the model as it was given, to be fitted again to the same labels with the same seed."""
        from sklearn.base import clone

        given = clone(self.given)
        return replace(self, model=given, given=given, fitted=False, refit=self.fitted)

    def save(self, path: str | os.PathLike[str], items: Any) -> None:
        """Write it to a file, all of it or nothing, with a fingerprint of the items."""
        warm = bool(getattr(self.given, "warm_start", False))
        if hasattr(self.given, "get_params") and not warm and not hasattr(self.given, "module"):
            # An estimator that is fitted from scratch in every round; one that is none of scikit-learn's is pickled.
            write_objects(path, self.to_refit()._content(KIND, items), pickle_fitted=True)
            return
        try:
            write_objects(path, self._content(KIND, items))
        except FittedEstimator:
            write_objects(path, self._content(KIND, items), pickle_fitted=True)

    def to_bytes(self, items: Any) -> bytes:
        """Return everything but the model as bytes, with a fingerprint of the items."""
        bare = replace(self, model=None, given=None, seeded=[], copies={}, fitted=False, refit=self.fitted)
        return as_bytes(bare._content(PACKED, items))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, trusted: bool) -> tuple[Self, str]:
        """Return the checkpoint of a file, and the fingerprint of its items."""
        if not is_object_file(path):
            raise DataError(f"{path} is not a saved {KIND}; expected a file written by save().")
        return cls._read(read_objects(path, trusted=trusted), KIND, str(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> tuple[Self, str]:
        """Return the checkpoint of `to_bytes`, and the fingerprint of its items."""
        return cls._read(read_objects(io.BytesIO(content)), PACKED, "the content")

    def _content(self, kind: str, items: Any) -> dict[str, Any]:
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**header(kind), "items": fingerprint(items), "state": state}

    @classmethod
    def _read(cls, content: Any, kind: str, name: str) -> tuple[Self, str]:
        content = checked(content, kind, name)
        state = content["state"]
        odd = [one.name for one in fields(cls) if not _is_of(state.get(one.name), one.type)]
        if odd or len(state) > len(fields(cls)):
            raise DataError(f"{name} is damaged: its part {(odd or ['state'])[0]!r} is odd; save the session again.")
        return cls(**state), content["items"]


def _is_of(value: Any, kind: Any) -> bool:
    """Return whether a value is of the container or the plain type that the annotation of a field names."""
    if kind is Any:
        return True
    kind = get_origin(kind) or kind
    return isinstance(value, np.ndarray if kind is np.ndarray else kind)
