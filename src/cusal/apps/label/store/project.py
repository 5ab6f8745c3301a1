"""A labelling project: the only door to its database."""

import os
import uuid
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store import schema as tables
from cusal.apps.label.store.answers import Answers
from cusal.apps.label.store.browse import Browse
from cusal.apps.label.store.classes import Classes
from cusal.apps.label.store.connection import Database
from cusal.apps.label.store.items import Items
from cusal.apps.label.store.journal import Events
from cusal.apps.label.store.queue import Queue
from cusal.apps.label.store.records import Settings
from cusal.apps.label.store.rounds import Rounds, Status
from cusal.apps.label.store.schema import QUEUE
from cusal.apps.label.store.settings import changed, read_settings, write_settings
from cusal.apps.label.store.task import Task
from cusal.apps.label.store.trusted_imports import remember
from cusal.errors import ProjectError


class Project:
    """The items, classes, answers and rounds of one labelling project.

    Any number of threads and processes may use a project at a time. Everything that a person does is an event, stored
    once by its uuid in a transaction that also changes what follows from it; when a method returns, it is on the disk.

    Parameters
    ----------
    place : str or path
        The SQLite file that `Project.create` made, or a URL such as `postgresql://user:password@host/database`.

    Attributes
    ----------
    place : str
        Where the project is kept.
    settings : Settings
        What defines it.
    task : Task
        What people do in it: they give items classes, or judge given predictions.
    items : Items
        What is labelled.
    classes : Classes
        What it is labelled with.
    answers : Answers
        What people said, and the labels that follow.
    queue : Queue
        What to ask, in order.
    rounds : Rounds
        What the model learned.
    status : Status
        What the processes are doing.
    events : Events
        What took place.
    browse : Browse
        Lists of items.

    Raises
    ------
    ProjectError
        If there is no project, it is of another version, or the database cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from cusal.apps.label import Answer, ClassChange, NewItem, Project, Settings
    >>> folder = tempfile.TemporaryDirectory()
    >>> project = Project.create(f"{folder.name}/pets.cusal.db", Settings(title="Pets"))
    >>> project.items.add([NewItem("1", "It barks."), NewItem("2", "It purrs.", label="cat")])
    2
    >>> [(one.id, one.name, one.labels) for one in project.classes.all()]
    [(0, 'cat', 1)]
    >>> project.answers.store([Answer("a-1", item=0, person="me", kind="skip")])
    [Outcome(uuid='a-1', stored=True, reason=None)]
    >>> project.answers.progress()["skipped"]
    1
    >>> project.close(); folder.cleanup()
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = str(place)
        self.database = Database(self.place)
        self.items, self.classes, self.answers = Items(self.database), Classes(self.database), Answers(self.database)
        self.queue, self.rounds, self.status = Queue(self.database), Rounds(self.database), Status(self.database)
        self.events, self.browse = Events(self.database), Browse(self.database, self.rounds)
        if "://" not in self.place and not Path(self.place).expanduser().is_file():
            raise ProjectError(f"there is no project {self.place}; start one with `cusal label DATA`.")
        try:
            with self.database.reading() as connection:
                tables.check(connection, self.place)
        except ProjectError:
            self.close()
            raise

    @classmethod
    def create(cls, place: str | os.PathLike[str], settings: Settings) -> "Project":
        """Make a new project and open it.

        Parameters
        ----------
        place : str or path
            An SQLite file that does not exist yet, or the URL of an empty database.
        settings : Settings
            What defines the project.

        Returns
        -------
        Project

        Raises
        ------
        ProjectError
            If there is a project already, or the place cannot be written.
        """
        remember((settings.features, settings.model))
        path = None if "://" in str(place) else Path(place).expanduser()
        if path is None or path.exists() or not path.parent.is_dir():  # the last two end with an error that says so
            _make(str(place), settings)
            return cls(place)
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.new")
        try:
            _make(str(draft), settings)
            _publish(draft, path)
        except FileExistsError:
            raise ProjectError(f"there is a project in {place} already; open it.") from None
        except OSError as error:
            raise ProjectError(f"{place} cannot be written ({error.strerror}); name another by --store.") from error
        finally:
            draft.unlink(missing_ok=True)
        return cls(place)

    def close(self) -> None:
        """Close the file, or the connections to the server."""
        self.database.close()

    def __enter__(self) -> "Project":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """The settings as they are now, also if another process has changed them."""
        with self.database.reading() as connection:
            return read_settings(connection)

    @property
    def task(self) -> Task:
        """What people do in the project."""
        return self.settings.task

    def change_settings(self, **changes: Any) -> Settings:
        """Change settings by name; return all of them.

        Parameters
        ----------
        **changes
            Fields of `Settings`.

        Returns
        -------
        Settings

        Raises
        ------
        UnknownName, InvalidInput
            If there is no such setting, or the value is out of range.
        """
        remember(changes.get(name) for name in ("features", "model"))
        with self.database.writing() as connection:
            settings = changed(read_settings(connection), changes)
            write_settings(connection, settings)
            if "overlap" in changes:  # what is answered often enough is a question of the overlap
                free = sa.case((QUEUE.c.answers < settings.overlap, 1), else_=0)
                connection.execute(QUEUE.update().values(open=free))
        return settings


def _publish(draft: Path, path: Path) -> None:
    """Put a project in its place: it is there as a whole or not at all, and none is written over."""
    try:
        os.link(draft, path)
    except OSError:  # some disks know no links
        if path.exists():
            raise
        draft.rename(path)


def _make(place: str, settings: Settings) -> None:
    """Make the tables of a project."""
    maker = Database(place)
    try:
        with maker.writing() as connection:
            tables.make(connection, place)
            write_settings(connection, settings)
    finally:
        maker.close()
