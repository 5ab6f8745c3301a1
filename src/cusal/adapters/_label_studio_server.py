"""Calls to a Label Studio server: by a token, again where it is busy, and with errors in one line.

A personal access token (a JSON web token) is exchanged for a short-lived one, and again when that expires; a legacy
token is sent as it is. Redirects are not followed with a token, and none is sent to any other server.
"""

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from cusal.errors import DataError, InvalidInput, ServerAway, ServerError

SECONDS = 600.0  # that an answer may take: to remove thousands of predictions is slow
SECONDS_OF_A_FILE = 60.0
WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before a call is tried again
LONGEST_WAIT = 30.0  # of what a server may ask for
BUSY = (429, 503)  # the call was not carried out
BROKEN = (500, 502, 504)  # it may have been
PERSONAL_TOKEN = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")
DETAIL = 300  # characters of an answer that an error shows


class LabelStudioServer:
    """A Label Studio server at an address, and the account of a token."""

    def __init__(self, url: str, token: str) -> None:
        self.url = _as_address(url)
        self._token = token.strip()
        if not re.fullmatch(r"[\x21-\x7e]+", self._token):
            raise InvalidInput(
                "the token of Label Studio is empty or has spaces in it; copy it from Account & Settings."
            )
        self._personal = PERSONAL_TOKEN.fullmatch(self._token) is not None
        self._access: str | None = None  # what a personal token was exchanged for
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"LabelStudioServer({self.url!r})"

    def call(self, method: str, path: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        """Return the answer to a call, decoded.

        It is tried again where the server is busy. After other failures a POST is not: it may have been carried out.

        Raises
        ------
        ServerAway
            If there is no answer, or the server is busy for long.
        ServerError
            If the call is refused.
        """
        where = f"{self.url}{path}?{urlencode(query)}" if query else f"{self.url}{path}"
        for wait in (*WAITS, None):
            try:
                return self._decoded(self._open(method, where, body))
            except urllib.error.HTTPError as error:
                if error.code == 401 and self._access is not None and wait is not None:
                    self._access = None  # it has expired
                    continue
                repeatable = error.code in BUSY or (error.code in BROKEN and method != "POST")
                if not repeatable or wait is None:
                    raise self._refusal(method, path, error) from None
                time.sleep(_asked_to_wait(error) or wait)
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, ServerError):
                    raise
                cause = getattr(error, "reason", error)
                repeatable = isinstance(cause, ConnectionRefusedError if method == "POST" else ConnectionError)
                if not repeatable or wait is None:
                    raise ServerAway(
                        f"Label Studio at {self.url} does not answer ({_reason(error)}); start it or mend the address."
                    ) from None
                time.sleep(wait)
        raise AssertionError("the last turn returns or raises")

    def fetch(self, place: str) -> bytes:
        """Return a file that a task names: of this server, with the token, or of any other, without.

        Raises
        ------
        DataError
            If it cannot be fetched.
        """
        where = self._address_of(place)
        own = f"{where}/".startswith(f"{self.url}/")
        for last in (False, True):
            try:
                return self._read(where, own)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if last or getattr(error, "code", None) != 401 or not own or self._access is None:
                    raise DataError(f"{place[:DETAIL]} cannot be fetched ({_reason(error)}).") from None
                self._access = None  # it has expired
        raise AssertionError("the last turn returns or raises")

    def _read(self, where: str, own: bool) -> bytes:
        request = urllib.request.Request(where)
        if own:
            request.add_unredirected_header("Authorization", self._authorisation())
        with urllib.request.urlopen(request, timeout=SECONDS_OF_A_FILE) as reply:
            return bytes(reply.read())

    def stranger(self) -> ServerError:
        """Return the error for answers that Label Studio would not give."""
        return ServerError(f"what answers at {self.url} is not Label Studio; give its address.")

    def _address_of(self, place: str) -> str:
        quoted = quote(place, safe="%/:?=&#+,;@~$!*'()[]")
        if place.startswith("/"):
            folder = urlsplit(self.url).path
            return urljoin(self.url, quoted) if folder and place.startswith(f"{folder}/") else f"{self.url}{quoted}"
        if urlsplit(place).scheme not in ("http", "https", "data"):
            raise DataError(f"{place[:DETAIL]} is no address of a file; expected http, https or a path of the server.")
        return quoted

    def _authorisation(self) -> str:
        if not self._personal:
            return f"Token {self._token}"
        if self._access is None:
            answer = self._decoded(self._send("POST", f"{self.url}/api/token/refresh", {"refresh": self._token}, {}))
            if not isinstance(answer, dict) or "access" not in answer:
                raise self.stranger()
            self._access = str(answer["access"])
        return f"Bearer {self._access}"

    def _open(self, method: str, where: str, body: Any) -> bytes:
        return self._send(method, where, body, {"Authorization": self._authorisation()})

    def _send(self, method: str, where: str, body: Any, headers: dict[str, str]) -> bytes:
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        request = urllib.request.Request(where, data, headers, method=method)
        with self._opener.open(request, timeout=SECONDS) as reply:
            return bytes(reply.read())

    def _decoded(self, content: bytes) -> Any:
        try:
            return json.loads(content) if content else None
        except ValueError:
            raise self.stranger() from None

    def _refusal(self, method: str, path: str, error: urllib.error.HTTPError) -> ServerError:
        said = _detail(error)
        if error.code in (*BUSY, *BROKEN):
            return ServerAway(
                f"Label Studio at {self.url} answers {error.code} to {method} {path}{said}; try again later."
            )
        if error.code == 401:
            return ServerError(
                f"Label Studio at {self.url} does not accept the token{said}; copy one from Account & Settings there, "
                "and give it by LABEL_STUDIO_API_KEY."
            )
        if 300 <= error.code < 400:
            moved = error.headers.get("Location", "another address")
            return ServerError(f"Label Studio at {self.url} sends calls to {moved}; give that server's address.")
        return ServerError(f"Label Studio at {self.url} answers {error.code} to {method} {path}{said}.", error.code)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Turns redirects into errors: urllib would send the token along, and make a GET of a POST."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def _as_address(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise InvalidInput(f"{url!r} is no address of a server; give one such as http://localhost:8080.")
    return url.strip().rstrip("/")


def _asked_to_wait(error: urllib.error.HTTPError) -> float | None:
    asked = error.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT) if asked.isdecimal() else None


def _detail(error: urllib.error.HTTPError) -> str:
    """Return what the server said about its refusal, in brackets; nothing where that was a page."""
    try:
        said = json.loads(error.read())
    except (ValueError, OSError, http.client.HTTPException):
        return ""
    if not isinstance(said, dict):
        return ""
    text = str(said.get("validation_errors") or said.get("detail") or "").strip(". ")
    return f" ({text[:DETAIL]})" if text else ""


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"answer {error.code}"
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason or type(reason).__name__)
