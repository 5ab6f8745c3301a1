"""Who may call the server, and what browsers may do with its answers.

Every request passes the guard: its Host must be one that the server goes by (a page elsewhere that had its name point
here is refused), it must carry the token where one is set, it may not come from another site, and one that changes
something must carry the header `X-Cusal: 1`, which a form of another site cannot send.
"""

import hmac
import ipaddress
import socket
import threading
import time
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
WRONG_TOKENS = 10  # in a minute, from one address
MOST_BYTES = 4_000_000  # of a request: labels for a hundred thousand items
# Not a redirect: after a click on a link in somebody's mail, the browser would follow it without the new cookie.
ENTERED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>cusal</title>
<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Continue</a></p></html>"""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self'; "
        "base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """The names that the server goes by, and the token that a caller must have.

    Parameters
    ----------
    host : str
        The address that the server listens on, as `--host` gave it.
    token : str or None
        What a caller must know; None on this machine alone.
    cookie : str
        The name of the cookie that carries the token. Cookies are shared by all ports of a machine.
    """

    host: str = "127.0.0.1"
    token: str | None = field(default=None, repr=False)
    cookie: str = "cusal"

    def knows(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        name = host_name(host)
        if name in LOCAL_NAMES or name == self.host.lower():
            return True
        if self.host not in ("0.0.0.0", "::"):
            return False
        # A server on all addresses is called by any of them, or by its name. Rebinding needs a name of its own.
        return _is_address(name) or name in {socket.gethostname().lower(), socket.getfqdn().lower()}

    def accepts(self, token: str | None) -> bool:
        """Return whether a caller with this token may enter; the comparison takes the same time for all."""
        return self.token is None or hmac.compare_digest((token or "").encode(), self.token.encode())


def host_name(host: str) -> str:
    """Return the name in a Host header, without the port.

    >>> host_name("Localhost:8765"), host_name("[::1]:8765"), host_name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class WrongTokens:
    """Counts wrong tokens by address, so that nobody can try many."""

    def __init__(self, most: int = WRONG_TOKENS, seconds: float = 60.0) -> None:
        self.most, self.seconds = most, seconds
        self._times: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def add(self, address: str) -> None:
        """Count one wrong token."""
        with self._lock:
            self._forget()
            self._times.setdefault(address, []).append(time.monotonic())

    def too_many(self, address: str) -> bool:
        """Return whether the address must wait."""
        with self._lock:
            self._forget()
            return len(self._times.get(address, ())) >= self.most

    def _forget(self) -> None:
        begin = time.monotonic() - self.seconds
        recent = {address: [at for at in times if at > begin] for address, times in self._times.items()}
        self._times = {address: times for address, times in recent.items() if times}


class Guard:
    """The ASGI middleware that refuses what must not be answered, and adds the headers of safety to every answer.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that pass.
    access : Access
        The names and the token of the server.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access
        self.wrong = WrongTokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"the server speaks HTTP alone, not {scope['type']}")

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, guarded_send)
        elif _declared_length(headers) > MOST_BYTES:
            await _refuse(413, "The request is too large; send fewer items at once.")(scope, receive, guarded_send)
        else:
            await self.app(scope, _Limited(receive), guarded_send)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.access.knows(hosts[0]):
            return _refuse(400, "This server is not known by the name in the Host header; use the printed address.")
        if "\x00" in scope["path"]:
            return _refuse(400, "The address holds a character that is not allowed.")
        entering = scope["path"] == "/enter" and scope["method"] in ("GET", "HEAD")
        refusal = self._enter(scope) if entering else self._token_refusal(scope, headers)
        if refusal is not None:
            return refusal
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _is_page(scope["path"]):
            return _refuse(403, "Requests from other sites are refused.")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and headers.get("x-cusal") != "1":
            return _refuse(403, "The header X-Cusal: 1 is missing; only the pages of this server may change things.")
        return None

    def _token_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self.access.token is None:
            return None
        token = _cookie(headers, self.access.cookie)
        if self.access.accepts(token):  # also from an address that must wait: others may share it
            return None
        address = _address(scope)
        if token is not None:
            if self.wrong.too_many(address):
                return _too_many()
            self.wrong.add(address)
        message = "This project is private; open the link with the token that cusal label printed."
        return _refuse(401, message) if scope["path"].startswith("/api") else PlainTextResponse(message, 401)

    def _enter(self, scope: Scope) -> Response:
        address = _address(scope)
        if self.wrong.too_many(address):
            return _too_many()
        if not self.access.accepts(QueryParams(scope["query_string"]).get("token")):
            self.wrong.add(address)
            return PlainTextResponse("The token is wrong; use the link that cusal label printed.", 401)
        answer = HTMLResponse(ENTERED)
        if self.access.token is not None:
            month = 30 * 86_400
            answer.set_cookie(self.access.cookie, self.access.token, max_age=month, httponly=True, samesite="strict")
        return answer


class _Limited:
    """A request's body that may not be larger than it should, for callers who do not declare its length."""

    def __init__(self, receive: Receive) -> None:
        self.receive, self.bytes = receive, 0

    async def __call__(self) -> Message:
        message = await self.receive()
        self.bytes += len(message.get("body", b""))
        if self.bytes > MOST_BYTES:
            return {"type": "http.disconnect"}
        return message


def _declared_length(headers: Headers) -> int:
    declared = headers.get("content-length", "0")
    return int(declared) if declared.isascii() and declared.isdigit() else 0


def _is_page(path: str) -> bool:
    return not path.startswith(("/api", "/media", "/exports"))


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found else None


def _address(scope: Scope) -> str:
    client: Any = scope.get("client")
    return str(client[0]) if client else "unknown"


def _refuse(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status)


def _too_many() -> Response:
    return JSONResponse({"error": "Too many wrong tokens; wait a minute."}, 429, {"Retry-After": "60"})
