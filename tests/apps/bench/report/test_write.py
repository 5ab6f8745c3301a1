import csv
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import cusal
from cusal.apps.bench import report
from cusal.apps.bench.report import Curve, Curves
from cusal.apps.bench.report.contents.estimator_plots import estimator, theorem_2
from cusal.apps.bench.report.contents.learning_plots import learning_curves
from cusal.apps.bench.report.curves import BOUND, ON_TEST, About
from cusal.apps.bench.report.from_store import load
from cusal.apps.bench.report.outline import sections
from cusal.apps.bench.report.plot import inline_svgs
from cusal.apps.bench.report.styles import styles
from cusal.apps.bench.report.tables import estimator_table
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store

Simulated = dict[tuple[str, int], list[cusal.Round]]
VOID = {"meta", "br", "wbr", "link", "img", "input"}


class Page(HTMLParser):
    """Collects ids, links, headings and tables of a page, and checks that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open = self.open if tag in VOID else self.open[:-1]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def written(simulated: Simulated, fill: Callable[..., Spec], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the report of a store, in all formats."""
    folder = tmp_path_factory.mktemp("store")
    with Store(folder / "runs.db") as store:
        for (strategy, seed), records in simulated.items():
            fill(store, strategy, seed, records)
        files = report.write(store, folder / "deep" / "report")
    assert all(path.stat().st_size > 0 for path in files)
    assert {path for path in (folder / "deep" / "report").rglob("*") if path.is_file()} == set(files)
    return folder / "deep" / "report"


@pytest.mark.slow
def test_a_store_gives_all_four_formats(written: Path) -> None:
    assert {path.name for path in written.iterdir()} == {
        "report.html",
        "report.md",
        "report.tex",
        "numbers.csv",
        "figures",
    }


def test_only_the_formats_asked_for_are_written(curves: Curves, tmp_path: Path) -> None:
    assert report.write_curves([curves], tmp_path / "one", ["csv"]) == [tmp_path / "one" / "numbers.csv"]
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["numbers.csv"]


@pytest.mark.slow
def test_a_store_and_the_records_in_memory_give_the_same_numbers(
    written: Path, simulated: Simulated, tmp_path: Path
) -> None:
    curves = replace(Curves.of_rounds("small", simulated), about=About("digits"))
    report.write_curves([curves], tmp_path, ["csv"])
    stored, memory = ((folder / "numbers.csv").read_text().splitlines() for folder in (written, tmp_path))
    assert sorted(stored) == sorted(memory)


