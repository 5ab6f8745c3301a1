"""The app: calls, pages, images and exports of one project, behind the guard."""

from fastapi import APIRouter, FastAPI

from cusal import __version__
from cusal.apps.label.server.api import browsing, changing_classes, exporting, labelling, reporting, showing
from cusal.apps.label.server.app_state import Live
from cusal.apps.label.server.error_responses import REFUSALS, add_error_responses
from cusal.apps.label.server.pages import add_pages
from cusal.apps.label.server.security import Access, Guard


def make_app(live: Live, access: Access | None = None) -> FastAPI:
    """Return the app of a project.

    Parameters
    ----------
    live : Live
        The project, with its predictions and its worker.
    access : Access or None
        Who may call it; by default everybody on this machine.
    """
    app = FastAPI(
        title="cusal label",
        version=__version__,
        description="The calls of a labelling project. Calls that change something need the header X-Cusal: 1.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.live = live
    calls = APIRouter(prefix="/api", responses=REFUSALS)
    for part in (labelling, browsing, changing_classes, reporting, exporting):
        calls.include_router(part.router)
    app.include_router(calls)
    app.include_router(exporting.files)
    app.include_router(showing.router)
    add_pages(app)
    add_error_responses(app)
    app.add_middleware(Guard, access=access or Access())
    return app
