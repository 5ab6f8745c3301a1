"""A figure as panels that are drawn on axes: each alone for a page, all together for a file."""

import html
import io
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cusal.bench.report.styles import GRID, INK, PAPER, Style, palette
from cusal.errors import MissingExtra

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise MissingExtra("a report", "bench") from error

Draw = Callable[[Axes], None]
_LOOK: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small files that can be searched, in the reader's own font
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9.5,
    "text.color": INK[0],
    "axes.labelcolor": INK[0],
    "axes.titlecolor": INK[0],
    "axes.edgecolor": INK[0],
    "xtick.color": INK[0],
    "ytick.color": INK[0],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID[0],
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "text.parse_math": False,  # a $ in a name is one
}


@dataclass(frozen=True)
class Panel:
    """One pair of axes: its title and how it is drawn."""

    title: str
    draw: Draw


@dataclass(frozen=True)
class Plot:
    """A figure: panels, a caption that explains them, and what the lines and markers stand for.

    size: width and height of one panel in inches. columns: how many panels stand side by side in one file.
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, Style], ...] = ()
    size: tuple[float, float] = (4.6, 3.3)
    columns: int = 2


def inline_svgs(plot: Plot, prefix: str) -> list[str]:
    """Return each panel as an SVG element for a page: colours are CSS variables, and ids are unique by `prefix`."""
    return [_inline(_single(panel, plot.size), f"{prefix}-{i}", panel.title) for i, panel in enumerate(plot.panels)]


def save(plot: Plot, path: Path) -> None:
    """Write all panels and the legend as one SVG file on white."""
    columns = min(plot.columns, len(plot.panels))
    rows = -(-len(plot.panels) // columns)
    width, height = plot.size
    widest = max((0.7 + 0.08 * len(label) for label, _ in plot.legend), default=1.0)  # inches, handle included
    legend_columns = max(1, min(len(plot.legend), int(columns * width / widest)))
    legend_rows = -(-len(plot.legend) // legend_columns) if plot.legend else 0
    with mpl.rc_context(_LOOK):
        figure = Figure(figsize=(columns * width, rows * height + 0.27 * legend_rows + 0.05), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, ax in zip(plot.panels, axes, strict=False):
            _draw(panel, ax, width)
        for ax in axes[len(plot.panels) :]:
            ax.set_axis_off()
        if plot.legend:
            handles = [_handle(style, label) for label, style in plot.legend]
            figure.legend(
                handles=handles, loc="outside lower center", ncols=legend_columns, frameon=False, handlelength=3
            )
        path.write_text(_svg(figure, transparent=False), encoding="utf-8")


def dashes(style: Style) -> Any:
    """Return a style's dash pattern as matplotlib takes it."""
    return (0, style.dash) if style.dash else "solid"


def whole_ticks(ax: Axes, most: int) -> None:
    """Put at most so many ticks on the horizontal axis, at whole numbers."""
    ax.xaxis.set_major_locator(MaxNLocator(most, integer=True))


def _handle(style: Style, label: str) -> Line2D:
    line: dict[str, Any] = {
        "color": style.colour,
        "linestyle": dashes(style) if style.width else "none",
        "linewidth": style.width,
    }
    return Line2D([], [], marker=style.marker, markersize=5 if style.width else 8, label=label, **line)


def _draw(panel: Panel, ax: Axes, width: float) -> None:
    letters = int(8 * width)  # that fit above a panel so many inches wide
    ax.set_title(textwrap.fill(panel.title, letters), loc="left")
    panel.draw(ax)


def _single(panel: Panel, size: tuple[float, float]) -> str:
    with mpl.rc_context(_LOOK):
        figure = Figure(figsize=size, layout="constrained")
        _draw(panel, figure.subplots(), size[0])
        return _svg(figure, transparent=True)


def _svg(figure: Figure, *, transparent: bool) -> str:
    text = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    # One salt for all: the same data give the same file.
    with mpl.rc_context({"svg.hashsalt": "cusal"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # only measured here; the reader's font draws it
        figure.savefig(text, format="svg", metadata=nothing, transparent=transparent, facecolor=PAPER[0])
    return text.getvalue()


def _inline(svg: str, prefix: str, title: str) -> str:
    """Turn an SVG file into an element of a page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'\s(width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'id="series-(\d+)[^"]*"', r'class="series s\1"', svg)
    svg = re.sub(
        r'id="(?:figure|axes|patch|line2d|text|matplotlib\.axis|xtick|ytick|\w+Collection|legend)_[^"]*"', "", svg
    )
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", svg)
    for light, _ in palette():
        svg = svg.replace(light, f"var(--c{light[1:]})")
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{html.escape(title)}"', 1).strip()
