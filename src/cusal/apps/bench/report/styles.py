"""How each strategy looks: the same colour, dash and marker in every figure, table and legend of a report.

Colours keep apart for the common kinds of colour blindness and reach a contrast of 3 with the page, in light and in
dark; dash and marker tell strategies apart without any colour.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# (light, dark): the page's style sheet switches between them.
_ACCENT = ("#c53d00", "#ff7a3d")
_NEUTRAL = ("#6b7280", "#9aa3ad")
_COLOURS = (
    ("#0058c4", "#5b82ff"),
    ("#0f6b4a", "#2fd68c"),
    ("#b81fa5", "#e596f5"),
    ("#bb8e00", "#f5e14a"),
    ("#3f95ec", "#bff0ff"),
    ("#4a1942", "#c2506e"),
    ("#00a3a3", "#45d6d6"),
    ("#7a4f1d", "#d9a066"),
)
_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.6), (6, 1.5, 1.2, 1.5), (1.3, 1.3), (8, 1.5, 1.2, 1.5, 1.2, 1.5))
_MARKERS = "osD^vPX<>hd"
INK = ("#1f2933", "#e6e9ed")
GRID = ("#d5dae0", "#39424d")
PAPER = ("#ffffff", "#171c22")


@dataclass(frozen=True)
class Style:
    """Colours for light and dark, the dash pattern in line widths (empty is solid), and the marker.

    number: of a strategy, by which the page finds all that belongs to it; None for what is no strategy. A width of 0 is
    an area, not a line.
    """

    number: int | None
    colour: str
    dark: str
    dash: tuple[float, ...]
    marker: str
    width: float = 1.6


Styles = Mapping[str, Style]  # by strategy


def styles(strategies: Iterable[str]) -> dict[str, Style]:
    """Return the look of each strategy: `random` is grey and dotted, `cusal` strong; the others follow in order.

    >>> styles(["random", "margin"])["margin"].dash
    ()
    """
    given: dict[str, Style] = {}
    others = 0
    for number, strategy in enumerate(dict.fromkeys(strategies)):
        if strategy == "random":
            given[strategy] = Style(number, *_NEUTRAL, dash=(1.3, 1.3), marker="s")
        elif strategy == "cusal":
            given[strategy] = Style(number, *_ACCENT, dash=(), marker="o", width=2.4)
        else:
            light, dark = _COLOURS[others % len(_COLOURS)]
            # The second time round the colours, each has another dash and marker.
            dash = _DASHES[(others + others // len(_COLOURS)) % len(_DASHES)]
            given[strategy] = Style(number, light, dark, dash, _MARKERS[2 + others % (len(_MARKERS) - 2)])
            others += 1
    return given


def fixed(number: int, *, dash: tuple[float, ...] = (), marker: str = "s", width: float = 0) -> Style:
    """Return the look of something that is no strategy, such as a phase, by its number."""
    light, dark = (_COLOURS[0], _ACCENT, _COLOURS[1], _NEUTRAL)[number]
    return Style(None, light, dark, dash, marker, width)


def faint(width: float = 0.7) -> Style:
    """Return the look of what stands in the background."""
    return Style(None, *_NEUTRAL, dash=(), marker="o", width=width)


def palette() -> list[tuple[str, str]]:
    """Return every colour that figures use, for light and for dark."""
    return [INK, GRID, PAPER, _ACCENT, _NEUTRAL, *_COLOURS]
