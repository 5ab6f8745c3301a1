"""What people do on the pages: name the first classes, correct, label many, browse, change classes, see progress."""

from collections import Counter

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
    text_project,
    wait_for,
    wait_saved,
    wait_until,
)

from cusal.apps.label.store import NewItem, Project, Round, Settings
from cusal.apps.label.store.predictions import Predictions

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path, serve_project) -> Server:
    texts = [f"Letter number {row}" for row in range(60)]
    return serve_project(text_project(tmp_path / "letters.cusal.db", texts, ["bill", "advert", "private"]))


def add_round(project: Project) -> None:
    """Write a round whose model takes every third letter for a bill, and has found a label odd."""
    items = np.array(project.items.ids())
    top, sure = (items % 3).astype(np.int32), np.linspace(0.99, 0.5, len(items), dtype=np.float32)
    predictions = Predictions(items, top, ((items + 1) % 3).astype(np.int32), sure, sure)
    report = {
        "labels": 20,
        "round": 1,
        "accuracy": {"estimate": 0.91, "low": 0.88, "high": 0.94, "labels": 20, "drawn": 4},
        "calibration": None,
        "stopping": {"since": 20, "changed": 0.02, "gain": 0.008, "stop": True, "reason": "predictions hardly change"},
        "classes": [{"id": one, "labels": 5, "predicted": 20} for one in range(3)],
        "confusion": {"classes": [0, 1, 2], "counts": [[5, 1, 0], [0, 5, 0], [0, 0, 5]]},
        "mistakes": [{"item": 4, "label": 0, "guess": 1, "confidence": 0.97}],
    }
    project.rounds.add(Round(1, 20, report, predictions.to_bytes()))


def test_the_first_classes_are_typed_beside_the_first_item(tmp_path, serve_project, new_context):
    server = serve_project(text_project(tmp_path / "letters.cusal.db", ["one", "two", "three"], []))
    page = new_context().new_page()
    page.goto(server.url)
    page.wait_for_selector("#item[data-item]")
    page.keyboard.type("cat")
    page.keyboard.press("Enter")
    page.keyboard.type("dog, bird")
    page.keyboard.press("Enter")
    page.locator(".first-names li").nth(2).wait_for()
    assert [one.name for one in server.project.classes.all()] == ["cat", "dog", "bird"]
    page.keyboard.press("Enter")
    page.locator("#class-0").wait_for()
    page.keyboard.press("2")
    wait_saved(page)
    assert answers_in_order(server.project) == [(0, 1)]


FIRST_POST_LATE = """
const plain = window.fetch;
let posts = 0;
window.fetch = async (address, options) => {
  if (options?.method === "POST" && posts++ === 0) await new Promise((resolve) => setTimeout(resolve, 500));
  return plain(address, options);
};
"""


def test_names_keep_the_order_in_which_they_were_typed_on_a_slow_connection(tmp_path, serve_project, new_context):
    server = serve_project(text_project(tmp_path / "letters.cusal.db", ["one", "two", "three"], []))
    context = new_context()
    context.add_init_script(FIRST_POST_LATE)
    page = context.new_page()
    page.goto(server.url)
    page.wait_for_selector("#item[data-item]")
    for names in ["cat", "dog, bird"]:
        page.keyboard.type(names)
        page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # starts as soon as the three are stored
    page.locator("#class-2").wait_for()
    assert [one.name for one in server.project.classes.all()] == ["cat", "dog", "bird"]


def test_back_and_forward_correct_an_answer(server, new_context):
    page = open_label(new_context(), server)
    for key in "123":
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert shown_item(page) == 1
    assert page.locator("#before").text_content().startswith("You said advert")
    assert page.locator("#class-1").get_attribute("aria-pressed") == "true"
    page.keyboard.press("3")
    assert shown_item(page) == 2
    page.keyboard.press("ArrowRight")
    assert shown_item(page) == 3
    wait_saved(page)
    assert server.project.answers.labels() == {0: 0, 1: 2, 2: 2}
    page.keyboard.press("z")
    assert shown_item(page) == 1
    wait_saved(page)
    assert server.project.answers.labels() == {0: 0, 1: 1, 2: 2}


