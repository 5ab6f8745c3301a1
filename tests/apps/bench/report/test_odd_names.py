"""Names of any letters: every format of the report comes out whole, and nothing of them takes effect."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from test_write import Page

import cusal
from cusal.apps.bench import report
from cusal.apps.bench.progress import RunProgress
from cusal.apps.bench.report import Curves, text_table
from cusal.apps.bench.report.shown_names import as_shown, one_line, short_name, visible
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store
from cusal.apps.bench.worker import News

Simulated = dict[tuple[str, int], list[cusal.Round]]
NAMES = {
    "mathematics": r"$\frac{1}{$ $x^2$",
    "one dollar": "5 $",
    "lines": "two\n\n# lines\r\n\tand | more",
    "nul": "a\0b\x1b[31m\x07",
    "emoji": "🦊👩‍👩‍👧 naïve 狐 ≥",
    "long": "x" * 500,
    "long words": "all of it " * 50,
    "html": "<script>alert(1)</script>&lt;'\"",
    "markdown": "![a](b) `c` **d** ~~e~~ <!-- f -->",
    "latex": r"\input{/etc/passwd} % & # _ { } ^ ~",
    "markup": "[/red] [bold]",
    "formula": "=1+1",
    "turned": "a\u202eb\u2066",
    "template": "$title ${sections} %s {0}",
}


TITLES = ("mathematics", "lines", "long")


@pytest.fixture(scope="module")
def odd(simulated: Simulated, fill: Callable[..., Spec], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a report in which strategies, experiments, settings and a failure have odd names."""
    folder, records = tmp_path_factory.mktemp("odd"), simulated["margin", 0]
    with Store(folder / "runs.db") as store:
        for title in TITLES:
            names = NAMES if title == "lines" else {title: NAMES[title]}
            for name in names.values():
                fill(store, name, 0, records, model={"name": name}, experiment=NAMES[title])
        text = "Traceback\n" + "\n".join(NAMES.values())
        fill(store, "broken", 0, [], failed=text, experiment=NAMES["lines"])
        report.write(store, folder)
    return folder


def test_the_page_is_whole(odd: Path) -> None:
    text = (odd / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags.count("svg") > 4
    assert "<script>alert" not in text
    assert text.rstrip().endswith("</html>")
    assert not any(unicodedata.category(sign) in ("Cc", "Cs") for sign in re.sub(r"[\n\r\t]", "", text))
    assert "\u202e" not in text


def test_the_figures_are_whole(odd: Path) -> None:
    figures = sorted((odd / "figures").glob("*.svg"))
    assert figures
    for path in figures:
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        assert root.tag.endswith("svg")
    words = " ".join(text for path in figures for text in ElementTree.parse(path).getroot().itertext())
    for name in NAMES.values():
        assert short_name(name) in words


def test_markdown_is_whole(odd: Path) -> None:
    text = (odd / "report.md").read_text(encoding="utf-8")
    assert "\0" not in text
    assert not re.search(r"(?<!\\)\$", text)
    tables = [list(group) for group in _tables(text.splitlines())]
    assert len(tables) > 3
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def _tables(lines: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("|"):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def test_latex_is_whole(odd: Path) -> None:
    text = (odd / "report.tex").read_text(encoding="utf-8")
    assert r"\input" not in text
    bare = re.sub(r"\\[\\$%&#_{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") > 3
    assert "🦊" not in text
    assert not re.search(r"\\\\\s*[\[*]", text)  # a bracket or star after the end of a row would belong to it
    for caption in re.findall(r"\\caption\{.*", text):
        assert caption.endswith("}")


def test_the_numbers_are_whole_and_keep_the_name(odd: Path) -> None:
    with (odd / "numbers.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["strategy"] for line in lines} == {"'" * name.startswith("=") + name for name in NAMES.values()}
    assert {line["experiment"] for line in lines} == {NAMES[title] for title in TITLES}
    assert all(float(line["value"]) == float(line["value"]) for line in lines)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_terminal_shows_one_line_for_each_strategy(name: str, simulated: Simulated) -> None:
    curves = Curves.of_rounds(name, {(name if s == "margin" else s, seed): r for (s, seed), r in simulated.items()})
    (shown,) = as_shown([curves])
    text = text_table(shown)
    assert not any(unicodedata.category(sign) in ("Cc", "Cs") for sign in text.replace("\n", ""))
    assert len([line for line in text.splitlines() if short_name(name) in line]) == 1


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_progress_shows_any_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = Spec(name, name, "digits", "margin", seed=0, rounds=1, batch_size=1, warm_up=1, network={}).run
    progress = RunProgress([run], 0, workers=1)
    progress.show(News(run.id, "round", 0, 0.5, 0.1, 1.0))
    assert len(capsys.readouterr().out.splitlines()) == 1
    text = io.StringIO()
    Console(file=text, width=200).print(progress._table())
    assert short_name(name)[:10] in text.getvalue()


def test_names_that_differ_stay_different() -> None:
    long = ["x" * 500, "x" * 501, "x" * 499 + "y", "y" + "x" * 499]
    assert len({short_name(name) for name in long}) == 4
    assert all(len(short_name(name)) <= 40 for name in long)
    assert one_line(" a\n\nb\t") == "a b"
    assert visible("a\nb\x00\ud800") == "a\nb␀\ufffd"
