"""Seventy-seven classes: typing finds them, digits take those in use."""

import pytest
from pages_browser import Server, answers_in_order, open_label, shown_item, text_project, wait_saved

pytestmark = pytest.mark.slow

# What people ask a bank: the names have the shape of banking77's.
THINGS = ["card", "transfer", "top_up", "cash", "refund", "payment", "account"]
TROUBLES = ["declined", "pending", "arrival", "fee_charged", "not_recognised", "lost", "limits", "reverted"]
TROUBLES += ["delivery_estimate", "wrong_exchange_rate", "cancelled"]
NAMES = [f"{thing}_{trouble}" for thing in THINGS for trouble in TROUBLES]


@pytest.fixture
def server(tmp_path, serve_project) -> Server:
    texts = [f"Question number {row}" for row in range(60)]
    return serve_project(text_project(tmp_path / "bank.cusal.db", texts, NAMES))


def test_there_are_seventy_seven(server):
    assert len(set(NAMES)) == 77


def names_given(server):
    return [NAMES[given] for _, given in answers_in_order(server.project)]


def first_shown(page):
    return page.locator("#classes .class-name").first.text_content()


def test_typing_anywhere_filters_and_enter_takes_the_first(server, new_context):
    page = open_label(new_context(), server)
    item = shown_item(page)
    page.keyboard.type("tra pen")
    assert first_shown(page) == "transfer_pending"
    assert page.locator("#classes .class[aria-selected=true]").count() == 1
    page.keyboard.press("Enter")
    assert shown_item(page) != item
    assert page.locator("input.find").input_value() == ""
    wait_saved(page)
    assert names_given(server) == ["transfer_pending"]


def test_letters_of_commands_are_typed_and_shift_makes_them_commands(server, new_context):
    page = open_label(new_context(), server)
    item = shown_item(page)
    page.keyboard.type("s")
    assert page.locator("input.find").input_value() == "s"
    assert shown_item(page) == item
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+S")
    assert shown_item(page) != item
    page.keyboard.press("Shift+Z")
    assert shown_item(page) == item
    wait_saved(page)
    assert server.project.answers.progress()["skipped"] == 0


def test_digits_take_what_is_shown_and_stay_with_classes_in_use(server, new_context):
    page = open_label(new_context(), server)
    page.keyboard.type("cash lim")
    page.keyboard.press("Enter")
    caps = page.locator("#classes .class", has_text="cash_limits").locator("kbd")
    digit = caps.text_content()
    assert digit in list("123456789")
    page.keyboard.type("acc can")
    page.keyboard.press("1")
    assert caps.text_content() == digit
    page.keyboard.press(digit)
    wait_saved(page)
    assert names_given(server) == ["cash_limits", "account_cancelled", "cash_limits"]


def test_arrows_choose_among_what_was_found(server, new_context):
    page = open_label(new_context(), server)
    page.keyboard.type("refund")
    page.keyboard.press("ArrowDown")
    wanted = page.locator("#classes .class[aria-selected=true] .class-name").text_content()
    page.keyboard.press("Enter")
    wait_saved(page)
    assert names_given(server) == [wanted]


def test_nothing_is_taken_by_enter_alone_and_a_name_that_is_missing_can_be_added(server, new_context):
    page = open_label(new_context(), server)
    item = shown_item(page)
    page.keyboard.press("Enter")
    assert shown_item(page) == item
    page.keyboard.type("loyalty points")
    page.get_by_role("button", name="Add “loyalty points” as a class").click()
    page.locator("#classes .class-name", has_text="loyalty points").wait_for()
    assert server.project.classes.all()[-1].name == "loyalty points"


def test_the_matches_are_those_that_people_mean(server, new_context):
    page = open_label(new_context(), server)
    script = """async ([typed]) => {
        const { findClasses } = await import("/static/find_classes.js");
        const names = ["card_arrival", "lost_or_stolen_card", "cardPaymentFee", "top_up_failed", "Refund not showing",
            "activate_my_card"];
        return findClasses(names.map((name, id) => ({ id, name, labels: 0 })), typed).map(({ name }) => name);
    }"""
    find = lambda typed: page.evaluate(script, [typed])  # noqa: E731
    assert find("card")[0] == "card_arrival"
    assert find("card a")[0] == "card_arrival"
    assert find("card fee") == ["cardPaymentFee"]
    assert find("stolen card") == ["lost_or_stolen_card"]
    assert find("topup") == ["top_up_failed"]
    assert find("rfnd") == ["Refund not showing"]
    assert find("xyz") == []
    assert len(find("")) == 6
