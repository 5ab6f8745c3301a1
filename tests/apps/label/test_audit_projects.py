"""`cusal label PREDICTIONS --audit` behind the pages: the order, the figures, changes that are refused, the export."""

import csv
import json

import numpy as np
import pytest
from audit_tables import NAMES, audit_of, true_name, write_predictions
from PIL import Image
from projects import label, pass_over

from cusal.apps.label import Project, Round, write_export
from cusal.apps.label.audits.messages import Checking
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, start_project
from cusal.apps.label.worker.auditing import AuditWorker
from cusal.audit.command import Request, run
from cusal.audit.prediction_table import read_predictions
from cusal.errors import DataError, InvalidInput, ProjectError

AUDIT = SourceOptions(audit=True)


@pytest.fixture
def table(tmp_path):
    return write_predictions(tmp_path / "letters.csv")


def begin(path, *, source=AUDIT, **options):
    return start_project(Options(str(path), source=source, **options)).project


def class_ids(project):
    return {one.name: one.id for one in project.classes.all()}


def check(project, count, person="me"):
    """Answer as somebody who knows the truth; return the items in the order in which they were asked."""
    classes, items = class_ids(project), []
    while len(items) < count:
        picks = project.queue.next_picks(person, count - len(items))
        project.answers.store([label(p.item, classes[true_name(project.items.get(p.item).key)], person) for p in picks])
        items += [pick.item for pick in picks]
    return items


def figures(project):
    AuditWorker(project).step()
    return project.status.all()["audit"]


def test_items_are_asked_in_the_order_of_the_audit(table):
    with begin(table) as project:
        assert check(project, 40) == audit_of(table).ask(40).tolist()
        assert [one.name for one in project.classes.all()] == [*sorted(NAMES), "(wrong)"]
        assert project.settings.wrong_class == 3
        assert project.items.get(7).extra == {"source": "post"}


def test_the_seed_of_the_project_is_that_of_the_order(table):
    with begin(table, changes={"seed": 5}) as project:
        assert check(project, 20) == audit_of(table, seed=5).ask(20).tolist()
    with pytest.raises(ProjectError, match="begun with --seed 5"):
        begin(table, changes={"seed": 6})


def test_figures_are_those_of_the_audit_of_the_same_answers(table):
    with begin(table) as project:
        check(project, 60)
        audit = audit_of(table)
        items = audit.ask(60)
        audit.tell(items, [true_name(f"letter-{item}") for item in items])
        found = figures(project)
        for name, share in (("accuracy", audit.accuracy()), ("anytime", audit.accuracy(anytime=True))):
            assert (found[name]["low"], found[name]["high"]) == pytest.approx((share.low, share.high))
            assert found[name]["estimate"] == pytest.approx(share.estimate)
        assert found["needed"]["checks"] == audit.needed(0.02).checks
        assert found["checks"] == found["counted"] == 60
        assert found["accept"]["reason"] == audit.accept(0.05).reason
        assert found["curve"][-1]["labels"] == 60


def test_wrong_unsure_and_another_class_mean_what_they_say(table):
    with begin(table) as project:
        items = [pick.item for pick in project.queue.next_picks("me", 5)]
        predicted = project.rounds.predictions().top
        right, other = int(predicted[items[0]]), (int(predicted[items[1]]) + 1) % 3
        project.answers.store(
            [label(items[0], right), label(items[1], other), label(items[2], project.settings.wrong_class)]
        )
        project.answers.store([pass_over(items[3], "unsure"), pass_over(items[4], "skip")])
        audit = Checking(project).audit()
        assert [audit.answers[item] for item in items] == [True, False, False, None, None]
        assert items[2] not in audit.true_labels
        assert audit.checked_in_order.tolist() == items
        project.answers.undo("me", "undo-0000001")
        assert Checking(project).audit().checked_in_order.tolist() == items[:4]


def test_a_broken_item_is_unknown_and_holds_nothing_up(table):
    with begin(table) as project:
        broken = audit_of(table).ask(3).tolist()[1]
        project.items.mark(broken, "broken", "cannot be read")
        items = check(project, 10)
        assert broken not in items
        assert figures(project)["counted"] == 11
        assert Checking(project).audit().answers[broken] is None


