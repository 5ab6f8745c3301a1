"""A session that can be written to a file, read back, copied, and resumed from a checkpoint."""

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from cusal._item_hash import fingerprint
from cusal._items import as_items
from cusal.session import saved_session


class Resumable(ABC):
    """What has `items`, and a `checkpoint` that `__setstate__` turns into an object again."""

    items: Any

    @abstractmethod
    def checkpoint(self) -> dict[str, Any]:
        """Return everything but the items and what can be computed again from them, by name."""

    @abstractmethod
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the items to a file, all of it or nothing. See `cusal.session.saved_session`."""
        saved_session.write(path, self.checkpoint(), fingerprint(self.items))

    @classmethod
    def load(cls, path: str | os.PathLike[str], items: Any, *, trusted: bool = False) -> Self:
        """Return a saved session over the same items, to continue as if it had not stopped.

        Parameters
        ----------
        path : path of a file that `save` wrote
        items : the items that the session was saved over; others are refused
        trusted : bool, default False
            Whether code of the file may run. It is needed where the model or the strategy is of a class that is
            neither cusal's nor scikit-learn's nor torch's, and for files that cusal 0.1 wrote as pickles. Set it only
            for files that you trust.
        """
        state, print_of_items = saved_session.read(path, trusted=trusted)
        session = cls.resume(state, items)
        saved_session.check_items(path, print_of_items, session.items)
        return session

    @classmethod
    def resume(cls, checkpoint: Mapping[str, Any], items: Any) -> Self:
        """Return the session of a `checkpoint`, over the same items."""
        session = cls.__new__(cls)
        session.__setstate__({**checkpoint, "items": as_items(items)})
        return session

    def __getstate__(self) -> dict[str, Any]:
        return self.checkpoint() | {"items": self.items}

    def __copy__(self) -> Self:
        """Return a session of its own over the same items."""
        return self.resume(copy.deepcopy(self.checkpoint()), self.items)
