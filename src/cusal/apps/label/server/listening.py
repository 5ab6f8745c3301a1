"""The socket that the server listens on, and the loop that serves until it is asked to end."""

import contextlib
import errno
import signal
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from fastapi import FastAPI

from cusal.errors import InvalidInput

PORT = 8765
PORTS_TRIED = 100
SECONDS_TO_END = 3
SECONDS_KEPT = 75  # that a silent connection stays open: longer than anybody looks at one item, as a rule


def open_socket(host: str, port: int | None) -> socket.socket:
    """Return a listening socket.

    Parameters
    ----------
    host : str
        An address or name of this machine.
    port : int or None
        The port, which must be free; None takes 8765 or the first free one after it; 0 takes any that is free.

    Returns
    -------
    socket.socket

    Raises
    ------
    InvalidInput
        If the port is taken, or the host is not of this machine.
    """
    candidates = range(PORT, PORT + PORTS_TRIED) if port is None else [port]
    for candidate in candidates:
        try:
            return _listen(host, candidate)
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise InvalidInput(
                    f"--host {host} is not an address of this machine; give 0.0.0.0 for all of its addresses."
                ) from None
            if error.errno in (errno.EACCES, errno.EPERM):
                raise InvalidInput(f"port {candidate} may not be used here; give --port a number above 1023.") from None
            if error.errno != errno.EADDRINUSE:
                raise
    taken = f"port {port} is" if port is not None else f"ports {PORT} to {PORT + PORTS_TRIED - 1} are"
    raise InvalidInput(f"{taken} taken by another program; give another --port, or leave it out.")


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        # A restarted server gets its port at once; one that another program listens on stays taken all the same.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(512)
    except OSError:
        listening.close()
        raise
    return listening


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()


def serve(app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called once, when the server answers."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=SECONDS_KEPT,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    with _quiet_signals(), warnings.catch_warnings():
        from PIL import Image

        warnings.simplefilter("error", Image.DecompressionBombWarning)  # an image that large is refused, not tried
        _Server(config, ready).run(sockets=[listening])


@contextlib.contextmanager
def _quiet_signals() -> Iterator[None]:
    """Ignore signals while the caller cleans up: uvicorn raises the one that ended it again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ignore(number: int, frame: FrameType | None) -> None:
        """The server has ended already."""

    before = {number: signal.signal(number, ignore) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
