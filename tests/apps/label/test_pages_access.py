"""The pages can be read and used by everybody: contrast, names, focus, phone width, and no error in any console."""

import re
from itertools import product
from pathlib import Path

import pytest
from pages_browser import Server, text_project

import cusal

STATIC = Path(cusal.__file__).parent / "apps" / "label" / "pages" / "static"
TEMPLATES = STATIC.with_name("templates")
PAGES = ["/", "/progress", "/browse", "/classes", "/export"]

# Which colours of text stand on which grounds, and what has an edge that must be seen.
TEXT = [
    *product(["ink", "soft", "accent"], ["paper", "card", "sunk"]),
    *[("ink", "accent-soft"), ("soft", "accent-soft"), ("on-accent", "accent")],
    *[("good", "good-soft"), ("warn", "warn-soft"), ("bad", "bad-soft")],
    *product(["good", "warn", "bad"], ["card", "paper"]),
    ("warn", "accent-soft"),
]
EDGES = [*product(["edge", "accent"], ["card", "paper"])]


def themes():
    """Return the colours of the light and of the dark theme."""
    sheet = (STATIC / "theme.css").read_text()
    light, dark = sheet.split("prefers-color-scheme: dark", 1)
    read = lambda text: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", text))  # noqa: E731
    return {"light": read(light), "dark": read(light) | read(dark)}


def luminance(colour):
    """Return the relative luminance of WCAG 2.1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_highest_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_edges_have_enough_contrast(theme):
    colours = themes()[theme]
    weak = [(text, ground) for text, ground in TEXT if contrast(colours[text], colours[ground]) < 4.5]
    weak += [(edge, ground) for edge, ground in EDGES if contrast(colours[edge], colours[ground]) < 3]
    assert weak == []


def test_nothing_is_inline_and_nothing_comes_from_elsewhere():
    for path in [*TEMPLATES.glob("*.html"), *STATIC.glob("*.js"), *STATIC.glob("*.css")]:
        text = path.read_text()
        assert not re.search(r"""\sstyle=|\son[a-z]+="|<style|<script(?![^>]*\ssrc=)|innerHTML|eval\(""", text), (
            path.name
        )
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), path.name


def test_files_can_be_read_in_one_sitting():
    for path in [*TEMPLATES.glob("*.html"), *STATIC.glob("*.js"), *STATIC.glob("*.css")]:
        lines = path.read_text().splitlines()
        assert len(lines) <= 400, path.name
        assert [line for line in lines if len(line) > 120] == [], path.name


@pytest.fixture
def server(tmp_path, serve_project) -> Server:
    project = text_project(tmp_path / "letters.cusal.db", [f"Letter {row}" for row in range(40)], ["bill", "advert"])
    return serve_project(project)


# A control needs a name that a screen reader can say; ids are there once; pictures have a text; one h1.
NAMELESS = """() => {
    const named = (one) => one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.title
        || one.labels?.[0]?.textContent.trim() || one.textContent.trim();
    const seen = (one) => one.getClientRects().length > 0;
    const controls = [...document.querySelectorAll("button, input, select, textarea, a[href], [role=option]")];
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    return {
        nameless: controls.filter((one) => seen(one) && !named(one)).map((one) => one.outerHTML),
        doubled: ids.filter((id, place) => ids.indexOf(id) !== place),
        pictures: [...document.querySelectorAll("img:not([alt])")].map((one) => one.outerHTML),
        headings: document.querySelectorAll("h1").length,
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
}"""
CLEAN = {"nameless": [], "doubled": [], "pictures": [], "headings": 1, "wide": 0}


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_opens_without_error_and_every_control_has_a_name(server, new_context, width):
    page = new_context(color_scheme="dark").new_page()
    page.set_viewport_size({"width": width, "height": 800})
    for path in PAGES:
        page.goto(server.url + path)
        page.locator("html[data-ready]").wait_for()
        assert page.evaluate(NAMELESS) == CLEAN, path


@pytest.mark.slow
def test_focus_is_seen_and_goes_through_every_control(server, new_context):
    page = new_context().new_page()
    page.goto(server.url)
    page.wait_for_selector("#item[data-item]")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # all were reached
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", reached
    assert {"class-0", "class-1", "skip", "unsure", "undo", "guess-toggle", "help", "Browse"} <= set(reached)


@pytest.mark.slow
def test_what_was_done_is_said_to_screen_readers(server, new_context):
    page = new_context().new_page()
    page.goto(server.url)
    page.wait_for_selector("#item[data-item]")
    page.keyboard.press("1")
    assert page.locator("#spoken").text_content().startswith("bill. Next: Letter 1.")
    assert page.locator("#spoken").get_attribute("aria-live") == "polite"
