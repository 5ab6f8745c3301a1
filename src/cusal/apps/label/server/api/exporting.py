"""The calls of the Export page."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import FileResponse

from cusal.apps.label.server.calls import ExportsCall
from cusal.apps.label.server.error_responses import REFUSALS, NotThere
from cusal.apps.label.server.export_jobs import Job, files_in
from cusal.apps.label.server.parameters import Changing, LiveProject
from cusal.apps.label.server.replies import ExportFile, JobReply

router = APIRouter(tags=["export"], responses=REFUSALS)
files = APIRouter(tags=["export"], responses=REFUSALS)


@router.get("/exports")
def exports(live: LiveProject) -> list[ExportFile]:
    """Return the files that exports wrote, newest first."""
    found = [(path, path.stat()) for path in files_in(live.jobs.folder)]
    return [ExportFile(name=path.name, size=state.st_size, at=state.st_mtime) for path, state in found]


@router.get("/exports/{job}")
def export_state(job: Annotated[str, Path(max_length=64)], live: LiveProject) -> JobReply:
    """Return how an export is doing."""
    if live.jobs.last is None or live.jobs.last.id != job:
        raise NotThere(f"there is no export {job!r}; start one.")
    return _job(live.jobs.last)


@router.post("/exports", dependencies=Changing)
def start_export(call: ExportsCall, live: LiveProject) -> JobReply:
    """Start an export; its files appear in the list when it is done."""
    return _job(live.jobs.start(call.formats))


@files.get("/exports/{name}", response_class=FileResponse)
def export_file(name: Annotated[str, Path(max_length=255)], live: LiveProject) -> FileResponse:
    """Return a file that an export wrote, to be saved and never to be shown."""
    path = next((path for path in files_in(live.jobs.folder) if path.name == name), None)
    if path is None:
        raise NotThere(f"there is no export named {name!r}; see the list of exports.")
    return FileResponse(path, media_type="application/octet-stream", filename=name)


def _job(job: Job) -> JobReply:
    return JobReply(job=job.id, state=job.state, message=job.message)  # type: ignore[arg-type]
