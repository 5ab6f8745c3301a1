"""Pictures: loaded before their turn, zoomed and moved, and said to be broken where they are."""

import numpy as np
import pytest
from pages_browser import (
    Server,
    add_classes,
    answers_in_order,
    fill_queue,
    go,
    open_label,
    shown_item,
    wait_for,
    wait_saved,
)
from PIL import Image

from cusal.apps.label.store import NewItem, Project, Round, Settings

pytestmark = pytest.mark.slow
BROKEN = ["05.png", "29.png"]


@pytest.fixture
def server(tmp_path, serve_project) -> Server:
    folder = tmp_path / "photos"
    folder.mkdir()
    keys = [f"{place:02d}.png" for place in range(30)]
    rng = np.random.default_rng(0)
    for key in keys:
        Image.fromarray(rng.integers(0, 255, (400, 600, 3), dtype=np.uint8)).save(folder / key)
    for key in BROKEN:
        (folder / key).write_bytes(b"no picture at all")
    project = Project.create(tmp_path / "photos.cusal.db", Settings(title="Photos", kind="image", data=str(folder)))
    project.items.add([NewItem(key) for key in keys])
    add_classes(project, ["cat", "dog"])
    fill_queue(project)
    return serve_project(project)


def open_seen(context, server):
    """Return the Label page when its picture is there."""
    page = open_label(context, server)
    wait_for(page, "document.querySelector('.picture-image')?.naturalWidth > 0")
    return page


def transform(page):
    return page.locator(".picture-image").evaluate("(picture) => picture.style.transform")


def test_the_next_picture_is_there_when_its_turn_comes(server, new_context):
    page = open_seen(new_context(), server)
    wait_for(page, "[...document.querySelectorAll('#strip img')].filter((one) => one.naturalWidth).length > 8")
    complete = []
    for _ in range(3):
        page.keyboard.press("1")
        complete.append(page.locator(".picture-image").evaluate("(picture) => picture.naturalWidth > 0"))
    wait_saved(page)
    assert complete == [True] * 3
    assert answers_in_order(server.project) == [(0, 0), (1, 0), (2, 0)]


def test_keys_wheel_and_dragging_zoom_and_move(server, new_context):
    page = open_seen(new_context(), server)
    assert transform(page) == ""
    page.keyboard.press("+")
    assert "scale(1.4)" in transform(page)
    page.keyboard.press("0")
    assert transform(page) == ""
    page.mouse.move(450, 400)
    page.mouse.wheel(0, -300)
    wait_for(page, "document.querySelector('.picture-image').style.transform.includes('scale')")
    before = transform(page)
    page.mouse.down()
    page.mouse.move(500, 430)
    page.mouse.up()
    assert transform(page) != before
    page.keyboard.press("1")
    assert shown_item(page) == 1
    assert transform(page) == ""


def test_broken_pictures_are_passed_over(server, new_context):
    page = open_seen(new_context(), server)
    wait_for(page, "!document.querySelector('#strip [data-id=\"5\"]')")
    seen = []
    while shown_item(page) < 8:
        wait_for(page, "document.querySelector('.picture-image').naturalWidth > 0")
        seen.append(shown_item(page))
        page.keyboard.press("2")
    assert seen == [0, 1, 2, 3, 4, 6, 7]
    assert server.project.items.get(5).state == "broken"


def test_a_broken_picture_on_the_screen_says_so(server, new_context):
    page = go(new_context().new_page(), server.url + "/browse?text=29.png")
    page.locator(".row").first.dblclick()
    page.get_by_text("This picture cannot be shown.").wait_for()


def test_pictures_are_loaded_when_the_server_is_back(server, new_context):
    context = new_context()
    context.route("**/media/1", lambda route: route.abort())
    page = open_seen(context, server)
    page.keyboard.press("1")
    assert shown_item(page) == 1
    page.keyboard.press("1")  # nobody has seen the picture
    assert shown_item(page) == 1
    context.unroute("**/media/1")
    wait_for(page, "document.querySelector('.picture-image').naturalWidth > 0")
    page.keyboard.press("2")
    wait_saved(page)
    assert answers_in_order(server.project) == [(0, 0), (1, 1)]


def test_browse_shows_small_pictures_and_opens_one(server, new_context):
    page = go(new_context().new_page(), server.url + "/browse")
    page.locator(".row img").nth(5).wait_for()
    page.locator(".row").nth(7).dblclick()
    page.get_by_role("dialog").get_by_text("07.png").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("dialog").get_by_text("08.png").wait_for()


def test_small_pictures_are_loaded_when_the_server_is_back(server, new_context):
    page = open_seen(new_context(), server)
    server.kill()
    for _ in range(3):
        page.keyboard.press("1")
    page.locator("#strip img[data-lost]").first.wait_for(state="attached")
    assert page.locator("#strip img[data-lost]").first.evaluate("(one) => getComputedStyle(one).visibility") == "hidden"
    server.start()
    wait_for(page, "!document.querySelector('#strip img[data-lost]')")
    wait_for(page, "[...document.querySelectorAll('#strip img')].every((one) => one.naturalWidth > 0)")


def test_files_that_are_set_aside_are_listed_with_the_reason(server, new_context):
    server.project.items.mark(5, "broken", "The file is damaged or incomplete.")
    server.project.rounds.add(Round(1, 0, {"round": 1, "labels": 0, "classes": []}))
    page = go(new_context().new_page(), server.url + "/progress")
    page.get_by_role("link", name="1 item missing or broken").click()
    page.locator("#found", has_text="1 item").wait_for()
    assert page.locator(".row-gone").text_content() == "05.pngThe file is damaged or incomplete."
    assert page.locator(".row img").count() == 0