def test_skip_and_not_sure_are_answers_too(server, new_context):
    page = open_label(new_context(), server)
    page.keyboard.press("s")
    page.keyboard.press("u")
    page.locator("#skip").click()
    wait_saved(page)
    progress = server.project.answers.progress()
    assert (progress["skipped"], progress["unsure"], progress["labelled"]) == (2, 1, 0)


def test_other_columns_and_the_guess_are_shown_on_request_and_remembered(server, new_context):
    add_round(server.project)
    page = open_label(new_context(), server)
    assert not page.locator("#guess").is_visible()
    assert not page.locator("#info").is_visible()
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.locator("#guess", has_text="The model thinks bill, 99 % sure").wait_for()
    assert page.locator("#info").text_content() == "row0sourcepost"
    page.reload()
    page.locator("#guess", has_text="The model thinks bill").wait_for()
    page.keyboard.press("g")
    assert not page.locator("#guess").is_visible()


def test_many_items_are_confirmed_at_once_but_those_unticked(server, new_context):
    add_round(server.project)
    page = open_label(new_context(), server)
    page.keyboard.press("m")
    page.locator(".tile").nth(19).wait_for()
    assert page.locator(".many-head h2").text_content() == "These 20 look like bill"
    page.keyboard.press("b")
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.get_by_text("Label 19 as bill").wait_for()
    page.keyboard.press("Enter")
    wait_saved(page)
    labels = server.project.answers.labels()
    assert len(labels) == 19
    assert set(labels.values()) == {0}
    assert 3 not in labels
    page.keyboard.press("z")
    wait_saved(page)
    assert server.project.answers.labels() == {}
    page.keyboard.press("Escape")
    assert page.locator("#label").is_visible()


def test_advice_to_stop_is_given_and_can_be_put_aside(server, new_context):
    add_round(server.project)
    page = open_label(new_context(), server)
    page.get_by_text("You can stop").wait_for()
    assert page.locator("#line-accuracy").text_content() == "accuracy 91 % (88\N{EN DASH}94)"
    page.get_by_role("button", name="Go on labelling").click()
    assert not page.locator("#stop").is_visible()


def test_the_planned_number_of_labels_is_asked_and_shown(server, new_context):
    page = open_label(new_context(), server)
    page.locator("#line-done").click()
    page.get_by_label("Labels in all").fill("20")
    page.get_by_role("button", name="Save").click()
    page.locator("#line-done", has_text="0 of 20 labels").wait_for()
    page.keyboard.press("1")
    assert page.locator("#line-done").text_content() == "1 of 20 labels"
    assert server.project.settings.budget == 20


def test_progress_says_how_good_it_is_and_relabels_with_one_key(server, new_context):
    add_round(server.project)
    page = go(new_context().new_page(), server.url + "/progress")
    page.get_by_text("Between 88 and 94 % of the rest are right (90 % sure), most likely 91 %.").first.wait_for()
    assert page.locator(".verdict").text_content() == "You can stop."
    assert page.locator("#basis").text_content() == "0 of 60 items labelled; the figures are from 20 labels"
    page.locator(".mistake").focus()
    page.keyboard.press("2")
    wait_saved(page)
    assert server.project.answers.labels() == {4: 1}
    page.keyboard.press("z")
    wait_saved(page)
    assert server.project.answers.labels() == {}


def test_browse_labels_a_selection_and_undoes_it(server, new_context):
    add_round(server.project)
    page = go(new_context().new_page(), server.url + "/browse?prediction=2")
    page.locator(".row").nth(9).wait_for()
    assert page.locator("#found").text_content() == "20 items"
    page.locator(".row").nth(1).click()
    page.locator(".row").nth(4).click(modifiers=["Shift"])
    page.keyboard.press("3")
    wait_saved(page)
    assert server.project.answers.labels() == dict.fromkeys([5, 8, 11, 14], 2)
    assert page.locator(".row").nth(1).locator(".row-label").text_content() == "private"
    page.keyboard.press("z")
    page.locator(".row", has_text="no label").nth(4).wait_for()
    wait_for(page, "document.querySelectorAll('.row-label.none').length === 20")
    assert server.project.answers.labels() == {}


