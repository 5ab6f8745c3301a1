"""The labels of a session: their classes, their numbers, and which items are open, labelled and skipped."""

import difflib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_listed, as_names
from cusal._checks import as_count, as_indices
from cusal._types import Indices
from cusal.errors import InvalidInput

LARGEST = 2**31  # items; a byte is kept for each

OPEN, LABELLED, SKIPPED = np.int8(0), np.int8(1), np.int8(2)


class Pool:
    """The state of each item of a data set: open, labelled or skipped.

    A session keeps one, `session.pool`, and changes it as labels arrive; read it to see what is left.

    Parameters
    ----------
    size : int
        Number of items; all are open at first.

    Attributes
    ----------
    open, labelled, skipped : int64 array
        Positions of the items in each state, ascending.

    Examples
    --------
    >>> pool = Pool(3)
    >>> pool.mark(np.array([1]), LABELLED)
    >>> pool.open
    array([0, 2])
    >>> pool
    Pool(3 items: 1 labelled, 2 open)
    """

    def __init__(self, size: int) -> None:
        self.state: NDArray[np.int8] = np.zeros(_as_size(size), dtype=np.int8)

    def __len__(self) -> int:
        return len(self.state)

    def __repr__(self) -> str:
        return f"Pool({self.describe()})"

    def describe(self) -> str:
        """Return the number of items in each state as text, such as "3 items: 1 labelled, 2 open"."""
        skipped = len(self.skipped)
        set_aside = f", {skipped:,} skipped" if skipped else ""
        return f"{len(self):,} items: {len(self.labelled):,} labelled{set_aside}, {len(self.open):,} open"

    def extended(self, size: int) -> "Pool":
        """Return a pool of `size` items: these, and open ones after them."""
        pool = Pool(size)
        pool.state[: len(self)] = self.state
        return pool

    def mark(self, indices: Indices, state: np.int8) -> None:
        """Set the state of items: OPEN, LABELLED or SKIPPED."""
        self.state[indices] = state

    @property
    def open(self) -> Indices:
        """The items that may be asked for, ascending."""
        return np.flatnonzero(self.state == OPEN)

    @property
    def labelled(self) -> Indices:
        """The items that have a label, ascending."""
        return np.flatnonzero(self.state == LABELLED)

    @property
    def skipped(self) -> Indices:
        """The items that were set aside, ascending."""
        return np.flatnonzero(self.state == SKIPPED)


