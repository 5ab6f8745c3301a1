"""The images of the items."""

from typing import Any, Literal

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from cusal.apps.label.server.app_state import Live
from cusal.apps.label.server.error_responses import REFUSALS, NotThere
from cusal.apps.label.server.media import BrokenFile, MissingFile, Picture, draw, find_file, picture_tag
from cusal.apps.label.server.parameters import ItemNumber, LiveProject

AT_ONCE = 2  # images decoded at a time, in threads of their own: a page of thumbnails must not keep answers waiting
SHOWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {}, "image/jpeg": {}}},
    304: {"description": "The caller has it already"},
}

router = APIRouter(tags=["media"], responses={**REFUSALS, **SHOWN})


@router.get("/media/{id}", response_class=Response)
async def picture(
    id: ItemNumber,
    live: LiveProject,
    request: Request,
    side: Literal["200", "1600"] = "1600",
) -> Response:
    """Return the image of an item, upright, with no side longer than asked."""
    known = request.headers.get("if-none-match", "")
    tag, found = await run_sync(_picture, live, id, int(side), known, limiter=_limiter(request))
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if found is None:
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)


def _limiter(request: Request) -> CapacityLimiter:
    state = request.app.state
    if not hasattr(state, "drawing"):
        state.drawing = CapacityLimiter(AT_ONCE)
    limiter: CapacityLimiter = state.drawing
    return limiter


def _picture(live: Live, id: int, side: int, known: str) -> tuple[str, Picture | None]:
    """Return the tag of the picture, and the picture unless the caller has it; an item without one is set aside."""
    if live.kind != "image" or id >= live.project.items.count():
        raise NotThere(f"there is no image {id} in this project.")
    item = live.project.items.get(id)
    try:
        path, state = find_file(live.folder, item.file)
        tag = picture_tag(path, state, side)
        if tag in known:
            return tag, None
        found = live.pictures.find(tag)
        if found is None:
            found = draw(path, side)
            live.pictures.keep(tag, found)
    except (MissingFile, BrokenFile) as error:
        if item.state == "ok":
            live.project.items.mark(id, "missing" if isinstance(error, MissingFile) else "broken", str(error))
        raise
    return tag, found