def test_browse_goes_by_keyboard_alone(server, new_context):
    page = go(new_context().new_page(), server.url + "/browse")
    page.locator(".row").nth(9).wait_for()
    page.locator("#rows").focus()
    for key in ["ArrowDown", "ArrowDown", "Space", "Shift+ArrowDown", "l"]:
        page.keyboard.press(key)
    page.get_by_role("dialog").locator("#choice-1").wait_for()
    page.keyboard.press("2")
    wait_saved(page)
    assert server.project.answers.labels() == {2: 1, 3: 1}
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_text("Letter number 3").wait_for()
    page.keyboard.press("1")
    wait_saved(page)
    assert server.project.answers.labels() == {2: 1, 3: 0}


def test_browse_filters_and_searches(server, new_context):
    page = open_label(new_context(), server)
    for key in "12s":
        page.keyboard.press(key)
    wait_saved(page)
    go(page, server.url + "/browse")
    page.get_by_label("Text").fill("number 59")
    page.locator("#found", has_text="1 item").wait_for()
    page.get_by_role("button", name="Clear").click()
    page.locator("[name=label]").select_option(label="advert")
    page.locator("#found", has_text="1 item").wait_for()
    page.reload()
    page.locator("#found", has_text="1 item").wait_for()
    go(page, server.url + "/browse?kind=skip")
    page.locator("#found", has_text="1 item").wait_for()
    go(page, server.url + "/browse?text=nothing%20like%20it")
    page.get_by_text("No item fits").wait_for()


def test_classes_are_changed_and_changes_undone(server, new_context):
    page = open_label(new_context(), server)
    for key in "1123":
        page.keyboard.press(key)
    wait_saved(page)
    go(page, server.url + "/classes")
    names = lambda: [one.name for one in server.project.classes.all()]  # noqa: E731
    page.get_by_label("Name of a new class").fill("form")
    page.keyboard.press("Enter")
    page.get_by_label("Name of form").wait_for()
    page.get_by_label("Name of bill").fill("invoice")
    page.keyboard.press("Enter")
    page.get_by_label("Name of invoice").wait_for()
    page.get_by_role("button", name="Move invoice down").click()
    page.locator(".class-row").nth(1).get_by_label("Name of invoice").wait_for()
    assert names() == ["advert", "invoice", "private", "form"]
    page.get_by_label("Key of invoice").fill("s")
    page.keyboard.press("Tab")
    page.get_by_text("s is the key of “skip”").wait_for()
    page.get_by_label("Key of invoice").fill("v")
    page.keyboard.press("Tab")
    wait_for(page, "document.querySelector('[aria-label=\"Key of invoice\"]')?.value === 'v'")
    page.locator(".class-row", has=page.get_by_label("Name of private")).get_by_text("Delete").click()
    page.get_by_label("Its labels become").check()
    page.get_by_label("Class that takes the labels").select_option(label="advert")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("private was deleted.").wait_for()
    assert server.project.answers.label_counts() == {0: 2, 1: 2}
    page.locator(".class-row", has=page.get_by_label("Name of advert")).get_by_text("Merge").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    page.get_by_text("advert was merged.").wait_for()
    assert names() == ["invoice", "form"]
    assert server.project.answers.label_counts() == {0: 4}
    for said in ("advert is a class of its own again.", "private is back."):
        page.locator("#undo").click()
        page.get_by_text(said).wait_for()
    page.get_by_label("Name of private").wait_for()
    assert server.project.answers.label_counts() == {0: 2, 1: 1, 2: 1}


