"""A report as one HTML page that needs nothing else: no network, no script, no second file.

The style sheet alone switches strategies on and off: each has a check box before all else, and hides what belongs to it
in the elements that follow. Every legend holds labels of the same boxes.
"""

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from cusal import __version__
from cusal.apps.bench.report.exhibits import Exhibit
from cusal.apps.bench.report.marks import SWATCH, swatch
from cusal.apps.bench.report.outline import INTRODUCTION, Section, listed, told
from cusal.apps.bench.report.plot import Plot, in_page_colours, inline_svgs
from cusal.apps.bench.report.styles import Style, Styles, palette
from cusal.apps.bench.report.tables import Cell, Table

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
$style
</style>
</head>
<body>
<form autocomplete="off">
$boxes
<header>
<h1>$title</h1>
<p>$introduction</p>
</header>
<nav aria-label="Contents">
$contents
</nav>
$switches
<main>
$sections
</main>
<footer>Made by cusal $version.</footer>
</form>
</body>
</html>
""")
MANY = 4  # columns; a table of more folds on a narrow screen


def write_page(
    sections: Sequence[Section],
    looks: Styles,
    path: Path,
    *,
    title: str,
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write the page to `path`."""
    text = _PAGE.substitute(
        title=escape(title),
        style=_style(looks),
        introduction=escape(INTRODUCTION),
        contents=_contents(sections),
        boxes="\n".join(
            f'<input type="checkbox" id="show-{look.number}" aria-label="show {escape(strategy)}" checked>'
            for strategy, look in looks.items()
        ),
        switches=_switches(looks),
        sections="\n".join(
            _section(section, looks, f"e{i}") for i, section in enumerate(told(sections, "page", tell), start=1)
        ),
        version=__version__,
    )
    path.write_text(text, encoding="utf-8")
    return path


def _style(looks: Styles) -> str:
    light = "".join(f"--c{colour[1:]}:{colour};" for colour, _ in palette())
    dark = "".join(f"--c{colour[1:]}:{other};" for colour, other in palette())
    rules = [f":root{{{light}}}", f"@media (prefers-color-scheme: dark){{:root{{{dark}}}}}"]
    for number in (look.number for look in looks.values()):
        box = f"#show-{number}"
        rules.append(f"{box}:not(:checked)~* :is(.s{number},.p{number},.r{number}){{display:none}}")
        rules.append(f"{box}:not(:checked)~* .k{number}{{opacity:.45;text-decoration:line-through}}")
        rules.append(f"{box}:focus-visible~.switches .k{number}{{outline:2px solid var(--accent)}}")
        # Pointing at a strategy in the legend fades the others in that figure.
        rules.append(f"{box}:checked~* figure:has(.k{number}:hover) .series:not(.s{number}){{opacity:.07}}")
    sheet = files("cusal.apps.bench.report").joinpath("page.css").read_text(encoding="utf-8")
    return sheet + "\n".join(rules)


def _switches(looks: Styles) -> str:
    """Return a label for the check box of each strategy; a form's reset checks them all again, without a script."""
    if len(looks) < 2:
        return ""
    entries = "".join(_entry(strategy, look) for strategy, look in looks.items())
    return (
        '<aside class="switches" aria-label="Strategies shown"><p>Press a strategy, here or in a legend, to hide or '
        f'show it. <button type="reset">Show all</button></p><ul class="legend">{entries}</ul></aside>'
    )


def _contents(sections: Sequence[Section]) -> str:
    items = []
    for i, section in enumerate(sections, start=1):
        names = [(exhibit.name, exhibit.title) for exhibit in section.exhibits]
        names += [("settings", "Settings")] if section.settings else []
        names += [("unfinished", "Runs that are not finished")] if section.unfinished else []
        links = "".join(f'<li><a href="#e{i}-{name}">{escape(title)}</a></li>' for name, title in names)
        items.append(f'<li><a href="#e{i}">{escape(section.title)}</a><ul>{links}</ul></li>')
    return f"<ul>{''.join(items)}</ul>"


def _section(section: Section, looks: Styles, anchor: str) -> str:
    heads = "".join(
        f'<div class="tile"><span>{escape(head.title)}</span><strong>{escape(head.strategy)}</strong>'
        f"<b>{escape(head.value)}</b><small>{escape(head.remark)}</small></div>"
        for head in section.headlines
    )
    content = [
        f'<section id="{anchor}"><h2>{escape(section.title)}</h2>',
        f'<p class="about">{escape(section.about)}</p>' if section.about else "",
        f"<p>{_unbroken(section.facts)}</p>",
        f'<div class="tiles">{heads}</div>' if heads else "",
        *(_exhibit(exhibit, looks, anchor) for exhibit in section.exhibits),
        _settings(section, anchor),
        _unfinished(section, anchor),
        "</section>",
    ]
    return "\n".join(text for text in content if text)


