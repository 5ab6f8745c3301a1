"""Errors as the pages show them."""

from cusal.errors import CusalError


def in_one_line(error: BaseException) -> str:
    """Return an error as one plain line; those that are not cusal's have their name before it."""
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, CusalError) and text else f"{type(error).__name__}: {text}".rstrip(": ")