def test_a_key_of_its_own_moves_no_other_key_and_a_description_is_seen(server, new_context):
    page = go(new_context().new_page(), server.url + "/classes")
    page.get_by_label("Key of bill").fill("b")
    page.keyboard.press("Tab")
    page.get_by_label("Description of bill").fill("It asks for money.")
    page.keyboard.press("Enter")
    wait_until(page, lambda: server.project.classes.all()[0].description == "It asks for money.")
    go(page, server.url)
    assert page.locator("#classes kbd").all_text_contents() == ["b", "2", "3"]
    assert page.locator("#class-0 .class-about").text_content() == "It asks for money."


def test_names_typed_on_the_classes_page_keep_their_order(server, new_context):
    context = new_context()
    context.add_init_script(FIRST_POST_LATE)
    page = go(context.new_page(), server.url + "/classes")
    page.locator("#new-class").focus()
    for name in ("form", "card"):
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    page.get_by_label("Name of card").wait_for()
    assert [one.name for one in server.project.classes.all()][3:] == ["form", "card"]


def test_undo_beside_the_classes_takes_no_label_and_beside_items_no_class(server, new_context):
    page = open_label(new_context(), server)
    page.keyboard.press("z")
    page.get_by_text("There is nothing to undo.").wait_for()
    page.keyboard.press("1")
    wait_saved(page)
    go(page, server.url + "/classes")
    for left in (2, 1):
        page.locator("#undo").click()
        page.locator("#how-many", has_text=f"{left} class").wait_for()
    page.locator("#undo").click()
    page.get_by_text("No change of the classes is left to undo.").wait_for()
    assert server.project.answers.labels() == {0: 0}


def test_browse_shows_the_columns_of_rows_and_what_was_skipped(tmp_path, serve_project, new_context):
    project = Project.create(tmp_path / "stars.cusal.db", Settings(title="Stars", kind="table", data="stars.csv"))
    project.items.add([NewItem(str(row), None, {"mass": row / 10, "colour": "red"}) for row in range(10)])
    add_classes(project, ["dwarf", "giant"])
    fill_queue(project)
    server = serve_project(project)
    page = open_label(new_context(), server)
    page.keyboard.press("s")
    page.keyboard.press("u")
    wait_saved(page)
    go(page, server.url + "/browse")
    assert page.locator(".row .row-text").nth(3).text_content() == "3 mass 0.3 · colour red"
    said = [page.locator(".row .row-label").nth(place).text_content() for place in range(3)]
    assert said == ["skipped", "not sure", "no label"]


def test_two_people_never_see_the_same_item(server, new_context):
    pages = []
    for name in ("Anna", "Ben"):
        kept = {"origin": server.url, "localStorage": [{"name": "cusal:person", "value": name}]}
        pages.append(open_label(new_context(storage_state={"cookies": [], "origins": [kept]}), server))
    for _ in range(10):
        for page in pages:
            page.keyboard.press("1")
    for page in pages:
        wait_saved(page)
    assert len(answers_in_order(server.project)) == 20
    assert len(server.project.answers.labels()) == 20
    assert server.project.answers.progress()["by_person"] == {"Anna": 10, "Ben": 10}


def test_with_an_overlap_of_two_each_item_is_answered_twice_and_agreement_is_shown(
    tmp_path, serve_project, new_context
):
    project = text_project(
        tmp_path / "twice.cusal.db", [f"Letter {row}" for row in range(10)], ["yes", "no"], overlap=2
    )
    add_round(project)
    server = serve_project(project)
    for name, keys in (("Anna", "1111122222"), ("Ben", "1111222221")):
        kept = {"origin": server.url, "localStorage": [{"name": "cusal:person", "value": name}]}
        page = open_label(new_context(storage_state={"cookies": [], "origins": [kept]}), server)
        for key in keys:
            page.keyboard.press(key)
        page.get_by_text("Every item is answered").wait_for()
        wait_saved(page)
    assert Counter(one.item for one in project.answers.given()) == dict.fromkeys(range(10), 2)
    go(page, server.url + "/progress")
    assert "Anna and Ben0.6010" in page.locator("#agreement").text_content()  # kappa: (0.8 - 0.5) / (1 - 0.5)
    page.get_by_role("link", name="Look at 2 disagreements").wait_for()


