"""Exports from the page: written by a process of their own, into a folder beside the project."""

import subprocess
import sys
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Job:
    """An export: its id, "running", "done" or "failed", and why it failed or what it lacks."""

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
            command = [sys.executable, "-m", "cusal.apps.label.export", self.place, "--out", str(self.folder), "--zip"]
            command += ["--format", ",".join(formats)]
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
        else:  # sentences on what could not be written; lines on progress are none
            job.message = " ".join(line for line in lines if line.endswith(".")) or None
        job.state = "failed" if process.returncode else "done"


def files_in(folder: Path) -> list[Path]:
    """Return the files that exports wrote, newest first."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink() and path.name[0] != "."]
    return sorted(found, key=lambda path: (-path.stat().st_mtime, path.name))
