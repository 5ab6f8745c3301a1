"""No key press is lost: quick keys, reload, offline, a server that is killed, two tabs, undo."""

import pytest
from pages_browser import (
    ClassChange,
    Pick,
    Server,
    answers_in_order,
    new_id,
    open_label,
    shown_item,
    text_project,
    wait_for,
    wait_saved,
    waiting,
)

pytestmark = pytest.mark.slow

CLASSES = ["bill", "advert", "private"]


@pytest.fixture
def server(tmp_path, serve_project) -> Server:
    texts = [f"Letter number {row}" for row in range(400)]
    return serve_project(text_project(tmp_path / "letters.cusal.db", texts, CLASSES))


def press_and_note(page, keys):
    """Press keys one after the other; return the item that was on the screen at each."""
    seen = []
    for key in keys:
        seen.append(shown_item(page))
        page.keyboard.press(key)
    return seen


def classes_of(keys):
    return [int(key) - 1 for key in keys]


def stored(server):
    return answers_in_order(server.project)


def test_a_hundred_presses_without_a_pause_are_stored_in_order(server, new_context):
    page = open_label(new_context(), server)
    wait_for(page, "Number(document.body.dataset.ahead) >= 95")
    first = shown_item(page)
    keys = [str(1 + press % 3) for press in range(100)]
    for key in keys:
        page.keyboard.press(key)
    wait_saved(page)
    answers = stored(server)
    assert [given for _, given in answers] == classes_of(keys)
    assert [item for item, _ in answers] == list(range(first, first + 100))
    assert page.locator("#line-done").text_content() == "100 labels"


def test_each_answer_is_for_the_item_on_the_screen(server, new_context):
    page = open_label(new_context(), server)
    keys = list("1231231212")
    seen = press_and_note(page, keys)
    wait_saved(page)
    assert stored(server) == list(zip(seen, classes_of(keys), strict=True))


def test_a_new_queue_replaces_all_but_the_next_three(server, new_context):
    page = open_label(new_context(), server)
    with page.expect_response(lambda reply: "/api/next" in reply.url):
        server.project.queue.put([Pick(item, "pick", {"kind": "new"}) for item in range(300, 390)], round=1)
    wait_for(page, "Number(document.body.dataset.ahead) > 90")
    assert press_and_note(page, "1" * 20) == [0, 1, 2, *range(300, 317)]


def test_ten_steps_are_undone(server, new_context):
    page = open_label(new_context(), server)
    seen = press_and_note(page, "123123123123")
    back = []
    for _ in range(10):
        page.keyboard.press("z")
        back.append(shown_item(page))
    assert back == seen[:1:-1]
    wait_saved(page)
    assert set(server.project.answers.labels()) == set(seen[:2])
    again = press_and_note(page, "3333333333")
    assert again == seen[2:]
    wait_saved(page)
    assert server.project.answers.labels() == dict(zip(seen, [0, 1] + [2] * 10, strict=True))


def test_undo_reaches_back_before_a_reload(server, new_context):
    page = open_label(new_context(), server)
    seen = press_and_note(page, "123")
    wait_saved(page)
    page.reload()
    page.wait_for_selector("#item[data-item]")
    for item in reversed(seen):
        page.keyboard.press("Control+z")
        wait_for(page, f"document.getElementById('item').dataset.item === '{item}'")
    wait_saved(page)
    assert server.project.answers.labels() == {}


def test_a_reload_in_a_batch_loses_and_repeats_nothing(server, new_context):
    page = open_label(new_context(), server)
    seen = press_and_note(page, "12312")
    page.reload()  # the last answers may still be on their way
    page.wait_for_selector("#item[data-item]")
    seen += press_and_note(page, "123")
    wait_saved(page)
    assert len(set(seen)) == 8
    assert stored(server) == list(zip(seen, classes_of("12312123"), strict=True))


def test_ten_answers_while_offline_are_sent_later(server, new_context):
    context = new_context()
    page = open_label(context, server)
    context.set_offline(True)
    keys = "1231231231"
    seen = press_and_note(page, keys)
    page.get_by_text("10 answers wait to be sent").wait_for()
    assert waiting(page) == 10
    assert stored(server) == []
    context.set_offline(False)
    wait_saved(page)
    page.locator("#saved-words", has_text="Saved").wait_for()
    assert stored(server) == list(zip(seen, classes_of(keys), strict=True))


def test_undo_works_while_offline(server, new_context):
    context = new_context()
    page = open_label(context, server)
    context.set_offline(True)
    seen = press_and_note(page, "123")
    page.keyboard.press("z")
    assert shown_item(page) == seen[2]
    page.keyboard.press("1")
    context.set_offline(False)
    wait_saved(page)
    assert server.project.answers.labels() == dict(zip(seen, [0, 1, 0], strict=True))


def test_a_killed_server_costs_nothing(server, new_context):
    page = open_label(new_context(), server)
    seen = press_and_note(page, "123123")
    server.kill()
    seen += press_and_note(page, "12312")
    page.get_by_text("wait to be sent").wait_for()
    server.start()
    wait_saved(page)
    seen += press_and_note(page, "333")
    wait_saved(page)
    assert len(set(seen)) == len(seen)
    assert stored(server) == list(zip(seen, classes_of("12312312312333"), strict=True))


def test_answers_wait_where_another_project_is_served(server, new_context, tmp_path, serve_project):
    page = open_label(new_context(), server)
    server.kill()
    seen = press_and_note(page, "12")
    page.get_by_text("2 answers wait to be sent").wait_for()
    other = text_project(tmp_path / "other.cusal.db", ["another text"] * 9, CLASSES)
    mine, server.project = server.project, other
    server.start()
    page.get_by_text("Another project is open here").wait_for()
    assert answers_in_order(other) == []
    server.kill()
    server.project = mine
    server.start()
    wait_saved(page)
    assert stored(server) == list(zip(seen, [0, 1], strict=True))
    assert answers_in_order(other) == []
    other.close()


def test_two_tabs_show_different_items_and_store_everything(server, new_context):
    context = new_context()
    first, second = open_label(context, server), open_label(context, server)
    seen = []
    for _ in range(8):
        seen += press_and_note(first, "1") + press_and_note(second, "2")
    wait_saved(first)
    assert len(set(seen)) == 16
    assert dict(stored(server)) == {item: place % 2 for place, item in enumerate(seen)}


def test_a_tab_that_closes_leaves_its_answers_to_another(server, new_context):
    context = new_context()
    first, second = open_label(context, server), open_label(context, server)
    context.set_offline(True)
    seen = press_and_note(first, "12")
    first.close()
    context.set_offline(False)
    wait_saved(second)
    assert stored(server) == list(zip(seen, [0, 1], strict=True))


def test_a_held_key_labels_one_item(server, new_context):
    page = open_label(new_context(), server)
    for _ in range(5):
        page.keyboard.down("1")  # without a release in between: the browser repeats it
    page.keyboard.up("1")
    wait_saved(page)
    assert len(stored(server)) == 1


def test_a_class_that_is_gone_is_refused_and_said(server, new_context):
    page = open_label(new_context(), server)
    server.project.classes.change(ClassChange(new_id(), "you", "delete", class_id=2))
    item = shown_item(page)
    page.keyboard.press("3")
    page.get_by_text("An answer was not stored").wait_for()
    wait_saved(page)
    assert stored(server) == []
    assert shown_item(page) == item
