"""The pages when every item has its label."""

import pytest
from pages_browser import new_id, text_project

from cusal.apps.label.store import Answer, Round

pytestmark = pytest.mark.slow


def test_progress_says_that_everything_is_labelled(tmp_path, serve_project, new_context):
    project = text_project(tmp_path / "letters.cusal.db", [f"letter {row}" for row in range(12)], ["bill", "advert"])
    project.answers.store([Answer(new_id(), item, "me", class_id=item % 2) for item in range(12)])
    report = {
        "labels": 12,
        "round": 1,
        "accuracy": None,
        "calibration": None,
        "stopping": None,
        "classes": [{"id": one, "labels": 6, "predicted": 0} for one in range(2)],
        "confusion": None,
        "mistakes": [],
    }
    project.rounds.add(Round(1, 12, report))
    server = serve_project(project)
    page = new_context().new_page()
    page.goto(f"{server.url}/progress")
    page.wait_for_selector("html[data-ready]")
    assert "Every item is labelled. Nothing is left to predict" in page.locator("#accuracy").text_content()
    assert page.locator("#accuracy .big").text_content() == "12 of 12"
    assert "You are done." in page.locator("#stopping").text_content()
    project.answers.undo("me", new_id())
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert "Not known yet" in page.locator("#accuracy").text_content()
