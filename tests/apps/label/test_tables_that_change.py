"""A table that changes between two starts: no label goes to another row, and what is new, gone or changed is said."""

import csv
import uuid

import pytest

from cusal.apps.label.export.write import write_export
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, start_project
from cusal.apps.label.store import ClassChange

TEXTS = [f"the letter number {number} is about {['bills', 'parcels'][number % 2]}" for number in range(30)]


def write(path, rows, header=("text",)):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def start(path, **options):
    return start_project(Options(str(path), source=SourceOptions(**options), classes=("bills", "parcels")))


def label_all(project):
    """Label each item by its text."""
    for item in project.items.of(project.items.ids()):
        kind = int("parcels" in (item.text or str(item.extra)))
        project.answers.label_many(str(uuid.uuid4()), "me", [item.id], kind)


def labels_by_text(project):
    return {project.items.get(item).text: kind for item, kind in project.answers.labels().items()}


def test_a_row_inserted_at_the_top_moves_no_label(tmp_path):
    path = tmp_path / "letters.csv"
    write(path, [[text] for text in TEXTS])
    with start(path).project as project:
        label_all(project)
    write(path, [["a new letter about parcels"], *([text] for text in TEXTS)])
    started = start(path)
    with started.project as project:
        assert project.items.count("ok") == 31
        assert labels_by_text(project) == {text: int("parcels" in text) for text in TEXTS}
        assert "1 rows are new since the last start." in started.remarks
        assert [project.items.get(item).text for item in set(project.items.ids()) - set(project.answers.labels())] == [
            "a new letter about parcels"
        ]


def test_rows_that_are_gone_are_set_aside_until_they_return(tmp_path):
    path = tmp_path / "letters.csv"
    write(path, [[text] for text in TEXTS])
    with start(path).project as project:
        label_all(project)
    write(path, [[text] for text in reversed(TEXTS[3:])])
    started = start(path)
    with started.project as project:
        assert project.items.count("missing") == 3
        assert any(line.startswith("3 rows are not there any more") for line in started.remarks)
    write(path, [[text] for text in TEXTS])
    started = start(path)
    with started.project as project:
        assert project.items.count("missing") == 0
        assert labels_by_text(project) == {text: int("parcels" in text) for text in TEXTS}
        assert "3 rows that were missing are back." in started.remarks


def test_rows_that_are_alike_are_told_apart_by_what_stands_beside_the_text(tmp_path):
    path = tmp_path / "answers.csv"
    rows = [["yes it is", question] for question in ("is it about bills", "is it about parcels", "is it late today")]
    write(path, rows, ("text", "question"))
    with start(path, text="text").project as project:
        label_all(project)
        beside = {project.items.get(item).extra["question"]: kind for item, kind in project.answers.labels().items()}
    write(path, [["yes it is", "is it new"], *rows[::-1]], ("text", "question"))
    with start(path).project as project:
        assert {
            project.items.get(item).extra["question"]: kind for item, kind in project.answers.labels().items()
        } == beside


def test_a_new_column_changes_no_row(tmp_path):
    path = tmp_path / "letters.csv"
    write(path, [[text] for text in TEXTS])
    with start(path).project as project:
        label_all(project)
    write(path, [[text, str(number)] for number, text in enumerate(TEXTS)], ("text", "page"))
    started = start(path)
    with started.project as project:
        assert (project.items.count("ok"), project.items.count("missing")) == (30, 0)
        assert len(project.answers.labels()) == 30


@pytest.mark.parametrize("kind", ["text", "table"])
def test_a_row_that_has_changed_under_its_id_is_asked_again(tmp_path, kind):
    path = tmp_path / "letters.csv"
    cells = TEXTS if kind == "text" else [str(number / 3) for number in range(30)]
    write(path, [[f"a{number}", cell] for number, cell in enumerate(cells)], ("id", "text" if kind == "text" else "x"))
    with start(path).project as project:
        label_all(project)
    now = ["a letter about parcels at last" if kind == "text" else "77.5", *cells[1:]]
    write(path, [[f"a{number}", cell] for number, cell in enumerate(now)], ("id", "text" if kind == "text" else "x"))
    started = start(path)
    with started.project as project:
        open_items = set(project.items.ids().tolist()) - set(project.answers.labels())
        assert [project.items.get(item).key for item in open_items] == ["a0"]
        former = next(item for item in project.items.of(project.items.ids("missing")))
        assert former.key == "a0 (former item 0)"
        assert "other content" in former.note
        assert any(line.startswith("1 rows have changed") for line in started.remarks)
        project.classes.change(ClassChange(str(uuid.uuid4()), "me", "add", name="else"))
    assert not any("changed" in line or "new" in line for line in start(path).remarks)


def test_what_was_read_is_said(tmp_path):
    path = tmp_path / "letters.csv"
    rows = [[f"a{number}", text, "bills" if number < 9 else ""] for number, text in enumerate(TEXTS)]
    write(path, rows, ("id", "body", "label"))
    started = start(path)
    with started.project as project:
        assert started.remarks[0] == "Read: the text from the column body; the id from id."
        assert started.remarks[1] == "Column label: 9 values, used as known labels, and not shown."
        assert len(project.answers.labels()) == 9
        assert project.items.get(0).extra is None


def test_a_column_that_is_full_of_labels_is_hidden_until_it_is_asked_for(tmp_path):
    path = tmp_path / "letters.csv"
    write(path, [[text, "bills"] for text in TEXTS], ("text", "label"))
    started = start(path)
    with started.project as project:
        assert "Column label: 30 values, not used and not shown" in started.remarks[1]
        assert (project.answers.labels(), project.items.get(0).extra) == ({}, None)
    started = start(path, label="label")
    with started.project as project:
        assert len(project.answers.labels()) == 30


def test_lines_of_a_text_file_and_rows_without_a_header_are_items(tmp_path):
    path = tmp_path / "letters.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    with start(path).project as project:
        assert project.items.texts(range(30)) == TEXTS
    path = tmp_path / "more.csv"
    write(path, [[text] for text in TEXTS[1:]], (TEXTS[0],))
    with start(path, header=False).project as project:
        assert project.items.texts(range(30)) == TEXTS
    with start(path).project as project:  # the second start knows
        assert project.items.count("ok") == 30


def test_known_labels_may_go_by_the_numbers_of_rows(tmp_path):
    path, labels = tmp_path / "letters.csv", tmp_path / "known.csv"
    write(path, [[text] for text in TEXTS])
    write(labels, [["2", "parcels"], ["30", "parcels"]], ("row", "label"))
    with start(path, labels=str(labels)).project as project:
        assert labels_by_text(project) == {TEXTS[1]: 1, TEXTS[29]: 1}


def test_the_export_names_the_row_that_a_label_belongs_to_now(tmp_path):
    path = tmp_path / "letters.csv"
    write(path, [[text] for text in TEXTS])
    with start(path).project as project:
        label_all(project)
    write(path, [["a new letter about parcels"], *([text] for text in TEXTS)])
    with start(path).project as project:
        write_export(project, tmp_path / "out")
    with (tmp_path / "out" / "labels.csv").open() as file:
        found = {int(row["row"]): row["label"] for row in csv.DictReader(file)}
    assert found == {number + 2: ["bills", "parcels"]["parcels" in text] for number, text in enumerate(TEXTS)}
