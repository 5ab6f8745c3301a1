"""The page of a report in a real Chromium: every column on a phone, and strategies switched on and off."""

from pathlib import Path
from typing import Any

import pytest

from cusal.apps.bench.report import Curves, write_curves

pytestmark = pytest.mark.slow
PHONE = {"width": 390, "height": 844}
# How many rows of tables end outside of their box.
CUT_OFF = """() => [...document.querySelectorAll('tbody tr')].filter(row => {
    const box = row.closest('.scroll').getBoundingClientRect(), cell = row.lastElementChild;
    return cell.getBoundingClientRect().right > box.right + 1 || cell.scrollWidth > cell.clientWidth + 1;
}).length"""


@pytest.fixture
def address(curves: Curves, tmp_path: Path) -> str:
    return write_curves([curves], tmp_path, ["html"])[0].as_uri()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_last_column_of_every_table_is_visible(chromium: Any, address: str, width: int) -> None:
    page = chromium.new_page(viewport=PHONE | {"width": width})
    page.goto(address)
    assert page.locator("tbody tr").count() > 10
    assert page.evaluate(CUT_OFF) == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_pressing_a_name_in_a_legend_hides_the_strategy_everywhere(chromium: Any, address: str) -> None:
    page = chromium.new_page(viewport=PHONE, java_script_enabled=False)
    page.goto(address)
    lines, rows = page.locator("g.series.s1"), page.locator("tr.r1")
    assert lines.first.is_visible()
    page.locator("figure .k1 label").first.click()
    assert not any(line.is_visible() for line in lines.all())
    assert not any(row.is_visible() for row in rows.all())
    assert page.locator("tr.r0").first.is_visible()
    page.get_by_text("Show all").click()
    assert lines.first.is_visible()
    assert rows.first.is_visible()
