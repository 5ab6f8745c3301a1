"""The calls of the Label page: the project, what is next, answers, undo, what was answered before."""

from typing import Annotated

from fastapi import APIRouter, Query

from cusal.apps.label.server.app_state import guess_of
from cusal.apps.label.server.calls import AnswersCall, ReleaseCall, SettingsCall, UndoCall
from cusal.apps.label.server.error_responses import NotThere
from cusal.apps.label.server.messages import undone_in_words
from cusal.apps.label.server.parameters import Changing, ItemNumber, LiveProject, WhoAsks
from cusal.apps.label.server.replies import (
    AnswersReply,
    GivenAnswer,
    HistoryReply,
    ItemDetails,
    NextReply,
    OutcomeReply,
    ProjectReply,
    SettingsReply,
    StatusReply,
    UndoneReply,
    UndoReply,
)
from cusal.apps.label.store import Answer

router = APIRouter(tags=["labelling"])


@router.get("/project")
def project(live: LiveProject, person: WhoAsks = "me") -> ProjectReply:
    """Return everything that a page needs when it opens."""
    settings = live.project.settings
    return ProjectReply(
        id=live.id,
        title=settings.title,
        kind=settings.kind,
        items=live.project.items.count(),
        classes=live.classes(),
        progress=live.progress(),
        settings=SettingsReply(batch=settings.batch, budget=settings.budget, overlap=settings.overlap),
        status=live.status(),
        task=live.task.name,
        wrong=live.task.wrong_class,
    )


@router.get("/status")
def status(live: LiveProject) -> StatusReply:
    """Return what the worker does and how far everything is."""
    return live.status()


@router.get("/next")
def next_items(
    live: LiveProject,
    person: WhoAsks = "me",
    count: Annotated[int, Query(ge=1, le=100)] = 15,
    exclude: Annotated[str, Query(max_length=20_000, pattern=r"^([0-9]{1,9}(,[0-9]{1,9})*)?$")] = "",
    guess: bool = False,
) -> NextReply:
    """Return the items that the person is to label next; they are kept for the person for five minutes."""
    excluded = [int(id) for id in exclude.split(",") if id]
    picks = live.next_picks(person, count, excluded)
    items = live.items([pick.item for pick in picks], picks=picks, guesses=guess)
    return NextReply(items=items, status=live.status())


@router.post("/answers", dependencies=Changing)
def answers(call: AnswersCall, live: LiveProject) -> AnswersReply:
    """Store answers; one that arrives again is stored once."""
    given = [
        Answer(one.id, one.item, call.person, one.kind, class_id=one.class_id, seconds=one.seconds)
        for one in call.answers
    ]
    outcomes = live.project.answers.store(given)
    return AnswersReply(
        outcomes=[OutcomeReply(id=one.uuid, stored=one.stored, reason=one.reason) for one in outcomes],
        progress=live.progress(),
        status=live.status(),
    )


@router.post("/undo", dependencies=Changing)
def undo(call: UndoCall, live: LiveProject) -> UndoReply:
    """Undo the latest thing that the person did and that is not undone yet."""
    undone = live.project.answers.undo(call.person, call.id, of=call.of)
    if undone is None:
        return UndoReply(undone=None, progress=live.progress())
    words = undone_in_words(undone, live.project.classes.names())
    reply = UndoneReply(kind=undone.kind, words=words, items=live.items(undone.items[:100]))
    return UndoReply(undone=reply, progress=live.progress())


@router.post("/release", dependencies=Changing)
def release(call: ReleaseCall, live: LiveProject) -> StatusReply:
    """Return items to the queue that the person was given and will not answer now."""
    live.project.queue.release(call.person, call.items)
    return live.status()


@router.get("/items/{id}")
def item(id: ItemNumber, live: LiveProject, person: WhoAsks = "me") -> ItemDetails:
    """Return an item with its answers, its label and the model's prediction."""
    if id >= live.project.items.count():
        raise NotThere(f"there is no item {id} in this project; it has {live.project.items.count()}.")
    shown = live.items([id], picks=live.project.queue.picks([id]).values())[0]
    given, active = live.project.answers.given(items=[id]), [one.id for one in live.project.classes.all()]
    return ItemDetails(
        **shown.model_dump(),
        answers=[_given(one) for one in given],
        label=live.project.answers.labels([id]).get(id),
        prediction=guess_of(live.predictions(), id, active),
    )


@router.get("/history")
def history(
    live: LiveProject, person: WhoAsks = "me", count: Annotated[int, Query(ge=1, le=1000)] = 200
) -> HistoryReply:
    """Return what the person answered, newest first."""
    return HistoryReply(answers=[_given(one) for one in live.project.answers.history(person, count)])


@router.post("/settings", dependencies=Changing)
def settings(call: SettingsCall, live: LiveProject) -> SettingsReply:
    """Change settings; those that are left out stay as they are."""
    given = call.model_dump(exclude={"person"}, exclude_unset=True)
    changes = {name: value for name, value in given.items() if value is not None or name == "budget"}
    if changes:
        live.project.change_settings(**changes)
    now = live.project.settings
    return SettingsReply(batch=now.batch, budget=now.budget, overlap=now.overlap)


def _given(one: Answer) -> GivenAnswer:
    return GivenAnswer(
        item=one.item, person=one.person, kind=one.kind, class_id=one.class_id, at=one.at or 0.0, seconds=one.seconds
    )
