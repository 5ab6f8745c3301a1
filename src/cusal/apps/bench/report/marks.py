"""Markers and swatches as SVG: the same shapes in figures, tables and legends."""

from cusal.apps.bench.report.styles import Style

_SHAPES = {  # in a box from -1 to 1, downwards
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
SWATCH = (34, 12)  # width and height


def marker(look: Style, x: float, y: float, radius: float, *, hollow: bool = False) -> str:
    """Return the marker of a style at a place; a hollow one is drawn by its outline."""
    ink = f'fill="none" stroke="{look.colour}" stroke-width="1.3"' if hollow else f'fill="{look.colour}"'
    if look.marker == "o":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {ink}/>'
    corners = (pair.split(",") for pair in _SHAPES[look.marker].split())
    points = " ".join(f"{x + float(a) * radius:.1f},{y + float(b) * radius:.1f}" for a, b in corners)
    return f'<polygon points="{points}" {ink}/>'


def stroke(look: Style) -> str:
    """Return the attributes of a line in a style."""
    dash = f' stroke-dasharray="{" ".join(f"{part * look.width:.1f}" for part in look.dash)}"' if look.dash else ""
    return f'fill="none" stroke="{look.colour}" stroke-width="{look.width}" stroke-linejoin="round"{dash}'


def swatch(look: Style) -> str:
    """Return what stands for a style in a legend: a line with its marker, or a square for an area."""
    width, height = SWATCH
    if not look.width:
        return f'<rect width="{height}" height="{height}" rx="2" fill="{look.colour}"/>'
    line = f'<path d="M1 {height / 2}H{width - 1}" {stroke(look)}/>'
    return line + marker(look, width / 2, height / 2, 3.6)
