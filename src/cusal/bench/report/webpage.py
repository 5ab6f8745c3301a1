"""A report as one HTML page that needs nothing else: no network, no script, no second file."""

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from cusal._version import __version__
from cusal.bench.report.exhibits import Exhibit
from cusal.bench.report.outline import INTRODUCTION, Section, listed, told
from cusal.bench.report.plot import Plot, inline_svgs
from cusal.bench.report.styles import Style, Styles, palette
from cusal.bench.report.tables import Cell, Table

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
<header>
<h1>$title</h1>
<p>$introduction</p>
</header>
<nav aria-label="Contents">
$contents
</nav>
<main>
$sections
</main>
<footer>Made by cusal $version.</footer>
</body>
</html>
""")
_MARKERS = {  # in a box from -1 to 1, upwards
    "s": "-.85,-.85 .85,-.85 .85,.85 -.85,.85",
    "D": "0,-1.1 1.1,0 0,1.1 -1.1,0",
    "d": "0,-1.2 .75,0 0,1.2 -.75,0",
    "^": "0,-1 1,.9 -1,.9",
    "v": "0,1 1,-.9 -1,-.9",
    "<": "-1,0 .9,-1 .9,1",
    ">": "1,0 -.9,-1 -.9,1",
    "P": "-.4,-1.1 .4,-1.1 .4,-.4 1.1,-.4 1.1,.4 .4,.4 .4,1.1 -.4,1.1 -.4,.4 -1.1,.4 -1.1,-.4 -.4,-.4",
    "X": "-1,-.5 -.5,-1 0,-.5 .5,-1 1,-.5 .5,0 1,.5 .5,1 0,.5 -.5,1 -1,.5 -.5,0",
    "h": "0,-1.1 .95,-.55 .95,.55 0,1.1 -.95,.55 -.95,-.55",
}


def write_page(
    sections: Sequence[Section],
    looks: Styles,
    path: Path,
    *,
    title: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write the page to `path`."""
    text = _PAGE.substitute(
        title=escape(title or "Active learning report"),
        style=_style(looks),
        introduction=escape(INTRODUCTION),
        contents=_contents(sections),
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
    # Pointing at a strategy in the legend fades the others in that figure.
    rules += [
        f"figure:has(.k{look.number}:hover) .series:not(.s{look.number}){{opacity:.07}}" for look in looks.values()
    ]
    sheet = files("cusal.bench.report").joinpath("page.css").read_text(encoding="utf-8")
    return sheet + "\n".join(rules)


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
        content.append(_figure(exhibit.plot, f"{anchor}-{exhibit.plot.name}"))
    if exhibit.tables:
        content.append(f'<div class="tables">{"".join(_table(table, looks) for table in exhibit.tables)}</div>')
        content += [
            f'<p class="note">{escape(note)}</p>' for note in dict.fromkeys(table.note for table in exhibit.tables)
        ]
    return "\n".join(content)


def _figure(plot: Plot, prefix: str) -> str:
    legend = "".join(f'<li class="k{look.number}">{_swatch(look)}{escape(label)}</li>' for label, look in plot.legend)
    one = ' class="one"' if len(plot.panels) == 1 else ""
    least = round(plot.size[0] * 66)
    panels = "".join(f"<div>{svg}</div>" for svg in inline_svgs(plot, prefix))
    return (
        f"<figure{one}>"
        f'<ul class="legend">{legend}</ul>'
        f'<div class="panels" style="--least:{least}px;--columns:{plot.columns}">{panels}</div>'
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
    )


def _swatch(look: Style) -> str:
    colour = f"var(--c{look.colour[1:]})"
    if not look.width:
        square = f'<rect width="12" height="12" rx="2" fill="{colour}"/>'
        return f'<svg class="swatch area" viewBox="0 0 12 12" aria-hidden="true">{square}</svg>'
    dash = f' stroke-dasharray="{" ".join(f"{length * look.width:g}" for length in look.dash)}"' if look.dash else ""
    line = f'<path d="M-16 0H16" stroke="{colour}" stroke-width="{look.width}"{dash}/>'
    mark = (
        '<circle r="3.6"/>'
        if look.marker == "o"
        else f'<polygon points="{_MARKERS[look.marker]}" transform="scale(3.6)"/>'
    )
    return f'<svg class="swatch" viewBox="-16 -6 32 12" aria-hidden="true" fill="{colour}">{line}{mark}</svg>'


def _table(table: Table, looks: Styles) -> str:
    columns = "".join(f'<th scope="col">{_unbroken(column).replace(", ", ",<br>")}</th>' for column in table.columns)
    rows = []
    for label, cells in table.rows:
        swatch = _swatch(looks[label]) if label in looks else ""
        numbers = "".join(f"<td>{_cell(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{swatch}{escape(label)}</th>{numbers}</tr>')
    return (
        f'<div class="table"><h4>{escape(table.title)}</h4><p>{escape(table.caption)}</p>'
        f'<div class="scroll"><table><thead><tr><th scope="col">{escape(table.head)}</th>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></div>"
    )


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