class Classes:
    """Labels and their numbers, which never change: classes met later get the next numbers.

    Inside a session the columns of predictions are in the order of the numbers, since a warm network's outputs depend
    on it. At the border they are in the order of `names`: sorted, or as the user gave them.

    >>> classes = Classes()
    >>> classes.add(["dog"])
    >>> classes.add(["cat"])
    >>> classes.names, classes.numbers(["dog"]), classes.columns
    (('cat', 'dog'), array([0]), array([1, 0]))
    """

    def __init__(self, known: Iterable[Hashable] | None = None) -> None:
        self.fixed = known is not None
        given = [] if known is None else as_names(plain(known), "classes")
        if len(set(given)) < len(given):
            raise InvalidInput(f"classes holds a class twice: {given}; give each once.")
        self._number: dict[Hashable, int] = {name: number for number, name in enumerate(given)}

    def __len__(self) -> int:
        return len(self._number)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The classes in the order in which users see them."""
        return tuple(self._number) if self.fixed else tuple(_sorted(self._number))

    @property
    def numbered(self) -> dict[Hashable, int]:
        """The number of each class."""
        return dict(self._number)

    @property
    def columns(self) -> Indices:
        """(classes,) the number of each class of `names`: the internal column of each column that users see."""
        return self.numbers(self.names)

    @property
    def array(self) -> NDArray[Any]:
        """`names` as an array: of numbers or text if all are of one type, else of objects."""
        kinds = {type(name) for name in self._number}
        if len(kinds) == 1 and kinds <= {str, int, bool, float}:
            return np.array(self.names)
        array = np.empty(len(self), dtype=object)
        array[:] = self.names
        return array

    def add(self, labels: Iterable[Hashable]) -> None:
        """Add the classes of new labels, sorted if possible; a new class is an error if all classes were given."""
        labels = list(labels)
        for position, label in enumerate(labels):
            if not isinstance(label, Hashable):
                raise InvalidInput(
                    f"label {position} is {label!r}, a {type(label).__name__}; a label must be hashable."
                )
            if _is_missing(label):
                raise InvalidInput(f"label {position} is {label!r}; give a class, or skip the item.")
            if isinstance(label, float) and not label.is_integer() and label not in self._number:
                raise InvalidInput(
                    f"label {position} is {label!r}, a number with a fraction; expected classes. Put a continuous "
                    "target into ranges first, or name such classes by text."
                )
        self._refuse_other_kinds(labels)
        new = _sorted(label for label in dict.fromkeys(labels) if label not in self._number)
        if new and self.fixed:
            raise InvalidInput(self._unknown(new[0]))
        for label in new:
            self._number[label] = len(self._number)

    def _refuse_other_kinds(self, labels: list[Hashable]) -> None:
        """Raise an error if a label reads like a class of another type: 3 and "3" would be two classes."""
        known = {str(name): name for name in self._number}
        for label in labels:
            other = known.setdefault(str(label), label)
            if type(other) is not type(label) and other != label:
                raise InvalidInput(
                    f"label {label!r} is a {type(label).__name__}, but the class {other!r} is a "
                    f"{type(other).__name__}; give all labels in one type."
                )

    def numbers(self, labels: Iterable[Hashable]) -> Indices:
        """Return the numbers of known labels, (k,)."""
        return np.array([self._number[label] for label in labels], dtype=np.int64)

    def _unknown(self, label: Hashable) -> str:
        near = difflib.get_close_matches(str(label), map(str, self._number), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {list(self._number)[:20]}."
        return f"label {label!r} is not one of the {len(self._number)} classes; {hint}"


class Folds(NamedTuple):
    """How many folds a model splits its labels into by itself, and whether every class must fill them."""

    number: int = 1
    every_class: bool = False


class Labels:
    """The labels of `size` items, with their classes and the state of each item; an invalid entry changes nothing.

    >>> labels = Labels(5)
    >>> labels.tell([3, 1], ["dog", "cat"])
    array([3, 1])
    >>> labels.by_item, labels.pool
    ({3: 'dog', 1: 'cat'}, Pool(5 items: 2 labelled, 3 open))
    """

    def __init__(self, size: int, classes: Iterable[Hashable] | None = None) -> None:
        self.pool = Pool(size)
        self.classes = Classes(classes)
        self.by_item: dict[int, Hashable] = {}
        self.folds = Folds()

    @classmethod
    def restore(
        cls, states: NDArray[np.int8], by_item: Mapping[int, Hashable], classes: Sequence[Hashable], *, fixed: bool
    ) -> Self:
        """Return the labels of a checkpoint."""
        labels = cls(len(states), classes)
        labels.pool.state[:] = states
        labels.by_item = dict(by_item)
        labels.classes.fixed = fixed
        return labels

    def tell(self, indices: Any, labels: Any, items: Any = None) -> Indices:
        """Store labels, and return the items' positions; a new label replaces an earlier one.

        items: whose index a pandas Series of labels is compared with.
        """
        places = as_indices(indices, len(self.pool))
        names = plain(_in_order(by_index(labels, items, places), places))
        if len(names) != len(places):
            raise InvalidInput(f"told {len(names)} labels for {len(places)} items; give one label for each index.")
        self.classes.add(names)
        self.by_item.update(zip(places.tolist(), names, strict=True))
        self.pool.mark(places, LABELLED)
        return places

    def skip(self, indices: Any) -> Indices:
        """Set items aside, and return their positions."""
        places = as_indices(indices, len(self.pool))
        labelled = [i for i in places.tolist() if i in self.by_item]
        if labelled:
            raise InvalidInput(f"item {labelled[0]} has a label already; skip only items without, or reopen it first.")
        self.pool.mark(places, SKIPPED)
        return places

    def reopen(self, indices: Any) -> Indices:
        """Undo labels and skips, and return the items' positions."""
        places = as_indices(indices, len(self.pool))
        for i in places.tolist():
            self.by_item.pop(i, None)
        self.pool.mark(places, OPEN)
        return places

    @property
    def numbers(self) -> Indices:
        """(labelled,) class numbers of the labelled items, in the order of `pool.labelled`."""
        return self.classes.numbers(self.by_item[i] for i in self.pool.labelled.tolist())

    @property
    def numbers_by_item(self) -> dict[int, int]:
        """The class number of each label, by the position of its item."""
        return dict(zip(self.by_item, self.classes.numbers(self.by_item.values()).tolist(), strict=True))

    @property
    def ready(self) -> bool:
        """Whether the classifier can be fitted: there are labels of two classes, and enough for its folds."""
        counts = sorted(Counter(self.by_item.values()).values())
        if len(counts) < 2:
            return False
        return (counts[0] if self.folds.every_class else counts[-2]) >= self.folds.number

    @property
    def missing(self) -> str:
        """What is still missing before a classifier can be fitted, as part of a message."""
        if not self.by_item:
            return "no item has a label; ask() for a first batch and tell() its labels."
        counts = Counter(self.by_item.values())
        if len(counts) > 1:
            least, count = min(counts.items(), key=lambda each: each[1])
            which = "each class" if self.folds.every_class else "two classes"
            return (
                f"the model fits {self.folds.number} folds and needs as many labels of {which}, but {least!r} has "
                f"{count}."
            )
        (only,) = counts
        return f"all {len(self.by_item)} labels are {only!r}, and a classifier needs two classes; tell one of another."


