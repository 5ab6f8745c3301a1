"""What the calls take besides their bodies: the running project, the header of a change, who asks."""

from typing import Annotated, Literal, cast

from fastapi import Depends, Header, Path, Query
from starlette.requests import Request

from cusal.apps.label.server.app_state import Live
from cusal.apps.label.server.fields import NO_CONTROL


async def _live(request: Request) -> Live:
    return cast("Live", request.app.state.live)


async def change_header(x_cusal: Annotated[Literal["1"], Header(alias="X-Cusal")]) -> None:
    """Require the header that a form of another site cannot send; the guard has looked at it before."""


LiveProject = Annotated[Live, Depends(_live)]
Changing = [Depends(change_header)]
ItemNumber = Annotated[int, Path(ge=0, le=2**31 - 1)]
WhoAsks = Annotated[str, Query(min_length=1, max_length=80, pattern=NO_CONTROL)]
