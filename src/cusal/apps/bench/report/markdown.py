"""A report as Markdown, with its figures as SVG files beside it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from cusal.apps.bench.report.exhibits import Exhibit
from cusal.apps.bench.report.outline import INTRODUCTION, Section, listed, told
from cusal.apps.bench.report.plot import save
from cusal.apps.bench.report.tables import Cell, Table

# Signs that Markdown, or what GitHub adds to it ($ is mathematics), takes for more than themselves.
_SIGNS = {"<": "&lt;", ">": "&gt;", "&": "&amp;", **{sign: f"\\{sign}" for sign in "\\|*_[]`$~#"}}


def write_markdown(
    sections: Sequence[Section], out: Path, *, title: str, tell: Callable[[str], None] | None = None
) -> list[Path]:
    """Write `report.md` and `figures/*.svg` into the folder."""
    (out / "figures").mkdir(exist_ok=True)
    written = []
    lines = [f"# {_escape(title)}", "", INTRODUCTION, ""]
    for number, section in enumerate(told(sections, "figures", tell), start=1):
        lines += [f"## {_escape(section.title)}", ""]
        for text in (section.about, section.facts):
            lines += [_escape(text), ""] if text else []
        for head in section.headlines:
            lines.append(f"- {head.title}: **{_escape(head.strategy)}**, {head.value} ({head.remark})")
        lines.append("")
        for exhibit in section.exhibits:
            lines += [f"### {_escape(exhibit.title)}", ""]
            if exhibit.plot is not None:
                path = out / "figures" / f"{number}-{exhibit.plot.name}.svg"
                save(exhibit.plot, path)
                written.append(path)
                lines += [f"![{_escape(exhibit.title)}](figures/{path.name})", "", exhibit.plot.caption, ""]
            lines += _tables(exhibit)
        lines += _ending(section)
    path = out / "report.md"
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return [path, *written]


def _tables(exhibit: Exhibit) -> list[str]:
    lines = []
    for table in exhibit.tables:
        lines += [f"**{_escape(table.title)}.** {table.caption}", "", *table_lines(table), ""]
    lines += [line for note in dict.fromkeys(table.note for table in exhibit.tables) for line in (note, "")]
    return lines


def table_lines(table: Table) -> list[str]:
    """Return a table as lines of Markdown, without its title."""
    rows = [[table.head, *map(_head, table.columns)], ["---", *("---:" for _ in table.columns)]]
    rows += [[_escape(label), *(_cell(cell) for cell in cells)] for label, cells in table.rows]
    return [f"| {' | '.join(row)} |" for row in rows]


def _cell(cell: Cell) -> str:
    text = f"{cell.text} ± {cell.spread}" if cell.spread else cell.text
    return (f"**{text}**" if cell.bold else text) + (f" ({cell.note})" if cell.note else "")


def _ending(section: Section) -> list[str]:
    lines = []
    if section.settings:
        lines += ["### Settings", "", "| Setting | Value |", "| --- | --- |"]
        lines += [f"| {_escape(name)} | {_escape(value)} |" for name, value in section.settings.items()]
        lines.append("")
        for strategy, own in section.own_settings.items():
            lines.append(f"- {_escape(strategy)}: {_escape(listed(own))}")
        lines.append("")
    if section.unfinished:
        lines += ["### Runs that are not finished", ""]
        for strategy, seed, progress, traceback in section.unfinished:
            reason = traceback.strip().splitlines()[-1:]
            why = f": {_escape(reason[0])}" if reason else ""
            lines.append(f"- {_escape(strategy)}, seed {seed}: {progress}{why}")
        lines.append("")
    return lines


def _head(text: str) -> str:
    """Escape the title of a column; an underscore within a word, as names of settings have, is one in Markdown too."""
    return _escape(text).replace("\\_", "_")


def _escape(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)
