"""The pages, drawn from their templates, and their scripts and styles."""

import os
import shlex
from pathlib import Path

from fastapi import FastAPI
from fastapi.templating import Jinja2Templates
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from cusal.apps.label.server.app_state import Live

FOLDER = Path(__file__).parents[1] / "pages"
PAGES = {"/": "label", "/progress": "progress", "/browse": "browse", "/classes": "classes", "/export": "export"}


class FreshFiles(StaticFiles):
    """Files that a browser asks for again each time, and gets only if they changed."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return a file with its tag."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def add_pages(app: FastAPI, folder: Path = FOLDER) -> None:
    """Add every page, and the folder of static files."""
    templates = Jinja2Templates(folder / "templates")
    templates.env.autoescape = True
    for path, page in PAGES.items():
        app.add_api_route(path, _page(templates, page), methods=["GET", "HEAD"], include_in_schema=False)
    app.mount("/static", FreshFiles(directory=folder / "static", check_dir=False), name="static")


def _page(templates: Jinja2Templates, page: str):  # type: ignore[no-untyped-def]
    async def shown(request: Request) -> Response:
        live: Live = request.app.state.live
        title = (await run_in_threadpool(lambda: live.project.settings)).title
        words = {"title": title, "kind": live.kind, "page": page, "project": live.id, "task": live.task}
        words["file"] = _file(live.project.place)
        name = live.task.progress_page if page == "progress" else page
        return templates.TemplateResponse(request, f"{name}.html", words, headers={"Cache-Control": "no-cache"})

    return shown


def _file(place: str) -> str:
    """Return the project file as a command names it in its folder; the address of a database stays unsaid."""
    return "PROJECT" if "://" in place else shlex.quote(Path(place).name)
