"""The call of the Classes page."""

from fastapi import APIRouter

from cusal.label.server.calls import ClassesCall
from cusal.label.server.parameters import Changing, LiveProject
from cusal.label.server.replies import ClassesReply
from cusal.label.store import ClassChange

router = APIRouter(tags=["classes"])


@router.get("/classes")
def classes(live: LiveProject) -> ClassesReply:
    """Return the classes in order."""
    return ClassesReply(classes=live.classes())


@router.post("/classes", dependencies=Changing)
def change_classes(call: ClassesCall, live: LiveProject) -> ClassesReply:
    """Add, edit, merge, reorder or delete classes; every change can be undone."""
    change = ClassChange(
        uuid=call.id,
        person=call.person,
        action=call.action,
        class_id=call.class_id,
        name=call.name,
        key=call.key,
        colour=call.colour,
        description=call.description,
        into=call.into,
        order=None if call.order is None else tuple(call.order),
        labels_to=call.labels_to,
    )
    live.project.change_classes(change)
    return ClassesReply(classes=live.classes())
