"""Every page that the server knows, opened and polled in a real Chromium, leaves the console without an error."""

import pytest
from audit_tables import write_predictions
from pages_browser import go, text_project
from test_pages_work import add_round

from cusal.apps.label.server.pages import PAGES
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, start_project

pytestmark = pytest.mark.slow

POLLED = 2_500  # milliseconds: pages ask for the status every two seconds


@pytest.mark.parametrize("task", ["classes", "classes and a model", "verdicts"])
def test_no_page_writes_an_error(task, tmp_path, serve_project, new_context):
    if task == "verdicts":
        table = write_predictions(tmp_path / "letters.csv")
        project = start_project(Options(str(table), source=SourceOptions(audit=True))).project
    else:
        project = text_project(tmp_path / "letters.cusal.db", [f"Letter {row}" for row in range(60)], ["a", "b", "c"])
        if task == "classes and a model":
            add_round(project)
    server, context = serve_project(project), new_context()
    pages = [go(context.new_page(), f"{server.url}{path}") for path in PAGES]
    pages[0].wait_for_timeout(POLLED)
    assert len(pages) == len(PAGES) >= 5
