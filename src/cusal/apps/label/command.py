"""What `cusal label` does: open or start the project, read in the data, serve it until Ctrl-C, say how to continue."""

import shlex
import socket
import sys
import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from cusal.apps.label.server.app import make_app
from cusal.apps.label.server.app_state import Live
from cusal.apps.label.server.listening import PORT, open_socket, serve
from cusal.apps.label.server.security import Access
from cusal.apps.label.server.supervisor import Supervisor, worker_command
from cusal.apps.label.server.token_file import token_of
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, Started, start_project
from cusal.apps.label.store import Project
from cusal.errors import without_passwords


@dataclass(frozen=True)
class Listening:
    """Where the pages are found.

    Parameters
    ----------
    host : str or None
        An address or name of this machine that others reach; None for this machine alone, without a token.
    port : int or None
        None for 8765, or the first free port after it.
    browser : bool
        Open the page in a browser.
    """

    host: str | None = None
    port: int | None = None
    browser: bool = True


def label(options: Options, listening: Listening) -> None:
    """Serve a labelling project until Ctrl-C.

    Parameters
    ----------
    options : Options
        The data and the settings of the project.
    listening : Listening
        Where the pages are found.
    """
    started = start_project(options)
    with started.project as project:
        bound = open_socket(listening.host or "127.0.0.1", listening.port)
        supervisor = Supervisor(worker_command(project.place), tell=_complain)
        live = Live(project, exports=exports_folder(project), supervisor=supervisor)
        access = _access(live, listening.host)
        address = _address(access, bound.getsockname()[1])
        _announce(started, address, access, moved=listening.port is None and bound.getsockname()[1] != PORT)

        def ready() -> None:
            project.status.set("worker", {"state": "starting", "message": ""})  # not what an earlier one said
            supervisor.start()
            if listening.browser:
                link = f"{address}enter?token={access.token}" if access.token else address
                threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

        try:
            serve(make_app(live, access), bound, ready)
        finally:
            supervisor.stop()
            live.jobs.stop()
            bound.close()
            _say_goodbye(project, options)


def exports_folder(project: Project) -> Path:
    """Return the folder that exports from the page are written to: beside the project, or beside the data."""
    if "://" in project.place:
        data = Path(project.settings.data)
        return data.with_name(f"{data.name}.cusal.exports")
    place = Path(project.place).expanduser()
    return place.with_name(f"{place.name.removesuffix('.db')}.exports")


def _access(live: Live, host: str | None) -> Access:
    if host is None:
        return Access()
    return Access(host=host, token=token_of(live.id), cookie=f"cusal-{live.id}")


def _address(access: Access, port: int) -> str:
    host = socket.gethostname() if access.host in ("0.0.0.0", "::") else access.host
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _announce(started: Started, address: str, access: Access, *, moved: bool) -> None:
    link = f"{address}enter?token={access.token}" if access.token else address
    task = started.project.task
    print(f"{task.verb} at {link}" + (f"  (port {PORT} is taken)" if moved else ""))
    project, progress = started.project, started.project.answers.progress()
    counted = {"image": "images", "text": "texts", "table": "rows"}[project.settings.kind]
    more = "" if started.finished else " so far"
    items = f"{progress['items']:,} {counted}{more}"
    print(f"Project {without_passwords(project.place)}: {items}, {task.done(progress):,} {task.participle}")
    for line in started.remarks:
        print(line)
    print("Press Ctrl-C to stop.", flush=True)


def _say_goodbye(project: Project, options: Options) -> None:
    task = project.task
    done = task.done(project.answers.progress())
    again = ["cusal", "label", options.data, *(["--store", without_passwords(options.store)] if options.store else [])]
    print(f"\n{done:,} {task.noun}{'' if done == 1 else 's'} stored. Continue: {shlex.join(again)}")
    print(f"Export: {shlex.join(['cusal', 'export', without_passwords(project.place)])}", flush=True)


def _complain(line: str) -> None:
    print(f"cusal: {line}", file=sys.stderr, flush=True)


__all__ = ["Listening", "Options", "SourceOptions", "exports_folder", "label"]
