"""The classes of a project: added, changed, merged, put in order and deleted, each by an event that can be undone."""

from collections.abc import Iterable

from cusal.apps.label.store import class_changes, counters
from cusal.apps.label.store.class_changes import ClassList
from cusal.apps.label.store.connection import Part
from cusal.apps.label.store.journal import NewEvents, find_event
from cusal.apps.label.store.records import ClassChange, Event, LabelClass
from cusal.apps.label.store.validation import checked, checked_person


class Classes(Part):
    """What items can be labelled with."""

    def all(self) -> list[LabelClass]:
        """Return the active classes in order, each with the number of items that are labelled with it.

        Returns
        -------
        list of LabelClass
        """
        with self._reading() as connection:
            lines, labels = ClassList(connection).active, counters.read(connection, "class")
        return [LabelClass(*line[:6], labels=labels.get(str(line.id), 0)) for line in lines]

    def names(self) -> dict[int, str]:
        """Return the name of every class that there ever was, also of those that were merged or deleted.

        Returns
        -------
        dict of int to str
        """
        with self._reading() as connection:
            return {line.id: line.name for line in ClassList(connection).by_id.values()}

    def bring(self, names: Iterable[str]) -> None:
        """Add classes that the data bring along; unlike those that people add, no undo takes them away.

        Parameters
        ----------
        names : iterable of str
            Different names, in order.
        """
        with self._writing() as connection:
            ClassList(connection).add(connection, names)

    def change(self, change: ClassChange) -> Event:
        """Add, edit, merge, reorder or delete classes.

        Parameters
        ----------
        change : ClassChange
            One whose uuid is known already changes nothing.

        Returns
        -------
        Event
            With the id of the class as `event.payload["class"]`.

        Raises
        ------
        ProjectError
            If a name or key is taken or cannot be used, or a class does not exist (any more).
        UnknownName
            If the action is none of "add", "edit", "merge", "reorder" and "delete".
        """
        person = checked_person(change.person)
        uuid = checked("the id of the change", change.uuid)
        with self._writing() as connection:
            known = find_event(connection, uuid)
            if known is not None:
                return known
            made = class_changes.make(connection, change)
            events = NewEvents(connection)
            event = events.add(uuid, person, "class", made.payload(change.action))
            events.save()
        return event
