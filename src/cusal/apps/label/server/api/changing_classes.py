"""The call of the Classes page."""

from fastapi import APIRouter

from cusal.apps.label.server.calls import ClassesCall
from cusal.apps.label.server.parameters import Changing, LiveProject
from cusal.apps.label.server.replies import ClassesReply
from cusal.apps.label.store import ClassChange, Task
from cusal.errors import ProjectError

router = APIRouter(tags=["classes"])


@router.get("/classes")
def classes(live: LiveProject) -> ClassesReply:
    """Return the classes in order."""
    return ClassesReply(classes=live.classes())


@router.post("/classes", dependencies=Changing)
def change_classes(call: ClassesCall, live: LiveProject) -> ClassesReply:
    """Add, edit, merge, reorder or delete classes; every change can be undone."""
    _keep_predicted(call, live.task)
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
    live.project.classes.change(change)
    return ClassesReply(classes=live.classes())


def _keep_predicted(call: ClassesCall, task: Task) -> None:
    """Raise an error for a change that would make right predictions wrong, or wrong ones right."""
    if call.class_id is None or not task.fixes(call.class_id):
        return
    if call.action in ("merge", "delete") or (call.action == "edit" and call.name is not None):
        raise ProjectError(
            "the predicted classes of an audit keep their names; add a class of your own, or label the table anew."
        )