def plain(values: Any) -> list[Any]:
    """Return labels from any container as a list of plain Python values.

    >>> plain(np.array([1, 2])), plain([np.str_("a")])
    ([1, 2], ['a'])
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInput("labels has masked values; give a class for each item, or skip those without.")
    listed = as_listed(values, "labels")
    if isinstance(values, np.ndarray) and values.dtype != object:
        return listed  # of plain values already; there can be many
    return [value.item() if _is_scalar_array(value) else value for value in listed]


def _is_scalar_array(value: Any) -> bool:
    """Return whether a value is a NumPy number, or an array or tensor without axes."""
    return hasattr(value, "item") and getattr(value, "ndim", None) == 0


def _is_missing(label: Any) -> bool:
    """Return whether a label stands for none: None, NaN (which differs from itself), or the NA of pandas."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)


def _sorted(labels: Iterable[Hashable]) -> list[Hashable]:
    labels = list(labels)
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=repr)


def by_index(labels: Any, items: Any, places: Indices | None = None) -> Any:
    """Return a pandas Series of labels in the order of the items, by the index that both have; others as they are.

    A Series that is numbered from 0 has no index of its own, and is taken in its order.

    Raises
    ------
    InvalidInput
        If both have an index and they differ: labels of other items would be stored.
    """
    if not (_is_series(labels) and hasattr(items, "iloc") and hasattr(items, "index")):
        return labels
    given, known = labels.index, items.index if places is None else items.index[places]
    if len(given) != len(known) or given.equals(known) or _is_counted(given):
        return labels
    if given.is_unique and given.isin(known).all() and known.isin(given).all():
        return labels.reindex(known)
    raise InvalidInput(
        f"the labels have the index {given[:3].tolist()}, the items at these positions {known[:3].tolist()}: they "
        "belong to other items. Take labels by position, y.iloc[query.indices] for instance, or give a list."
    )


def _is_series(labels: Any) -> bool:
    return hasattr(labels, "index") and hasattr(labels, "reindex") and getattr(labels, "ndim", 0) == 1


def _is_counted(index: Any) -> bool:
    """Return whether an index is the one that pandas makes by itself: 0, 1, 2, ..."""
    return (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)


def as_pairs(labelled: Any, items: Any) -> tuple[Any, Any]:
    """Return (indices, labels) from a mapping, a pandas Series, or such a pair."""
    if isinstance(labelled, Mapping):
        return list(labelled), list(labelled.values())
    if hasattr(labelled, "index") and hasattr(labelled, "items") and getattr(labelled, "ndim", 0) == 1:  # a Series
        return _positions(labelled.index, items), labelled.to_numpy()
    if isinstance(labelled, tuple) and len(labelled) == 2:
        return labelled
    raise InvalidInput(
        f"labelled is a {type(labelled).__name__}; expected {{index: label}}, a pandas Series, or (indices, labels)."
    )


def _positions(index: Any, items: Any) -> Any:
    """Return positions in the items for the index of a Series: looked up in the items' own index, if they have one."""
    own: Any = getattr(items, "index", None)
    if not hasattr(own, "get_indexer") or not own.is_unique:
        return index.to_numpy()
    places = own.get_indexer(index)
    if (places < 0).any():
        raise InvalidInput(
            f"labelled has the index {index[int((places < 0).argmax())]!r}, which the items' index does not have; "
            "give a Series with the index of the items, or (positions, labels)."
        )
    return places


def _in_order(labels: Any, places: Indices) -> Any:
    """Return labels in the order of the items: one label as a list, a mapping by the items' positions."""
    if isinstance(labels, Mapping):
        missing = [i for i in places.tolist() if i not in labels]
        if missing:
            raise InvalidInput(f"the labels have no entry for item {missing[0]}; give one label for each index.")
        return [labels[i] for i in places.tolist()]
    if isinstance(labels, Set):
        raise InvalidInput("labels is a set, which has no order; give a list in the order of the indices.")
    single = isinstance(labels, str) or not hasattr(labels, "__len__") or getattr(labels, "ndim", 1) == 0
    return [labels] if single else labels


def _as_size(size: int) -> int:
    size = as_count(size, "size", least=0)
    if size > LARGEST:
        raise InvalidInput(f"size is {size:,}; a pool in memory has at most {LARGEST:,} items: see cusal.score_files.")
    return size
