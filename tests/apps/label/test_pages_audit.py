"""Checking predictions in a real Chromium, with the command and its worker: keys, undo, a kill in the middle."""

import signal
import subprocess
import sys
import time

import pytest
from audit_tables import audit_of, true_name, write_predictions
from pages_browser import shown_item, wait_for, wait_saved

from cusal.apps.label import Project
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, start_project

pytestmark = pytest.mark.slow
PROGRAM = "from cusal.cli import main; main()"


class Command:
    """`cusal label PREDICTIONS --audit` in a process of its own; started again it has the same address."""

    def __init__(self, path) -> None:
        self.path, self.port = path, 0
        start_project(Options(str(path), source=SourceOptions(audit=True))).project.close()
        self.project = Project(path.with_suffix(".cusal.db"))
        self.start()

    def start(self) -> None:
        options = ["--audit", "--no-browser", "--port", str(self.port)]
        command = [sys.executable, "-u", "-c", PROGRAM, "label", str(self.path), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("Check at http://127.0.0.1:")
        self.port = int(line.rstrip("/\n").rpartition(":")[2])

    def end(self, number=signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.communicate()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def command(tmp_path):
    running = Command(write_predictions(tmp_path / "letters.csv"))
    yield running
    running.end()
    running.project.close()


def open_check(context, command):
    page = context.new_page()
    page.goto(command.url)
    page.wait_for_selector("#item[data-item]")
    wait_for(page, "Number(document.body.dataset.ahead) > 5")
    return page


def key_for(item, page):
    """Return the key of somebody who knows the truth: Enter if the prediction is right, else that of the class."""
    name, predicted = true_name(f"letter-{item}"), page.locator(".predicted").text_content()
    return "Enter" if name == predicted else {"advert": "1", "bill": "2", "private": "3"}[name]


def check(page, count):
    """Check items by keys; return them in order."""
    seen = []
    for _ in range(count):
        seen.append(shown_item(page))
        page.keyboard.press(key_for(seen[-1], page))
    return seen


def until_counted(command, count, seconds=60):
    end = time.monotonic() + seconds
    while command.project.status.all().get("audit", {}).get("counted") != count:
        assert time.monotonic() < end, "the worker did not count the checks"
        time.sleep(0.1)


def as_range(share):
    return f"{100 * share.low:.1f} to {100 * share.high:.1f} %"


def test_twenty_checks_by_keys_show_what_the_audit_says(command, new_context):
    page = open_check(new_context(), command)
    audit = audit_of(command.path)
    seen = check(page, 20)
    wait_saved(page)
    assert seen == audit.ask(20).tolist()
    assert page.locator("#line-done").text_content() == "20 checks"
    audit.tell(seen, [true_name(f"letter-{item}") for item in seen])
    until_counted(command, 20)
    page.goto(f"{command.url}/progress")
    page.locator("#once").wait_for()
    assert page.locator("#once").text_content() == as_range(audit.accuracy())
    assert page.locator("#anytime").text_content() == as_range(audit.accuracy(anytime=True))
    assert f"About {100 * audit.accuracy().estimate:.1f} %" in page.locator("#accuracy .lead").text_content()
    needed = audit.needed(0.02)
    assert f"About {needed.checks - needed.done} more checks for ±2 points" in page.locator("#needed").text_content()
    assert page.locator("#accept").text_content() == audit.accept(0.05).reason


def test_wrong_unsure_and_undo_by_one_key_each(command, new_context):
    page = open_check(new_context(), command)
    items = []
    for key in ("r", "w", "u", "Enter"):
        items.append(shown_item(page))
        page.keyboard.press(key)
    wait_saved(page)
    predicted = command.project.rounds.predictions().top
    assert command.project.answers.labels() == {
        items[0]: predicted[items[0]],
        items[1]: command.project.settings.wrong_class,
        items[3]: predicted[items[3]],
    }
    assert command.project.answers.skipped() == [items[2]]
    assert page.locator("#line-done").text_content() == "4 checks"
    for item in reversed(items):
        page.keyboard.press("z")
        wait_for(page, f"document.getElementById('item').dataset.item === '{item}'")
        assert page.locator(".predicted").text_content()
    wait_saved(page)
    assert command.project.answers.labels() == {}
    assert page.locator("#line-done").text_content() == "0 checks"
    page.keyboard.press("s")  # a key of labelling, which says nothing here
    assert shown_item(page) == items[0]


def test_the_buttons_do_what_the_keys_do(command, new_context):
    page = open_check(new_context(), command)
    items = []
    for name in ("right", "wrong", "unsure"):
        items.append(shown_item(page))
        page.locator(f"#{name}").click()
    wait_saved(page)
    assert set(command.project.answers.labels()) == set(items[:2])
    assert command.project.answers.skipped() == items[2:]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert "You said wrong" in page.locator("#before").text_content()


def test_a_kill_and_a_new_start_lose_no_check(command, new_context):
    page = open_check(new_context(), command)
    seen = check(page, 7)
    command.end(signal.SIGKILL)
    seen += check(page, 6)
    page.get_by_text("wait to be sent").wait_for()
    command.start()
    wait_saved(page)
    seen += check(page, 7)
    wait_saved(page)
    assert seen == audit_of(command.path).ask(20).tolist()
    assert set(command.project.answers.labels()) == set(seen)
    until_counted(command, 20)


def test_with_many_classes_enter_is_right_and_letters_find(tmp_path, new_context):
    rows = [f"a{row},Some words of row {row}.,{chr(97 + row % 20) * 3},0.9" for row in range(60)]
    (tmp_path / "many.csv").write_text("\n".join(["id,text,predicted,confidence", *rows]))
    running = Command(tmp_path / "many.csv")
    try:
        page = open_check(new_context(), running)
        first = shown_item(page)
        page.keyboard.press("Enter")
        second = shown_item(page)
        page.keyboard.type("hh")
        page.keyboard.press("Enter")
        third = shown_item(page)
        page.keyboard.press("Shift+W")
        wait_saved(page)
        assert running.project.answers.labels() == {first: first % 20, second: 7, third: 20}
    finally:
        running.end()
        running.project.close()
