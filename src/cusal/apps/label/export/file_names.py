"""Names of classes and images as names of folders and files that every system accepts.

What a file system forbids becomes an underscore: slashes, the signs that Windows reserves, control characters, signs
that turn the direction of writing, dots and spaces at the ends. Names of Windows' devices get an underscore more, and
long names are cut.
"""

import re
import unicodedata

MOST_BYTES = 120  # of a name in UTF-8; file systems allow 255, and paths on Windows 260 letters in all
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE)


def safe_name(name: str) -> str:
    """Return a name that can be that of a folder or file on any system.

    >>> [safe_name(name) for name in ("cat", "../x", "CON", "a/b", "nul.txt", " . ")]
    ['cat', '_x', 'CON_', 'a_b', 'nul_.txt', '_']
    """
    plain = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip(". ")
    stem, dot, rest = plain.partition(".")
    if _DEVICE.fullmatch(stem.strip()):
        plain = f"{stem}_{dot}{rest}"
    return _cut(plain, MOST_BYTES).rstrip(". ") or "_"


class UniqueNames:
    """Safe names, each of them once, also where a file system does not tell small letters from capitals.

    >>> names = UniqueNames()
    >>> names.take("a/b"), names.take("a?b"), names.take("A_B", suffix=".png")
    ('a_b', 'a_b (2)', 'A_B.png')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str, suffix: str = "") -> str:
        """Return a safe name that was not taken before, with a number where that is needed."""
        stem = safe_name(name)
        number, unique = 1, f"{stem}{suffix}"
        while unique.casefold() in self._taken:
            number += 1
            unique = f"{stem} ({number}){suffix}"
        self._taken.add(unique.casefold())
        return unique


def _cut(text: str, most: int) -> str:
    """Return the longest beginning of a text that has at most so many bytes."""
    return text.encode("utf-8")[:most].decode("utf-8", "ignore")
