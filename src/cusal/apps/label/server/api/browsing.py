"""The calls of the Browse page and of the grid: rows by filter, labels for many items, the model's surest guesses."""

from itertools import islice
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from cusal.apps.label.server.app_state import Live
from cusal.apps.label.server.calls import LabelsCall
from cusal.apps.label.server.confident_items import most_confident_class
from cusal.apps.label.server.fields import NO_CONTROL, NO_NUL
from cusal.apps.label.server.parameters import Changing, LiveProject, WhoAsks
from cusal.apps.label.server.replies import BrowseReply, GuessesReply, LabelsReply, RowReply, finite
from cusal.apps.label.store import Filter, Row

router = APIRouter(tags=["browsing"])
ClassId = Annotated[int | None, Query(ge=0, le=2**31 - 1)]
COLUMNS = 8  # of a row in a list: enough to know it by
Bound = Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)]


@router.get("/browse")
def browse(
    live: LiveProject,
    label: ClassId = None,
    prediction: ClassId = None,
    low: Bound = None,
    high: Bound = None,
    person: Annotated[str | None, Query(min_length=1, max_length=80, pattern=NO_CONTROL)] = None,
    kind: Literal["label", "skip", "unsure"] | None = None,
    disagree: bool | None = None,
    labelled: bool | None = None,
    aside: bool | None = None,
    text: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None,
    order: Literal["id", "confidence", "recent", "disagree"] = "id",
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    count: Annotated[int, Query(ge=1, le=500)] = 50,
) -> BrowseReply:
    """Return a page of items that meet all conditions."""
    wanted = Filter(
        label=label,
        prediction=prediction,
        confidence_low=low,
        confidence_high=high,
        person=person,
        kind=kind,
        disagree=disagree,
        text=text or None,
        labelled=labelled,
        aside=aside,
        order=order,
    )
    rows, total = live.project.browse.rows(wanted, after=after, count=count)
    following = after + len(rows) if len(rows) == count else None
    return BrowseReply(rows=[_row(row, live) for row in rows], next=following, total=total)


@router.post("/labels", dependencies=Changing)
def labels(call: LabelsCall, live: LiveProject) -> LabelsReply:
    """Label many items at once, or take their labels away; one step of undo."""
    live.project.answers.label_many(call.id, call.person, call.items, call.class_id)
    return LabelsReply(changed=len(set(call.items)), progress=live.progress())


@router.get("/guesses")
def guesses(
    live: LiveProject,
    person: WhoAsks = "me",
    class_id: Annotated[int | None, Query(alias="class", ge=0, le=2**31 - 1)] = None,
    count: Annotated[int, Query(ge=1, le=100)] = 20,
) -> GuessesReply:
    """Return open items that the model is surest of, all with one guess; by default the class with the surest ones."""
    active = [one.id for one in live.project.classes.all()]
    wanted = active if class_id is None else [class_id]
    chosen, items = most_confident_class(live.project, live.predictions(), wanted, count)
    return GuessesReply(class_id=chosen, items=live.items(items, guesses=True))


def _row(row: Row, live: Live) -> RowReply:
    return RowReply(
        id=row.item.id,
        key=row.item.key,
        text=row.item.text,
        columns=finite(dict(islice((row.item.extra or {}).items(), COLUMNS))) if live.kind == "table" else {},
        image=live.image_url(row.item.id),
        label=row.label,
        prediction=row.prediction,
        confidence=finite(row.confidence),
        people=list(row.people),
        kind=row.kind,
        disagree=row.disagree,
        state=row.item.state,
        note=row.item.note,
    )
