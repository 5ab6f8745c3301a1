"""What every source of items offers, and how it can be asked to read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cusal.apps.label.store.records import Item, NewItem, Settings


@dataclass(frozen=True)
class SourceOptions:
    """How to read data.

    Parameters
    ----------
    text : str, optional
        The column with the text; by default it is found.
    label : str, optional
        The column with known labels; in an audit, with the predicted ones.
    folders_are_labels : bool
        Whether the names of sub-folders are labels.
    labels : str, optional
        The path of a CSV file with a key (file, id or row) and a label on each line.
    audit : bool
        Whether the table holds predictions that people check.
    confidence, id : str, optional
        Further columns; by default they are found. The id "" is none, and so is the label "".
    header : bool, optional
        Whether the first line of CSV names the columns; by default that is found.
    content : sequence of str, optional
        The columns beside the text that say which row is which where no column holds ids; by default all.
    numbered : bool
        Whether rows without an id go by their number in place of their content.

    Examples
    --------
    >>> SourceOptions(text="review").folders_are_labels
    False
    """

    text: str | None = None
    label: str | None = None
    folders_are_labels: bool = False
    labels: str | None = None
    audit: bool = False
    confidence: str | None = None
    id: str | None = None
    header: bool | None = None
    content: Sequence[str] | None = None
    numbered: bool = False


class Source(Protocol):
    """Data that items are read from; never changed.

    Attributes
    ----------
    kind : str
        "image", "text" or "table".
    """

    @property
    def kind(self) -> str: ...

    @property
    def known_labels(self) -> Iterator[tuple[str, str]]:
        """Keys and class names that are given apart from the items; labels of the items' own come with `rows`."""

    @property
    def share(self) -> float | None:
        """How much of the data `rows` has read, from 0 to 1; None where it is not known."""

    def settings(self) -> Settings:
        """Return the settings of a project on these data."""

    def rows(self) -> Iterator[NewItem]:
        """Yield the items in order, read as they are needed."""

    def is_changed(self, item: Item, row: NewItem) -> bool:
        """Return whether a row has other content than the item that the project has by its key."""

    def reading(self) -> list[str]:
        """Return what was taken for what, in plain sentences."""

    def notes(self) -> list[str]:
        """Return what was passed over or changed while reading, in plain sentences."""

    def fingerprint(self) -> list[Any] | None:
        """Return what changes whenever the data do, or None where only reading tells."""