def test_two_people_share_the_order_and_what_is_behind_a_gap_waits(table):
    with begin(table) as project:
        ann = [pick.item for pick in project.queue.next_picks("ann", 10)]
        bob = check(project, 10, "bob")
        assert ann + bob == audit_of(table).ask(20).tolist()
        assert figures(project)["counted"] == 0
        project.answers.store([label(item, 0, "ann") for item in ann])
        assert figures(project)["counted"] == 20


def test_starting_again_keeps_answers_and_order(table):
    with begin(table) as project:
        first = check(project, 15)
    with begin(table, source=SourceOptions()) as project:  # --audit need not be given again
        assert first + check(project, 15) == audit_of(table).ask(30).tolist()
        assert len(project.classes.all()) == 4


def test_a_start_that_was_killed_is_completed(table):
    with begin(table) as project:
        place = project.place
    with (
        Project(place) as project,
        project.database.writing() as connection,
    ):  # as if killed before the round was written
        connection.exec_driver_sql("DELETE FROM rounds")
        connection.exec_driver_sql("DELETE FROM queue")
    with begin(table) as project:
        assert check(project, 30) == audit_of(table).ask(30).tolist()
        assert len(project.classes.all()) == 4


def test_the_order_of_the_rows_may_change_and_the_predictions_may_not(table):
    with begin(table) as project:
        first = [project.items.get(item).key for item in check(project, 10)]
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    with begin(table) as project:
        second = [project.items.get(item).key for item in check(project, 10)]
    audit = audit_of(table)
    assert first + second == [f"letter-{299 - item}" for item in audit.ask(20).tolist()]
    table.write_text("\n".join([lines[0], *lines[2:]]))
    with pytest.raises(ProjectError, match="other predictions need an order of their own"):
        begin(table)


def test_labelling_and_auditing_are_different_projects(table, tmp_path):
    begin(table, source=SourceOptions()).close()
    with pytest.raises(ProjectError, match="no audit"):
        begin(table)
    with begin(table, store=str(tmp_path / "other.cusal.db")) as project:
        assert project.settings.wrong_class == 3


def test_options_that_make_no_sense_are_refused(table, tmp_path):
    with pytest.raises(InvalidInput, match="add --audit"):
        begin(table, source=SourceOptions(confidence="confidence"))
    with pytest.raises(DataError, match="is a folder"):
        begin(tmp_path)
    with pytest.raises(InvalidInput, match="--labels"):
        begin(table, source=SourceOptions(audit=True, labels=str(table)))


def test_classes_of_ones_own_stand_behind_the_predicted_ones(table):
    with begin(table, classes=("invoice",)) as project:
        assert [one.name for one in project.classes.all()] == [*sorted(NAMES), "(wrong)", "invoice"]
        item = project.queue.next_picks("me", 1)[0].item
        project.answers.store([label(item, 4)])
        assert Checking(project).audit().true_labels[item] == "invoice"


def test_a_table_without_texts_shows_its_other_columns(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"prediction": "10" if row % 2 else "9", "score": 0.9, "width": row} for row in range(12)]
    path.write_text("\n".join(map(json.dumps, rows)))
    with begin(path) as project:
        assert project.settings.kind == "table"
        assert project.items.get(3).extra == {"width": 3}
        assert [one.name for one in project.classes.all()] == ["9", "10", "(wrong)"]


def test_paths_of_images_are_shown_as_images(tmp_path):
    (tmp_path / "photos").mkdir()
    for row in range(4):
        Image.fromarray(np.full((4, 4), row, np.uint8)).save(tmp_path / "photos" / f"{row}.png")
    lines = [f"{row},photos/{row}.png,cat,0.{row + 5}" for row in range(4)]
    (tmp_path / "p.csv").write_text("\n".join(["id,image,label,score", *lines]))
    with begin(tmp_path / "p.csv") as project:
        assert project.settings.kind == "image"
        assert project.items.get(2).text == "photos/2.png"


def test_a_missing_confidence_is_no_number(tmp_path, table):
    lines = table.read_text().splitlines()
    cells = lines[1].split(",")
    cells[3] = ""
    table.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]))
    with begin(table) as project:
        assert np.isnan(project.rounds.predictions().confidence[0])
        write_export(project, tmp_path / "out")
    with (tmp_path / "out" / "audit.csv").open() as file:
        assert next(csv.DictReader(file))["confidence"] == ""


