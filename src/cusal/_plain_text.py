"""Names as a terminal, a page or a figure can show them, whatever letters they hold."""

import hashlib
import re
import unicodedata

# Signs that turn the direction of a text, so that a name reads as another, and those that XML does not have.
_HIDDEN = re.compile("[\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff\x7f-\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")


def visible(text: str) -> str:
    """Return a text whose control characters are seen and have no effect; ends of lines and tabs stay.

    >>> visible("a\\x00b\\x1b[31m")
    'a␀b␛[31m'
    """
    return _HIDDEN.sub("\ufffd", _CONTROL.sub(lambda sign: chr(0x2400 + ord(sign[0])), text))


def one_line(text: str) -> str:
    """Return a text as one line, with control characters seen.

    >>> one_line("two\\n  lines")
    'two lines'
    """
    return visible(" ".join(text.split()))


def short_name(text: str, longest: int = 40) -> str:
    """Return a name as one line of so many letters at most; a longer one is cut in its middle, with a hash at its end.

    >>> short_name("margin"), len(short_name("x" * 500)), short_name("x" * 500) == short_name("x" * 501)
    ('margin', 40, False)
    """
    line = one_line(text)
    if len(line) <= longest:
        return line
    mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:6]
    start = line[: longest - 20]
    while start and unicodedata.combining(start[-1]):
        start = start[:-1]
    return f"{start}…{line[-11:]} #{mark}"
