"""What `cusal labelstudio` does: set the order of tasks once, or whenever something has changed, until Ctrl-C."""

import sys
import time
from dataclasses import dataclass

from cusal._progress import term_like_interrupt
from cusal.adapters._label_studio_order import has_model
from cusal.adapters.label_studio import UNCERTAINTY, LabelStudioProject, LabelStudioPush
from cusal.errors import ServerAway
from cusal.session.classifiers import named_model
from cusal.session.session import Session

STOPPED = 130  # what a shell gives for Ctrl-C


@dataclass(frozen=True)
class Request:
    """How to learn and choose.

    model: "package.module:Name", or None for the default. strategy, features, seed: as for
    `LabelStudioProject.session`. batch_size, most: as for `LabelStudioProject.push`.
    """

    model: str | None
    strategy: str
    features: str | None
    batch_size: int
    most: int
    seed: int


def run(project: LabelStudioProject, request: Request, every: float | None) -> int:
    """Set the order of tasks, and again every so many seconds if something has changed; return the exit code."""
    try:
        with term_like_interrupt():
            if every is None:
                update(project, request)
                return 0
            watch(project, request, every)
    except KeyboardInterrupt:
        print("\nStopped. Label Studio keeps the last order.", file=sys.stderr)
    return STOPPED if every is None else 0


def watch(project: LabelStudioProject, request: Request, every: float) -> None:
    """Update the order whenever something has changed; a server that is away is waited for, but not at the start."""
    seen: tuple[object, ...] | None = None
    print(f"Looking at project {project.number} every {every:g} seconds. Press Ctrl-C to stop.", flush=True)
    while True:
        try:
            now = project.state()
            if now != seen:
                version = update(project, request)
                seen = (*now[:-1], version or now[-1])  # what changed meanwhile is seen next time
        except ServerAway as error:
            if seen is None:
                raise
            print(f"cusal: {error}", file=sys.stderr, flush=True)
        time.sleep(every)


def update(project: LabelStudioProject, request: Request) -> str | None:
    """Pull, learn, push and say what was done; return the new version, or None if no task is open."""
    model = named_model(request.model) if request.model else None
    session = project.session(model, request.strategy, features=request.features, seed=request.seed)
    counts = f"{len(session.labels)} labelled, {len(session.pool.open)} open"
    aside = len(session.pool.skipped) + len(project.unreadable)
    print(f"Project {project.number}: {counts}" + (f", {aside} set aside" if aside else ""))
    for task, reason in list(project.unreadable.items())[:1]:
        print(
            f"cusal: {len(project.unreadable)} images cannot be read, such as that of task {task}: {reason}",
            file=sys.stderr,
        )
    if not len(session.pool.open):
        print("There is nothing left to ask.", flush=True)
        return None
    pushed = project.push(session, batch_size=request.batch_size, most=request.most)
    print(_told(session, pushed), flush=True)
    return pushed.version


def _told(session: Session, pushed: LabelStudioPush) -> str:
    lines = [f"{pushed.version}: task {pushed.tasks[0]} is next, then " + ", ".join(map(str, pushed.tasks[1:5]))]
    if len(pushed.tasks) == 1:
        lines = [f"{pushed.version}: task {pushed.tasks[0]} is the last"]
    if has_model(session):
        lines.append(f"Expected accuracy of the open tasks: {session.estimate_accuracy()}")
    else:
        lines.append("Labels of two classes are needed for a model; until then typical tasks come first")
    if pushed.refused:
        lines.append(f"Label Studio did not take {pushed.refused} predictions; its log says why")
    if pushed.sampling != UNCERTAINTY:
        lines.append(f"The order of tasks in the project is now {UNCERTAINTY!r}, no longer {pushed.sampling!r}")
    return "\n".join(lines)
