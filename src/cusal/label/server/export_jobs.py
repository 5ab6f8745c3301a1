"""Exports from the page: written by a process of their own, into a folder beside the project."""

import importlib
import subprocess
import sys
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cusal.errors import CusalError, ProjectError
from cusal.label.store import Project


@dataclass
class Job:
    """An export: its id, "running", "done" or "failed", and why it failed."""

    id: str
    state: str = "running"
    message: str | None = None


class ExportJobs:
    """Starts exports, one at a time.

    Parameters
    ----------
    place : str
        The project.
    folder : Path
        Where the files are written.
    """

    def __init__(self, place: str, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.last: Job | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def start(self, formats: Sequence[str]) -> Job:
        """Start an export, or return the one under way."""
        with self._lock:
            if self.last is not None and self.last.state == "running":
                return self.last
            command = [sys.executable, "-m", "cusal.label.server.export_jobs", self.place, str(self.folder), *formats]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            self.last = Job(uuid.uuid4().hex)
            threading.Thread(target=self._watch, args=(self._process, self.last), daemon=True).start()
            return self.last

    def stop(self) -> None:
        """End an export that is under way."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    @staticmethod
    def _watch(process: subprocess.Popen[str], job: Job) -> None:
        _, errors = process.communicate()
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        if process.returncode:
            job.message = lines[-1] if lines else f"The export ended with exit code {process.returncode}."
        job.state = "failed" if process.returncode else "done"


def files_in(folder: Path) -> list[Path]:
    """Return the files that exports wrote, newest first."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink() and path.name[0] != "."]
    return sorted(found, key=lambda path: (-path.stat().st_mtime, path.name))


def main(place: str, folder: str, *formats: str) -> int:
    """Write an export; return the exit code."""
    try:
        write_export = importlib.import_module("cusal.label.export").write_export
        Path(folder).mkdir(parents=True, exist_ok=True)
        with Project(place) as project:
            write_export(project, Path(folder), list(formats))
    except CusalError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    except OSError as error:
        print(ProjectError(f"{folder} cannot be written ({error.strerror}); free some space."), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
