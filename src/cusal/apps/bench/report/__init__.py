"""Stored runs as tables, tests and figures: one self-contained HTML page, Markdown, LaTeX and CSV.

store -> from_store.load -> Curves (plain arrays) -> sections (tables, figures) -> webpage, markdown, latex, numbers
simulate -> Curves.of_rounds ---^
"""

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from cusal._files import whole_file, whole_files
from cusal.apps.bench.report.curves import Curve, Curves
from cusal.apps.bench.report.tables import text_table
from cusal.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from cusal.apps.bench.store import Store

__all__ = ["FORMATS", "Curve", "Curves", "page", "text_table", "write", "write_curves"]

FORMATS = ("html", "md", "tex", "csv")


def write(
    store: "Store",
    out: str | PathLike[str],
    formats: Iterable[str] = FORMATS,
    *,
    tell: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the report of every experiment in a store into a folder.

    Parameters
    ----------
    store : Store
        The runs, finished or not.
    out : path
        The folder, created if need be.
    formats : iterable of str
        Any of "html" (`report.html`, self-contained), "md" (`report.md` and `figures/`), "tex" (`report.tex`) and
        "csv" (`numbers.csv`).
    tell : callable, optional
        Called with a line of text from time to time; a large store takes minutes.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    StoreError
        If the store holds no runs.
    UnknownName
        For a format that there is none of.
    InvalidInput
        If `out` is a file.
    DataError
        If the folder cannot be written. The report that was there before is then as it was.

    Examples
    --------
    >>> from cusal.apps.bench.store import Store
    >>> write(Store("runs.db"), "report", ["html"])  # doctest: +SKIP
    [PosixPath('report/report.html')]
    """
    from cusal.apps.bench.report.from_store import load  # the store needs SQLAlchemy, reports of simulations do not

    if tell:
        tell("reading the store")
    return write_curves(load(store), out, formats, tell=tell)


def write_curves(
    experiments: Iterable[Curves],
    out: str | PathLike[str],
    formats: Iterable[str] = FORMATS,
    *,
    tell: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the report of some curves into a folder.

    Parameters
    ----------
    experiments : iterable of Curves
        One for each experiment.
    out, formats, tell
        As in `write`.

    Returns
    -------
    list of Path
        The files written.
    """
    from cusal.apps.bench.report.latex import write_latex
    from cusal.apps.bench.report.markdown import write_markdown
    from cusal.apps.bench.report.numbers import write_csv
    from cusal.apps.bench.report.outline import report_title, sections
    from cusal.apps.bench.report.shown_names import as_shown
    from cusal.apps.bench.report.webpage import write_page

    formats, experiments, folder = list(formats), list(experiments), Path(out)
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("report format", name, FORMATS)
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; give the folder that the report is to be written to.")
    safe = as_shown(experiments)
    shown, looks = sections(safe)
    title = report_title(safe)
    written: list[Path] = []
    with whole_files(folder) as part:  # all of the report or nothing: a full disk leaves the one from before
        if "html" in formats:
            written.append(write_page(shown, looks, part / "report.html", title=title, tell=tell))
        if "md" in formats:
            written += write_markdown(shown, part, title=title, tell=tell)
        if "tex" in formats:
            written += write_latex(shown, part, title=title)
        if "csv" in formats:
            written += write_csv(experiments, part)
    return [folder / path.relative_to(part) for path in written]


def page(experiments: Iterable[Curves] | Curves, path: str | PathLike[str], *, title: str | None = None) -> Path:
    """Write some curves as one self-contained HTML page.

    Parameters
    ----------
    experiments : Curves or iterable of Curves
        What the page shows.
    path : path
        The file.
    title : str, optional
        The heading of the page; by default that of the grid.

    Returns
    -------
    Path
        The file.
    """
    from cusal.apps.bench.report.outline import report_title, sections
    from cusal.apps.bench.report.shown_names import as_shown
    from cusal.apps.bench.report.webpage import write_page

    listed = as_shown([experiments] if isinstance(experiments, Curves) else experiments)
    shown, looks = sections(listed)
    with whole_file(path) as part:
        write_page(shown, looks, part, title=title or report_title(listed))
    return Path(path)
