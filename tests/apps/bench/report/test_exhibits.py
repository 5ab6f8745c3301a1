"""The exhibits of a report: found where they are written, in their order."""

import subprocess
import sys
from pathlib import Path

from cusal.apps.bench.report import Curves, contents
from cusal.apps.bench.report.contents.learning_plots import learning_curves
from cusal.apps.bench.report.exhibits import Exhibit, make_exhibits
from cusal.apps.bench.report.styles import styles
from cusal.apps.bench.report.tables import result_tables

NEW = """
from cusal.apps.bench.report.exhibits import exhibit
from cusal.apps.bench.report.plot import Panel, Plot

@exhibit(order=15)
def mine(curves, looks):
    return Plot("mine", "Mine", "A line.", (Panel("All", lambda ax: ax.rule(1.0)),))

@exhibit(order=16)
def nothing(curves, looks):
    return None
"""
SHOW = """
import sys
from cusal.apps.bench.report import Curve, Curves, contents
from cusal.apps.bench.report.exhibits import make_exhibits
from cusal.apps.bench.report.curves import ACCURACY, LABELLED

contents.__path__.append(sys.argv[1])
run = Curve("margin", 0, 1, {ACCURACY: {0: 0.5, 1: 0.6}, LABELLED: {0: 10, 1: 20}})
from cusal.apps.bench.report.styles import styles
print(*(exhibit.name for exhibit in make_exhibits(Curves.of("by hand", [run]), styles(["margin"]))))
"""


def test_a_function_in_a_new_file_is_an_exhibit_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "my_figure.py").write_text(NEW)
    shown = subprocess.run([sys.executable, "-c", SHOW, tmp_path], capture_output=True, text=True, check=True)
    names = shown.stdout.split()
    assert names.index("learning") < names.index("mine") < names.index("tables")
    assert "nothing" not in names


def test_every_exhibit_has_a_name_of_its_own(curves: Curves) -> None:
    names = [exhibit.name for exhibit in make_exhibits(curves, styles(curves.strategies))]
    assert names
    assert len(set(names)) == len(names)


def test_a_block_is_what_there_is_of_a_figure_and_tables(curves: Curves) -> None:
    plot, table = learning_curves(curves, styles(curves.strategies)), result_tables(curves)[0]
    assert Exhibit.of(None, None) is None
    assert Exhibit.of(None, table) == Exhibit("tables", "Tables", None, (table,))
    found = Exhibit.of(plot, None, table)
    assert found is not None
    assert (found.name, found.plot, found.tables) == ("learning", plot, (table,))


def test_the_contents_are_no_list() -> None:
    assert contents.__file__ is not None
    assert "import" not in Path(contents.__file__).read_text()