@pytest.mark.slow
def test_the_page_is_whole_and_needs_nothing_else(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "http" not in text
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(page.ids)
    assert page.tags.count("svg") > 20
    assert "learning_rate" in text


@pytest.mark.slow
def test_every_colour_of_a_figure_follows_light_and_dark(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    used = set(re.findall(r"var\((--c[0-9a-f]{6})\)", text))
    assert used
    assert all(text.count(f"{name}:#") == 2 for name in used)  # once for light, once for dark
    assert not re.search(r"(fill|stroke): #(?!000000|ffffff)", text)


def test_the_same_curves_give_the_same_drawing(curves: Curves) -> None:
    looks = styles(curves.strategies)
    plot = learning_curves(curves, looks)
    assert plot is not None
    assert inline_svgs(plot) == inline_svgs(replace(plot))


@pytest.mark.slow
def test_markdown_links_to_figures_that_parse(written: Path) -> None:
    text = (written / "report.md").read_text(encoding="utf-8")
    figures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    names = "learning difference plane temperature reliability decided_by estimator seconds"
    found = [Path(figure).stem.partition("-")[2] for figure in figures]
    assert [name for name in found if name in names.split()] == names.split()
    for figure in figures:
        assert ElementTree.parse(written / figure).getroot().tag.endswith("svg")
    rows = [line for line in text.splitlines() if line.startswith("| random")]
    assert len(rows) >= 6  # four measures, the area, and the estimator


def test_latex_tables_are_balanced_and_escaped(simulated: Simulated, tmp_path: Path) -> None:
    curves = Curves.of_rounds("100 % & more", {("a_b", 0): simulated["margin", 0], ("c#", 0): simulated["cusal", 0]})
    report.write_curves([curves], tmp_path, ["tex"])
    text = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") >= 7
    assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")
    assert r"a\_b" in text
    assert r"100 \% \& more" in text
    assert r"c\#" in text
    assert text.isascii()


def test_csv_has_every_number_of_every_round(simulated: Simulated, curves: Curves, tmp_path: Path) -> None:
    report.write_curves([curves], tmp_path, ["csv"])
    with (tmp_path / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = [r for r in rows if (r["strategy"], r["seed"], r["round"], r["split"]) == ("cusal", "1", "2", "test")]
    scores = simulated["cusal", 1][2].test
    assert scores is not None
    kept = {name: scores.recalibrated[name] for name in ("accuracy", "ece", "nll", "brier")}
    assert {r["name"]: float(r["value"]) for r in found if r["kind"] == "recalibrated"} == kept


def test_names_are_escaped_everywhere_on_the_page(simulated: Simulated, tmp_path: Path) -> None:
    nasty = "<script>\"&'</script>"
    failed = Curve(
        nasty, 7, 4, {}, status="failed", traceback=f"Traceback\nValueError: {nasty}", settings={nasty: nasty}
    )
    runs = [Curve.of(nasty, 0, simulated["margin", 0]), failed]
    report.write_curves([Curves.of(nasty, runs)], tmp_path, ["html", "md"])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "<script" not in (tmp_path / "report.md").read_text(encoding="utf-8")
    Page(text)


def test_unfinished_and_failed_runs_are_listed_and_used_as_far_as_they_go(
    tmp_path: Path, simulated: Simulated, fill: Callable[..., Spec]
) -> None:
    store = Store(tmp_path / "runs.db")
    for seed in range(2):
        fill(store, "random", seed, simulated["random", seed])
    fill(store, "margin", 0, simulated["margin", 0][:3])
    fill(store, "cusal", 0, [], failed="Traceback\nValueError: no such thing")
    (section,), _ = sections(load(store))
    assert "2 of 4 runs are not finished" in section.facts
    assert "1 to 2 seeds each" in section.facts
    assert [line[:3] for line in section.unfinished] == [
        ("margin", "0", "running after round 2 of 4"),
        ("cusal", "0", "failed before its first round was done"),
    ]
    accuracy = next(exhibit for exhibit in section.exhibits if exhibit.name == "tables").tables[0]
    assert [cell.note for cell in dict(accuracy.rows)["margin"]] == ["1 seed", "1 seed", "", ""]
    assert "cusal" not in dict(accuracy.rows)


def test_one_seed_one_strategy_and_one_round_still_give_a_report(simulated: Simulated, tmp_path: Path) -> None:
    curves = Curves.of_rounds("single", {("margin", 0): simulated["margin", 0][:1]})
    report.write_curves([curves], tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    Page(text)
    assert "<b>" not in text
    assert "±" not in re.sub(r"<(p|figcaption)\b.*?</\1>", "", text, flags=re.DOTALL)


def test_runs_that_only_began_give_a_report(simulated: Simulated, tmp_path: Path) -> None:
    begun = {key: records[:1] for key, records in simulated.items() if key[1] == 0 and key[0] != "margin"}
    report.write_curves([Curves.of_rounds("begun", begun, rounds=4)], tmp_path, ["html"])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    Page(text)
    assert "at t&nbsp;=&nbsp;0" in text or "at t = 0" in text
    assert "running after round 0 of 4" in text


def test_an_experiment_without_a_round_says_so(tmp_path: Path, fill: Callable[..., Spec]) -> None:
    store = Store(tmp_path / "runs.db")
    fill(store, "margin", 0, [])
    report.write(store, tmp_path)
    assert "No round of any run is done yet." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_runs_that_differ_in_a_setting_are_set_apart(
    tmp_path: Path, simulated: Simulated, fill: Callable[..., Spec]
) -> None:
    store = Store(tmp_path / "runs.db")
    for pool in (100, 200):
        fill(store, "margin", 0, simulated["margin", 0], pool=pool)
        fill(store, "random", 0, simulated["random", 0], pool=pool)
    fill(store, "cusal", 0, simulated["cusal", 0], pool=200, settings={"bandwidth": 0.01})
    apart, _ = sections(load(store))
    assert [section.title for section in apart] == ["small (pool = 100)", "small (pool = 200)"]
    assert apart[1].own_settings == {"cusal": {"settings.bandwidth": "0.01"}}
    assert apart[0].settings["pool"] == "100"


def test_what_cannot_be_written_is_told(tmp_path: Path, curves: Curves) -> None:
    with pytest.raises(cusal.CusalError, match="no report format named 'htm'; did you mean 'html'"):
        report.write_curves([curves], tmp_path, ["htm"])
    (tmp_path / "taken").write_text("")
    with pytest.raises(cusal.CusalError, match="taken is a file"):
        report.write_curves([curves], tmp_path / "taken")
    with pytest.raises(cusal.CusalError, match="holds no runs; run `cusal bench`"):
        report.write(Store(tmp_path / "empty.db"), tmp_path)


def test_one_page_of_a_simulation_can_be_written_alone(simulated: Simulated, tmp_path: Path) -> None:
    curves = Curves.of_rounds("digits", {("margin", 0): simulated["margin", 0]})
    path = report.page(curves, tmp_path / "demo.html", title="Digits & co")
    text = path.read_text(encoding="utf-8")
    assert "<title>Digits &amp; co</title>" in text
    Page(text)


def test_many_strategies_all_look_different() -> None:
    looks = styles(["random", "cusal", *(f"s{i}" for i in range(16))])
    assert len({(look.colour, look.dash, look.marker) for look in looks.values()}) == 18


def test_the_bound_of_theorem_2_is_drawn_beside_what_it_bounds_or_not_at_all(curves: Curves) -> None:
    looks = styles(curves.strategies)
    plot = theorem_2(curves, looks)
    assert plot is not None
    assert [panel.title for panel in plot.panels] == ["Test set: error / bound", "Pool: error / epsilon"]
    shown = estimator(curves, looks)
    assert shown is not None
    assert not [label for label, _ in shown.legend if "bound" in label]
    for key in (BOUND, ON_TEST):
        without = replace(curves, values={name: value for name, value in curves.values.items() if name != key})
        plot = theorem_2(without, looks)
        assert plot is not None
        assert [panel.title for panel in plot.panels] == ["Pool: error / epsilon"]


def test_the_table_counts_the_rounds_in_which_theorem_2_holds(curves: Curves) -> None:
    table = estimator_table(curves)
    assert table is not None
    assert table.columns[-2:] == ("pool within epsilon, %", "test set within bound, %")
    rounds = curves.rounds + 1
    for _, cells in table.rows:
        assert cells[-2].text == f"{100 * (rounds // 2) / rounds:.0f}"  # in every second round epsilon is large enough
        assert cells[-1].text == "100"
    without = replace(curves, values={key: value for key, value in curves.values.items() if key != BOUND})
    table = estimator_table(without)
    assert table is not None
    assert table.columns == ("estimated", "labels known", "pool within epsilon, %")