def exported(folder):
    with (folder / "audit.csv").open(newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_the_export_holds_every_prediction_checked_or_accepted(table, tmp_path):
    with begin(table) as project:
        items = check(project, 60)
        last = [pick.item for pick in project.queue.next_picks("eva", 3)]
        predicted = [int(project.rounds.predictions().top[item]) for item in last]
        project.answers.store(
            [label(last[0], project.settings.wrong_class, "eva"), pass_over(last[1], "unsure", "eva")]
        )
        project.answers.store([label(last[2], predicted[2], "eva")])
        write_export(project, tmp_path / "out", ["csv", "jsonl", "parquet"])
        audit = Checking(project).audit()
        keys = [project.items.get(item).key for item in range(300)]
    rows = exported(tmp_path / "out")
    assert list(rows) == keys
    assert sum(row["checked"] == "yes" for row in rows.values()) == 63
    one = rows[keys[items[0]]]
    assert (one["label"], one["who"], one["checked"]) == (true_name(keys[items[0]]), "me", "yes")
    assert one["when"].startswith("20")
    assert (rows[keys[last[0]]]["label"], rows[keys[last[0]]]["right"]) == ("", "no")
    assert rows[keys[last[1]]]["right"] == "unsure"
    assert rows[keys[last[2]]]["chance_right"] == "1.0"
    chances = audit.calibrated()
    for item, key in enumerate(keys):
        if rows[key]["checked"] == "no":
            assert rows[key]["label"] == rows[key]["predicted"]
            assert float(rows[key]["chance_right"]) == pytest.approx(chances[item], abs=1e-6)
    assert "predictions are right" in (tmp_path / "out" / "summary.txt").read_text()
    assert (tmp_path / "out" / "audit.parquet").is_file()
    assert len((tmp_path / "out" / "audit.jsonl").read_text().splitlines()) == 300


def test_the_command_line_continues_from_the_export(table, tmp_path):
    with begin(table) as project:
        check(project, 50)
        project.answers.store([pass_over(project.queue.next_picks("me", 1)[0].item, "unsure")])
        project.answers.store([label(project.queue.next_picks("me", 1)[0].item, project.settings.wrong_class)])
        project.items.mark(audit_of(table).ask(53).tolist()[-1], "missing", "gone")
        write_export(project, tmp_path / "out")
        found = figures(project)
    said = run(Request(str(table), [str(tmp_path / "out" / "audit.csv")], out=str(tmp_path / "next.csv"), count=5)).text
    assert f"between {found['accuracy']['low']:.1%}".replace("%", " %") in said
    assert "from 53 checks" in said
    with (tmp_path / "next.csv").open() as file:
        asked = [row["id"] for row in csv.DictReader(file)]
    assert asked == [f"letter-{item}" for item in audit_of(table).ask(58).tolist()[53:]]


def test_formats_of_labels_are_refused(table, tmp_path):
    with begin(table) as project, pytest.raises(InvalidInput, match="choose csv, jsonl, parquet"):
        write_export(project, tmp_path / "out", ["labelstudio"])


def test_a_project_without_its_beginning_is_no_audit(project):
    project.rounds.add(Round(1, 0, {}))
    with pytest.raises(ProjectError, match="holds no audit"):
        Checking(project)


def test_the_command_line_and_the_browser_find_the_same_text(tmp_path):
    rows = "".join(f"m{row},a message that says number {row},bill,0.9\n" for row in range(30))
    (tmp_path / "p.csv").write_text(f"key,body,predicted,score\n{rows}")
    assert "the text from body" in read_predictions(str(tmp_path / "p.csv")).reading
    with begin(tmp_path / "p.csv") as project:
        assert project.items.get(0).text == "a message that says number 0"


def test_what_was_read_is_said_at_the_start_of_an_audit(table):
    source = SourceOptions(audit=True)
    started = start_project(Options(str(table), source=source))
    with started.project:
        assert started.remarks[0] == (
            "Read: the label from predicted, the confidence from confidence, the id from id, the text from text."
        )
