"""Which checkpoints this user wrote: only those are unpickled, because reading a pickle runs code.

A checkpoint is stored with an HMAC of it and of its run's id. The key lies in the user's cache folder, readable by
nobody else, and is made when it is first needed. So a checkpoint that came with an archive, a database or a file of
somebody else is told apart, and its run starts again. Machines that share a store resume each other's runs if they have
the same key file.
"""

import contextlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from cusal._files import cache_folder

MAGIC = b"cusal-signed-1\n"
LENGTH = 32  # bytes, of the key and of a signature


def signed(run_id: str, state: bytes) -> bytes:
    """Return a checkpoint as it is stored; where no key can be kept it is not signed, and its run cannot resume."""
    key = _key()
    return state if key is None else MAGIC + _signature(key, run_id, state) + state


def verified(run_id: str, stored: bytes | None, *, trusted: bool = False) -> bytes | None:
    """Return a stored checkpoint if this user wrote it for this run, or if it is to be trusted anyway; else None."""
    if stored is None:
        return None
    start = len(MAGIC) + LENGTH
    is_signed = stored.startswith(MAGIC)
    state = stored[start:] if is_signed else stored
    if trusted:
        return state
    key = _key() if is_signed else None
    if key is None or not hmac.compare_digest(stored[len(MAGIC) : start], _signature(key, run_id, state)):
        return None
    return state


def _signature(key: bytes, run_id: str, state: bytes) -> bytes:
    return hmac.digest(key, run_id.encode() + b"\0" + state, "sha256")


def _key() -> bytes | None:
    path = cache_folder() / f"checkpoints-{_user()}.key"
    try:
        if not path.exists():
            _make(path)
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            # A key that others can read is none: they could sign with it.
            if found.st_uid != _user() or stat.S_IMODE(found.st_mode) & 0o077:
                return None
            key = file.read(LENGTH)
    except OSError:
        return None
    return key if len(key) == LENGTH else None


def _make(path: Path) -> None:
    """Write a new key, unless another process does so first: whoever links it in first wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(LENGTH))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
