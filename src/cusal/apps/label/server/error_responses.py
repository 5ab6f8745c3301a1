"""Errors as the server answers them: one plain sentence, and a status that says whose fault it was."""

import sqlite3
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cusal.apps.label.server.fields import Failure
from cusal.errors import CusalError

# What any call may answer besides what it is for; in the OpenAPI description of each.
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "The request cannot be understood, or goes to another host"},
    401: {"model": Failure, "description": "The token is missing or wrong"},
    403: {"model": Failure, "description": "The request comes from another site, or without the header X-Cusal"},
    404: {"model": Failure, "description": "There is no such thing in the project"},
    409: {"model": Failure, "description": "The project does not allow it"},
    413: {"model": Failure, "description": "The request is too large"},
    422: {"model": Failure, "description": "A value is not what it should be"},
    429: {"model": Failure, "description": "Too many wrong tokens"},
    503: {"model": Failure, "description": "The database does not answer"},
}


class NotThere(CusalError, LookupError):
    """Raised when a call names an item, class or file that the project does not have."""


def add_error_responses(app: FastAPI) -> None:
    """Make the app answer every error with one sentence."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(CusalError, _refused)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path", "header"))
    message = str(first["msg"]).removeprefix("Value error, ")
    sentence = f"{place}: {message}." if place else f"{message}."
    return JSONResponse({"error": sentence[:500].encode("utf-8", "replace").decode()}, 422)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = {404: "There is no such page.", 405: "This address does not take that method."}
    headers = dict(error.headers or {})
    described = request.app.openapi()["paths"].get(request.url.path)
    if error.status_code == 405 and described:  # the router knows the methods of one of its routes alone
        headers["Allow"] = ", ".join(sorted(method.upper() for method in described))
    return JSONResponse({"error": sentence.get(error.status_code, str(error.detail))}, error.status_code, headers)


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, LookupError):
        status = 404
    elif isinstance(error.__cause__, DBAPIError | sqlite3.Error):  # not what was asked: the page tries again
        status = 503
    else:
        status = 409
    return JSONResponse({"error": " ".join(str(error).split())}, status)
