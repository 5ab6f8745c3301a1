"""What people may type: names and texts that every database takes and every page can show."""

import re

from cusal.errors import CusalError, ProjectError


def in_one_line(error: BaseException) -> str:
    """Return an error as one plain line; those that are not cusal's have their name before it."""
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, CusalError) and text else f"{type(error).__name__}: {text}".rstrip(": ")


IMPORTED = "import"  # the person who answered what came with the data
LONGEST_NAME = 200
LONGEST_TEXT = 5_000


def fault(value: object, *, longest: int = LONGEST_NAME, empty: bool = False) -> str | None:
    """Return what is wrong with a name or text, or None if nothing is."""
    if not isinstance(value, str):
        return f"is {type(value).__name__}, not text"
    if not empty and not value.strip():
        return "is empty"
    if len(value) > longest:
        return f"has {len(value)} letters, more than {longest}"
    if "\0" in value or not is_unicode(value):
        return "holds a character that cannot be stored"
    return None


def checked(what: str, value: str, *, longest: int = LONGEST_NAME, empty: bool = False) -> str:
    """Return a name or text without white space around it; raise a ProjectError that says what is wrong with it."""
    reason = fault(value, longest=longest, empty=empty)
    if reason is not None:
        raise ProjectError(f"{what} {reason}; change it and try again.")
    return value.strip()


def person_fault(value: object) -> str | None:
    """Return what is wrong with the name of a person, or None if nothing is."""
    return "is that of labels which came with the data" if value == IMPORTED else fault(value)


def checked_person(value: str) -> str:
    """Return the name of a person as it was given; raise a ProjectError that says what is wrong with it."""
    reason = person_fault(value)
    if reason is not None:
        raise ProjectError(f"the name of the person {reason}; choose another.")
    return value


def checked_key(value: str) -> str | None:
    """Return a key of the keyboard, or None for an empty one."""
    if value and (len(value) != 1 or not value.isprintable() or value.isspace() or not is_unicode(value)):
        raise ProjectError(f"{value!r} is no key of the keyboard; give one letter, digit or sign.")
    return value.lower() or None


def checked_colour(value: str) -> str:
    """Return a colour as #rrggbb."""
    if not re.fullmatch("#[0-9a-fA-F]{6}", value):
        raise ProjectError(f"{value!r} is no colour; give one such as #3b6fd4.")
    return value.lower()


def is_unicode(value: str) -> bool:
    """Return whether a text can be written as UTF-8; file names that were not cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
