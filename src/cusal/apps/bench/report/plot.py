"""A figure as panels: each alone for a page, all together for a file. Each is drawn once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from cusal.apps.bench.report.axes import POINTS, Axes
from cusal.apps.bench.report.marks import SWATCH, swatch
from cusal.apps.bench.report.styles import INK, PAPER, Style, palette

Draw = Callable[[Axes], None]
_LETTER, _FONT, _ROW = 6.4, 9.5, 19.0  # of a legend, in points
_FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Panel:
    """One pair of axes: its title, how it is drawn, and the strategy that it is about, if it is about one alone."""

    title: str
    draw: Draw
    about: Style | None = None


@dataclass(frozen=True)
class Plot:
    """A figure: panels, a caption that explains them, and what the lines and markers stand for.

    size: width and height of one panel in inches. columns: how many panels stand side by side.
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, Style], ...] = ()
    size: tuple[float, float] = (4.6, 3.3)
    columns: int = 2

    @cached_property
    def drawn(self) -> list[str]:
        """The panels as SVG elements, in points from the upper left corner of each."""
        drawings = []
        for panel in self.panels:
            axes = Axes(self.size, panel.title)
            panel.draw(axes)
            drawings.append(axes.svg())
        return drawings


def inline_svgs(plot: Plot) -> list[str]:
    """Return each panel as an SVG element for a page, its colours as variables of the style sheet."""
    box = f"0 0 {plot.size[0] * POINTS:g} {plot.size[1] * POINTS:g}"
    return [
        f'<svg role="img" aria-label="{escape(panel.title)}" viewBox="{box}">{in_page_colours(svg)}</svg>'
        for panel, svg in zip(plot.panels, plot.drawn, strict=True)
    ]


def in_page_colours(svg: str) -> str:
    """Return a drawing whose colours follow light and dark."""
    for light, _ in palette():
        svg = svg.replace(f'"{light}"', f'"var(--c{light[1:]})"')
    return svg


def save(plot: Plot, path: Path) -> None:
    """Write all panels and the legend as one SVG file on white."""
    columns = min(plot.columns, len(plot.panels))
    rows = -(-len(plot.panels) // columns)
    wide, high = plot.size[0] * POINTS, plot.size[1] * POINTS
    legend, legend_height = _legend(plot, columns * wide)
    width, height = columns * wide, rows * high + legend_height
    panels = (
        f'<g transform="translate({i % columns * wide:g} {i // columns * high:g})">{svg}</g>'
        for i, svg in enumerate(plot.drawn)
    )
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}pt" height="{height:g}pt" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{_FAMILY}">\n'
        f'<rect width="100%" height="100%" fill="{PAPER[0]}"/>\n'
        + "\n".join(panels)
        + f'\n<g transform="translate(0 {rows * high:g})">{legend}</g>\n</svg>\n',
        encoding="utf-8",
    )


def _legend(plot: Plot, width: float) -> tuple[str, float]:
    """Return the legend of a file, in as many columns as fit, and its height."""
    if not plot.legend:
        return "", 0.0
    widest = SWATCH[0] + 22 + _LETTER * max(len(label) for label, _ in plot.legend)
    columns = max(1, min(len(plot.legend), int(width / widest)))
    entries = (
        f'<g transform="translate({i % columns * widest + 8:g} {i // columns * _ROW + 4:g})">{swatch(look)}'
        f'<text x="{SWATCH[0] + 5}" y="10" font-size="{_FONT}" fill="{INK[0]}">{escape(label)}</text></g>'
        for i, (label, look) in enumerate(plot.legend)
    )
    return "".join(entries), -(-len(plot.legend) // columns) * _ROW + 6