def _exhibit(exhibit: Exhibit, looks: Styles, anchor: str) -> str:
    content = [f'<h3 id="{anchor}-{exhibit.name}">{escape(exhibit.title)}</h3>']
    if exhibit.plot is not None:
        content.append(_figure(exhibit.plot))
    if exhibit.tables:
        content.append(f'<div class="tables">{"".join(_table(table, looks) for table in exhibit.tables)}</div>')
        content += [
            f'<p class="note">{escape(note)}</p>' for note in dict.fromkeys(table.note for table in exhibit.tables)
        ]
    return "\n".join(content)


def _figure(plot: Plot) -> str:
    one = ' class="one"' if len(plot.panels) == 1 else ""
    least = round(plot.size[0] * 58)
    panels = "".join(
        f"<div{_class('p', panel.about)}>{svg}</div>" for panel, svg in zip(plot.panels, inline_svgs(plot), strict=True)
    )
    legend = f'<ul class="legend">{"".join(_entry(*entry) for entry in plot.legend)}</ul>' if plot.legend else ""
    return (
        f"<figure{one}>{legend}"
        f'<div class="panels" style="--least:{least}px;--columns:{plot.columns}">{panels}</div>'
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
    )


def _entry(label: str, look: Style) -> str:
    """Return a line of a legend; for a strategy, a label of its check box."""
    words = f"{_swatch(look)}{escape(label)}"
    if look.number is None:
        return f"<li>{words}</li>"
    return f'<li{_class("k", look)}><label for="show-{look.number}">{words}</label></li>'


def _class(letter: str, look: Style | None) -> str:
    return "" if look is None or look.number is None else f' class="{letter}{look.number}"'


def _swatch(look: Style) -> str:
    width, height = SWATCH if look.width else (SWATCH[1], SWATCH[1])
    area = "" if look.width else " area"
    box = f'viewBox="0 0 {width} {height}" aria-hidden="true"'
    return f'<svg class="swatch{area}" {box}>{in_page_colours(swatch(look))}</svg>'


def _table(table: Table, looks: Styles) -> str:
    columns = "".join(f'<th scope="col">{_unbroken(column).replace(", ", ",<br>")}</th>' for column in table.columns)
    rows = []
    for label, cells in table.rows:
        look = looks.get(label) or looks.get(label.rpartition(": ")[0])  # also the rows of a part of a strategy
        numbers = "".join(
            f'<td data-of="{escape(column)}">{_cell(cell)}</td>'
            for column, cell in zip(table.columns, cells, strict=True)
        )
        shown = _swatch(look) if label in looks and look is not None else ""
        rows.append(f'<tr{_class("r", look)}><th scope="row">{shown}{_breakable(label)}</th>{numbers}</tr>')
    folds = ' class="folds"' if len(table.columns) > MANY else ""
    return (
        f'<div class="table"><h4>{escape(table.title)}</h4><p>{escape(table.caption)}</p>'
        f'<div class="scroll"><table{folds}><thead><tr><th scope="col">{escape(table.head)}</th>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _breakable(name: str) -> str:
    """Escape a name and let it break after an underscore, where a column is narrow."""
    return escape(name).replace("_", "_<wbr>")


def _unbroken(text: str) -> str:
    """Escape text and keep `t = 10` on one line."""
    return escape(text).replace(" = ", "&nbsp;=&nbsp;")


def _cell(cell: Cell) -> str:
    text = f"<b>{escape(cell.text)}</b>" if cell.bold else escape(cell.text)
    spread = f" <small>± {escape(cell.spread)}</small>" if cell.spread else ""
    return text + spread + (f" <small>({escape(cell.note)})</small>" if cell.note else "")


def _settings(section: Section, anchor: str) -> str:
    if not section.settings:
        return ""
    pairs = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in section.settings.items()
    )
    own = "".join(
        f"<li><strong>{escape(strategy)}</strong>: {escape(listed(values))}</li>"
        for strategy, values in section.own_settings.items()
    )
    return f'<h3 id="{anchor}-settings">Settings</h3><dl>{pairs}</dl>' + (f"<ul>{own}</ul>" if own else "")


def _unfinished(section: Section, anchor: str) -> str:
    if not section.unfinished:
        return ""
    items = []
    for strategy, seed, progress, traceback in section.unfinished:
        lines = traceback.strip().splitlines()
        reason = (
            f"<details><summary>{escape(lines[-1])}</summary><pre>{escape(traceback)}</pre></details>" if lines else ""
        )
        items.append(f"<li><strong>{escape(strategy)}</strong>, seed {escape(seed)}: {escape(progress)}{reason}</li>")
    words = "Their rounds are used as far as they go; start the same grid again to finish them."
    return f'<h3 id="{anchor}-unfinished">Runs that are not finished</h3><p>{words}</p><ul>{"".join(items)}</ul>'
