"""A report's tables as LaTeX; the document that takes them in needs the package booktabs."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from cusal.apps.bench.report.outline import Section
from cusal.apps.bench.report.tables import Cell, Table

_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "]": "{]}", "*": "{*}",  # which mean something at the start of a row
    "±": r"$\pm$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "\u2013": "--",
}  # fmt: skip


def write_latex(sections: Sequence[Section], out: Path, *, title: str) -> list[Path]:
    """Write `report.tex`, to be used with `\\input`, into the folder."""
    lines = [f"% {' '.join(title.split())}", "% Needs \\usepackage{booktabs}.", ""]
    for number, section in enumerate(sections, start=1):
        experiment = " ".join([f"{section.title} ({section.about})." if section.about else f"{section.title}."])
        for table in (table for exhibit in section.exhibits for table in exhibit.tables):
            lines += [*_table(table, experiment, f"tab:{number}-{table.name}"), ""]
    path = out / "report.tex"
    path.write_text("\n".join(lines), encoding="utf-8")
    return [path]


def _table(table: Table, experiment: str, label: str) -> list[str]:
    head = " & ".join(_escape(title) for title in (table.head, *table.columns))
    rows = [" & ".join([_escape(name), *(_cell(cell) for cell in cells)]) + r" \\" for name, cells in table.rows]
    return [
        r"\begin{table}[t]",
        r"  \centering",
        rf"  \caption{{{_escape(f'{experiment} {table.title}. {table.caption} {table.note}')}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"    \toprule",
        rf"    {head} \\",
        r"    \midrule",
        *(f"    {row}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{_escape(cell.text)}}}" if cell.bold else _escape(cell.text)
    spread = rf" {{\tiny $\pm$ {cell.spread}}}" if cell.spread else ""
    return text + spread + (rf" {{\tiny ({_escape(cell.note)})}}" if cell.note else "")


def _escape(text: str) -> str:
    return "".join(_SIGNS.get(sign) or _symbol(sign) for sign in text)


def _symbol(sign: str) -> str:
    """Return a letter as it is, and a symbol that no font of LaTeX has, such as an emoji, by its number."""
    known = sign.isascii() or unicodedata.category(sign)[0] in "LMNPZ"
    return sign if known else rf"\texttt{{U+{ord(sign):04X}}}"
