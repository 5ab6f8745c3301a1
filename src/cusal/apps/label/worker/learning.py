"""The session of a project, round by round: it is told what people said, and asked what to ask next."""

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cusal import Query, Session
from cusal._types import Indices
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.queue import with_checks
from cusal.apps.label.store.records import Changes, Pick, Round, Settings
from cusal.apps.label.store.validation import in_one_line
from cusal.apps.label.worker.heads import model_to_begin, refit_limit, suited_model
from cusal.apps.label.worker.pool import Places
from cusal.apps.label.worker.reasons import in_reserve, reasons_of
from cusal.apps.label.worker.report import full_report, labels_of, packed_predictions, plain_report
from cusal.apps.label.worker.saved import Saved
from cusal.errors import ProjectError
from cusal.features import stacked

OPEN, SKIPPED = -1, -2  # beside the ids of classes, which are 0 or more


class News:
    """The changes of a project that its session does not know yet.

    event: the last event that was heard of. waiting: what each item is now: a class id, OPEN or SKIPPED.
    """

    def __init__(self, event: int = 0) -> None:
        self.event = event
        self.waiting: dict[int, int] = {}

    def hear(self, project: Project) -> bool:
        """Ask the project for what happened since the last time; return whether there was anything."""
        if project.events.latest() <= self.event:
            return False
        self.add(project.events.changes_since(self.event))
        return True

    def add(self, changes: Changes) -> None:
        """Take up changes; the newest state of an item counts."""
        self.event = changes.event
        self.waiting |= changes.labelled
        self.waiting |= dict.fromkeys(changes.opened, OPEN)
        self.waiting |= dict.fromkeys(changes.skipped, SKIPPED)

    def take(self, items: list[int]) -> dict[int, int]:
        """Return what became of these items, and forget it."""
        return {item: self.waiting.pop(item) for item in items}

    def forget_outside(self, joining: Iterable[int], places: Places) -> None:
        """Forget what became of items that have no place and get none: nobody asks about them."""
        kept = {int(item) for item in joining}
        self.waiting = {item: now for item, now in self.waiting.items() if item in places or item in kept}


RESERVE = 3  # batches that wait behind the one that was asked for
SECONDS_A_BATCH = 10.0  # nobody answers faster; a round that takes longer needs a larger reserve
MOST_RESERVE = 20
ORIGIN_OF_STRATEGY = {"cold_start": "cold", "random": "random"}