def test_a_name_is_asked_where_items_go_to_several_people(tmp_path, serve_project, new_context):
    project = text_project(tmp_path / "twice.cusal.db", ["one", "two", "three"] * 9, ["yes", "no"], overlap=2)
    server = serve_project(project)
    page = new_context().new_page()
    page.goto(server.url)
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item[data-item]")
    page.keyboard.press("1")
    wait_saved(page)
    assert [one.person for one in project.answers.given()] == ["Anna"]
    page.reload()
    page.wait_for_selector("#item[data-item]")
    assert page.locator("#person-name").text_content() == "Anna"


def test_what_is_said_when_nothing_is_left_or_the_queue_is_dry(tmp_path, serve_project, new_context):
    project = text_project(tmp_path / "short.cusal.db", ["one", "two"], ["yes", "no"])
    server = serve_project(project)
    page = new_context().new_page()
    page.goto(server.url)
    page.wait_for_selector("#item[data-item]")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.get_by_text("Every item is answered").wait_for()
    page.keyboard.press("1")  # there is nothing to label
    page.keyboard.press("z")
    assert shown_item(page) == 1
    wait_saved(page)
    assert project.answers.labels() == {0: 0}


def test_items_appear_by_themselves_when_the_queue_was_dry(server, new_context):
    held = [pick.item for pick in server.project.queue.next_picks("Anna", 60)]
    page = new_context().new_page()
    page.goto(server.url)
    page.get_by_text("The next items are being chosen.").wait_for()
    server.project.queue.release("Anna", held)
    page.wait_for_selector("#item[data-item]")


def test_hostile_text_is_shown_as_text(tmp_path, serve_project, new_context):
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    project = text_project(tmp_path / "hostile.cusal.db", [hostile] * 30, ["<b>bold</b>", "b"])
    server = serve_project(project)
    page = open_label(new_context(), server)
    assert page.locator("#item p").text_content() == hostile
    assert page.locator("#class-0 .class-name").text_content() == "<b>bold</b>"
    page.keyboard.press("1")
    go(page, server.url + "/browse")
    page.locator(".row").first.wait_for()
    assert page.locator(".row .row-text").first.text_content() == hostile


def test_a_phone_labels_by_touch(server, new_context):
    context = new_context(has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(server.url)
    page.wait_for_selector("#item[data-item]")
    page.locator("#class-1").tap()
    page.locator("#class-2").tap()
    page.locator("#undo").tap()
    page.locator("#skip").tap()
    wait_saved(page)
    assert server.project.answers.labels() == {0: 1}
    assert server.project.answers.progress()["skipped"] == 1
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0


def test_a_long_text_keeps_its_lines_and_scrolls(tmp_path, serve_project, new_context):
    text = "\n\n".join(f"Paragraph {place} of a letter that goes over many lines." for place in range(60))
    server = serve_project(text_project(tmp_path / "long.cusal.db", [text] * 20, ["yes", "no"]))
    page = open_label(new_context(), server)
    assert page.locator("#item p").evaluate("(found) => found.innerText") == text
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    assert page.locator("#item .text").evaluate("(found) => found.scrollTop") > 100
    page.keyboard.press("1")
    assert page.locator("#item .text").evaluate("(found) => found.scrollTop") == 0


def test_the_keys_are_listed_on_request(server, new_context):
    page = open_label(new_context(), server)
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("undo, any number of steps").wait_for()
    page.keyboard.press("1")  # belongs to the dialog
    page.keyboard.press("Escape")
    assert shown_item(page) == 0
    page.keyboard.press("1")
    assert shown_item(page) == 1


def test_export_names_the_commands_and_says_what_went_wrong(server, new_context):
    page = go(new_context().new_page(), server.url + "/export")
    page.get_by_text("No file was written yet.").wait_for()
    page.locator("[value=csv]").uncheck()
    page.locator("#start").click()
    page.get_by_text("Choose at least one format.").wait_for()
    page.locator("[value=jsonl]").check()
    assert page.locator("code").first.text_content() == "cusal export letters.cusal.db --format jsonl"
