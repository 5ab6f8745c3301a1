r"""A hook of mkdocs: formulas become MathML when the site is built, which browsers show without a script.

`$b$` inside a line and `$$...$$` in a paragraph of its own are LaTeX, as on GitHub.
"""

import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of dollars: \(...\) in a span, \[...\] in a div.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Return the page with every formula as MathML."""
    return FORMULA.sub(as_mathml, content)


def as_mathml(match: re.Match[str]) -> str:
    """Return one formula as MathML, displayed by itself if it stood in a paragraph of its own."""
    display = "block" if match[2] == "[" else "inline"
    formula = convert(html.unescape(match[3]).strip(), display=display)
    return f'<div class="formula">{formula}</div>' if display == "block" else formula
