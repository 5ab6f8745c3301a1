"""Cells of CSV files that no spreadsheet takes for a formula.

Excel and LibreOffice compute a cell that begins with one of = + - @ (wide forms too), or with a tab or a line break
before it. Such texts are written with an apostrophe in front, which `plain_cell` takes away again. A text that has
apostrophes there already gets one more, so that every text comes back as it was. A number stays one: -5 is no formula.
"""

import re

_DANGEROUS = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def safe_cell(text: str) -> str:
    """Return a text as it is written into a CSV file.

    >>> safe_cell("=SUM(A1)"), safe_cell("'=x"), safe_cell("cat"), safe_cell("'tis"), safe_cell("-1.5e3")
    ("'=SUM(A1)", "''=x", 'cat', "'tis", '-1.5e3')
    """
    return f"'{text}" if _DANGEROUS.match(text) and not _NUMBER.fullmatch(text) else text


def plain_cell(text: str) -> str:
    """Return the text that `safe_cell` made a cell of.

    >>> plain_cell("'=SUM(A1)"), plain_cell("''=x"), plain_cell("cat"), plain_cell("'tis")
    ('=SUM(A1)', "'=x", 'cat', "'tis")
    """
    return text[1:] if _ESCAPED.match(text) else text