class Learning:
    """A session over the vectors of some items, and where it stands.

    session: None before there are vectors. places: the items at its positions. name, fitted: of its vectors, see
    `Saved`. asked: the items of the batch that is to be answered. number: of the last round. trouble: why the last
    round failed, in one line.
    """

    def __init__(self, project: Project, saved: Saved | None = None) -> None:
        self.project, self.saved = project, saved
        self.session: Session | None = None
        self.places, self.name, self.fitted = Places(np.empty(0, dtype=np.int64)), "", 0
        self.news = News(saved.event if saved else 0)
        self.asked: list[int] = list(saved.asked) if saved else []
        self._rng = np.random.default_rng([project.settings.seed, 2])  # of random checks beside those of the session
        self.picks: list[Pick] = []  # as they were last put into the queue
        self.number = project.rounds.last_number() or 0
        self.seconds = 0.0  # that the last round took
        self.trouble: str | None = None
        self.stale = False  # whether the session is on vectors that no round has used yet

    # Vectors come.

    def begin(self, places: Places, matrix: Any, name: str) -> None:
        """Start on vectors of all items, continue from what was saved, or move from other vectors."""
        settings = self.project.settings
        self.stale = True
        if self.session is not None:
            self.session = self.session.continued(matrix)
        elif self.saved is not None and np.array_equal(self.saved.ids, places.ids):
            self.stale = not self._restore(self.saved, matrix, settings)
        if self.session is None:
            self.news = News()
            self.session = _new_session(matrix, settings)
        self.places, self.name, self.saved = places, name, None
        self.fitted = self.fitted or len(places)
        self._follow_states()

    def join(self, ids: Indices, matrix: Any) -> None:
        """Add items at the end; they are asked for from the next round on."""
        assert self.session is not None
        self.session = self.session.continued(stacked([self.session.items, matrix]))
        self.places = self.places.extended(ids)
        self.stale = self.stale or not self.asked or not self.session.labels

    def _restore(self, saved: Saved, matrix: Any, settings: Settings) -> bool:
        """Continue a saved session; return whether it stands as it did, its batch in the queue."""
        try:
            model = model_to_begin(settings, _count_labels(self.project))
            self.session = Session.from_bytes(saved.session, matrix, model)
        except Exception as error:  # the file is damaged, or the model failed: all labels are in the project
            print(f"The session is built again from the labels ({in_one_line(error)}).", file=sys.stderr, flush=True)
            return False
        self.fitted = saved.fitted
        outside = self.project.answers.labels().keys() - set(saved.ids.tolist())
        if outside:
            self.news.waiting |= {
                item: label for item, label in self.project.answers.labels().items() if item in outside
            }
        return self.session.round >= 0 or bool(self.asked)

    def _follow_states(self) -> None:
        """Set aside items whose files are gone or broken, and take back those that have returned."""
        assert self.session is not None
        usable = np.isin(self.places.ids, self.project.items.ids("ok"))
        passed = np.isin(self.places.ids, np.array(self.project.answers.skipped(), dtype=np.int64))
        gone = self.session.pool.open[~usable[self.session.pool.open]]
        skipped = self.session.pool.skipped
        back = skipped[usable[skipped] & ~passed[skipped]]
        if len(gone):
            self.session.skip(gone)
        if len(back):
            self.session.reopen(back)
        lost = set(self.places.ids[~usable].tolist())
        self.asked = [item for item in self.asked if item not in lost]

    # A round.

    @property
    def known(self) -> list[int]:
        """The items with news that have a place in the session."""
        return [item for item in self.news.waiting if item in self.places]

    def due(self, batch: int) -> bool:
        """Return whether it is time for a round: the batch is answered, or as many answers as it holds came in."""
        if self.session is None:
            return False
        if self.stale:
            return True
        answered = self.known
        if not answered or len(answered) >= batch:
            return bool(answered)
        return all(self.news.waiting.get(item, OPEN) != OPEN for item in self.asked)

    def round(self, settings: Settings, say: Callable[[str], None]) -> None:
        """Pass on what is new to the session, fill the queue with what it asks, and write the round."""
        assert self.session is not None
        began = time.monotonic()
        self.news.hear(self.project)
        self._tell()
        self.stale = False
        say(f"Learning from {len(self.session.labels)} labels")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of solvers, and of labels of one class only
                self.session = suited_session(self.session, settings)
                self._ask(settings)
                self._write(began)
            self.trouble = None
        except ProjectError:
            raise
        except Exception as error:  # a model of the user's may raise anything; labelling must continue
            self._go_on(settings, error)
        self.seconds = time.monotonic() - began

    def _tell(self) -> None:
        session, items = self.session, self.known
        assert session is not None
        news = self.news.take(items)
        before = session.labels
        place = dict(zip(items, self.places.of(items).tolist(), strict=True))
        reopened = [place[i] for i in items if news[i] == OPEN or (news[i] == SKIPPED and place[i] in before)]
        labelled = [i for i in items if news[i] >= 0]
        skipped = [place[i] for i in items if news[i] == SKIPPED]
        if reopened:
            session.reopen(reopened)
        if labelled:
            session.tell([place[i] for i in labelled], [news[i] for i in labelled])
            self._note_drawn([i for i in labelled if place[i] not in before])
        if skipped:
            session.skip(skipped)

    def _note_drawn(self, items: list[int]) -> None:
        """Say which of the newly labelled items were drawn at random while there was no session to draw them."""
        assert self.session is not None
        picks = self.project.queue.picks(items)
        drawn = [item for item in items if item in picks and picks[item].origin in ("random", "audit")]
        if drawn:
            self.session.mark_random(self.places.of(drawn))

    def _ask(self, settings: Settings) -> None:
        session = self.session
        assert session is not None
        count = min(settings.batch, len(session.pool.open))
        query = session.ask(count) if count else Query(np.empty(0, dtype=np.int64), strategy="cold_start")
        picks = [
            Pick(int(self.places.ids[place]), origin, reason)
            for place, origin, reason in zip(
                query.indices.tolist(), _origins(query), reasons_of(query, session), strict=True
            )
        ]
        self.asked = [pick.item for pick in picks]
        patience = min(MOST_RESERVE, RESERVE + int(self.seconds / SECONDS_A_BATCH))
        drawn = [pick.item for pick in picks if pick.origin == "audit"] or self._draw(count, settings.audit)
        reserve = self._reserve(query, patience * settings.batch)
        checks = self._draw(len(reserve), settings.audit, {*self.asked, *drawn})
        self._put(with_checks(picks, drawn, self._rng) + with_checks(reserve, checks, self._rng), self.number + 1)

    def _reserve(self, query: Query, count: int) -> list[Pick]:
        session = self.session
        assert session is not None
        if _has_model(session):
            found = in_reserve(session, query.indices.tolist(), count)
            return [Pick(int(self.places.ids[place]), "reserve", reason) for place, reason in found]
        more = session.ask(min(len(query) + count, len(session.pool.open))).indices  # of more clusters: typical too
        rest = more[~np.isin(more, query.indices)][:count]
        return [Pick(int(item), "cold", {"kind": "typical"}) for item in self.places.ids[rest]]

    def _draw(self, count: int, share: float, taken: Iterable[int] = ()) -> list[int]:
        """Return open items drawn at random, the share of so many picks and at least one, but none of those taken."""
        assert self.session is not None
        if not share or not count:
            return []
        drawn = self._rng.permutation(self.session.pool.open)[: max(1, round(share * count))]
        return [item for item in self.places.ids[drawn].tolist() if item not in set(taken)]

    def _at_random(self, count: int, seed: int, taken: Indices) -> list[Pick]:
        assert self.session is not None
        free = np.setdiff1d(self.session.pool.open, taken)
        drawn = np.random.default_rng([seed, len(free)]).permutation(free)[:count]
        return [Pick(int(item), "reserve", {"kind": "reserve"}) for item in self.places.ids[drawn]]

    def _put(self, picks: list[Pick], number: int) -> None:
        self.project.queue.put(picks, round=number)
        self.picks = picks

    def _write(self, began: float) -> None:
        session = self.session
        assert session is not None
        classes = [one.id for one in self.project.classes.all()]
        ready, labels = _has_model(session), labels_of(session, self.places.ids)
        report = self._report(session, classes) if ready else plain_report(labels, classes)
        self.number += 1
        report |= {"round": self.number, "features": self.name, "seconds": round(time.monotonic() - began, 2)}
        self.project.rounds.add(
            Round(
                self.number,
                len(labels),
                report,
                packed_predictions(session, self.places.ids) if ready else None,
                Saved(
                    self.places.ids, self.name, self.fitted, self.news.event, self.asked, session.to_bytes()
                ).to_bytes(),
            )
        )

    def _report(self, session: Session, classes: list[int]) -> dict[str, Any]:
        try:
            return full_report(session, self.places.ids, classes)
        except Exception:  # a model of the user's that cannot be fitted to some of the labels only
            session.refit_limit = 0.0
            return full_report(session, self.places.ids, classes)

    def _go_on(self, settings: Settings, error: Exception) -> None:
        """Continue with the old order of the queue after a failed round; the next batch tries again."""
        assert self.session is not None
        self.trouble = f"The model could not learn from the last labels: {in_one_line(error)}"
        open_items = set(self.places.ids[self.session.pool.open].tolist())
        picks = [pick for pick in self.picks if pick.item in open_items]
        missing = (1 + RESERVE) * settings.batch - len(picks)
        if missing > 0:
            picks += self._at_random(missing, settings.seed, self.places.of(pick.item for pick in picks))
        self.asked = [pick.item for pick in picks[: settings.batch]]
        self._put(picks, self.number)


def _new_session(matrix: Any, settings: Settings) -> Session:
    return Session(matrix, model_to_begin(settings, 0), audit=settings.audit, seed=settings.seed)


def _has_model(session: Session) -> bool:
    """Return whether there are labels of two classes, so that the last batch was chosen by a model."""
    return len(set(session.labels.values())) >= 2


def suited_session(session: Session, settings: Settings) -> Session:
    """Return the session with a model that can learn from so many labels in time."""
    labels = len(session.labels)
    model = suited_model(settings, labels)
    if type(model) is not type(session.model):
        session = session.continued(session.items, model)
    session.refit_limit = refit_limit(settings, labels)
    return session


def _count_labels(project: Project) -> int:
    return sum(project.answers.label_counts().values())


def _origins(query: Query) -> list[str]:
    """Return where each pick comes from, in the words of the project."""
    origin = ORIGIN_OF_STRATEGY.get(query.strategy, "pick")
    drawn = np.zeros(len(query), dtype=np.bool_) if query.audit is None else query.audit
    return ["audit" if one else origin for one in drawn.tolist()]
