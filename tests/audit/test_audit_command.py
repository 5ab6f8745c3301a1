"""The command `cusal audit`: tables of predictions and answers in, a paragraph, the next items and a report out."""

import csv
import gzip
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cusal.audit.answer_tables import tell_verified
from cusal.audit.prediction_table import read_predictions
from cusal.cli import app
from cusal.errors import CusalError, DataError, UnknownName
from cusal.tables import NamedColumns

NAMES = np.array(["cat", "dog", "=owl"])


def made(count=600, seed=0):
    """Return rows of predictions, and their true labels by id."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.4, 1, count)
    predicted = rng.integers(3, size=count)
    true = np.where(rng.random(count) < confidence, predicted, (predicted + 1) % 3)
    rows = [
        {
            "id": f"-{i}",
            "text": f"<b>item {i}</b>",
            "predicted": NAMES[p],
            "confidence": f"{c:.4f}",
            "city": "ab"[i % 2],
        }
        for i, (p, c) in enumerate(zip(predicted, confidence, strict=True))
    ]
    return rows, {row["id"]: str(NAMES[t]) for row, t in zip(rows, true, strict=True)}


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def fill_in(source, target, truth):
    """Do what a person does with the file of next items."""
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["true_label"] = truth[row["id"].removeprefix("'")]
    write_csv(target, rows)
    return rows


def run(*arguments):
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, CusalError | SystemExit), result.exception
    if isinstance(result.exception, CusalError):
        raise result.exception
    return result.output


def test_days_of_checking_hunting_and_a_report(tmp_path):
    rows, truth = made()
    right = np.mean([row["predicted"] == truth[row["id"]] for row in rows])
    write_csv(tmp_path / "predictions.csv", rows)
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    out, report = tmp_path / "next.csv", tmp_path / "audit.html"
    assert "no checks yet" in run(tmp_path / "predictions.csv", "-k", 120, "--out", out)
    fill_in(out, first, truth)
    said = run(tmp_path / "predictions.csv", "--labels", first, "--hunt", "-k", 40, "--out", out)
    low, high = (float(word) for word in said.split("between ")[1].replace(" %", "").split(",")[0].split(" and "))
    assert low < 100 * right < high
    hunted = fill_in(out, second, truth)
    assert {row["why"] for row in hunted} == {"hunt"}
    labels = ("--labels", first, "--labels", second)
    said = run(tmp_path / "predictions.csv", *labels, "--report", report, "--out", out, "--accept", 0.2)
    assert "160 checks" in said
    page = report.read_text()
    assert "<b>item" not in page
    assert "&lt;b&gt;item" in page
    assert "By city" in page
    assert page.count("<svg") == 2


def test_the_same_order_the_next_day_and_from_a_sorted_file(tmp_path):
    rows, _ = made()
    write_csv(tmp_path / "one.csv", rows)
    write_csv(tmp_path / "two.csv", sorted(rows, key=lambda row: row["text"]))
    for name in ("one", "two"):
        run(tmp_path / f"{name}.csv", "--out", tmp_path / f"{name}-next.csv")
    assert (tmp_path / "one-next.csv").read_text() == (tmp_path / "two-next.csv").read_text()


def test_probabilities_by_class_name_and_log_probabilities_and_percentages(tmp_path):
    probs = [[0.7, 0.3], [0.2, 0.8]]
    (tmp_path / "probs.jsonl").write_text(
        "".join(json.dumps({"key": i, "cat": p, "dog": q}) + "\n" for i, (p, q) in enumerate(probs))
    )
    table = read_predictions(str(tmp_path / "probs.jsonl"), NamedColumns())
    assert table.labels == ["cat", "dog"]
    assert list(table.confidence) == [0.7, 0.8]
    with gzip.open(tmp_path / "logs.csv.gz", "wt") as file:
        file.write("id,answer,logprob\n1,cat,-0.1\n2,dog,\n")
    logs = read_predictions(str(tmp_path / "logs.csv.gz"), NamedColumns())
    assert logs.confidence[0] == pytest.approx(np.exp(-0.1))
    assert np.isnan(logs.confidence[1])
    (tmp_path / "percent.tsv").write_text("id\tlabel\tscore\n1\tcat\t87\n2\tdog\t55\n")
    assert list(read_predictions(str(tmp_path / "percent.tsv"), NamedColumns()).confidence) == [0.87, 0.55]


@pytest.mark.needs("pyarrow")
def test_parquet_is_read_too(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(
        pyarrow.table({"id": [1, 2], "prediction": ["a", "b"], "score": [0.5, 0.9]}), tmp_path / "p.parquet"
    )
    assert read_predictions(str(tmp_path / "p.parquet"), NamedColumns()).labels == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("id,thing\n1,2\n", "Name the predicted label"),
        ("id,label\n1,a\n1,b\n", "occurs twice"),
        ("id,label,confidence\n1,a,high\n", "expected a number"),
        ("id,label\n1,\n", "has no predicted label"),
        ("id,label,logprob\n1,a,-1\n2,b,3\n", "expected 0 or less"),
        ("id,label\n", "has no rows"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_one_line(tmp_path, content, message):
    (tmp_path / "bad.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        read_predictions(str(tmp_path / "bad.csv"), NamedColumns())


def test_answers_that_do_not_fit_are_refused(tmp_path):
    rows, _ = made(20)
    write_csv(tmp_path / "p.csv", rows)
    for content, message in [
        ("id,true_label\n99,cat\n", "which no prediction has"),
        ("id,color\n-1,red\n", "expected an id"),
        ("id,right\n-1,perhaps\n", "no answer in"),
    ]:
        (tmp_path / "bad.csv").write_text(content)
        with pytest.raises(CusalError, match=message):
            run(tmp_path / "p.csv", "--labels", tmp_path / "bad.csv", "--out", tmp_path / "n.csv")
    (tmp_path / "good.csv").write_text("id,right\n-1,yes\n-2,no\n-3,?\n-4,\n")
    assert "3 items were checked" in run(
        tmp_path / "p.csv", "--labels", tmp_path / "good.csv", "--out", tmp_path / "n.csv"
    )


def test_a_column_that_is_not_there_and_a_file_that_is_not_there(tmp_path):
    rows, _ = made(5)
    write_csv(tmp_path / "p.csv", rows)
    with pytest.raises(UnknownName, match="did you mean 'city'"):
        read_predictions(str(tmp_path / "p.csv"), NamedColumns(label="citty"))
    for missing in ("no.csv", "p.xlsx"):
        with pytest.raises(DataError):
            read_predictions(str(tmp_path / missing), NamedColumns())


def test_damaged_tables_give_a_clear_error_or_are_read(tmp_path):
    rows, _ = made(50)
    write_csv(tmp_path / "p.csv", rows)
    whole = (tmp_path / "p.csv").read_bytes()
    packed = gzip.compress(whole)
    rng = np.random.default_rng(0)
    for content, name in ((whole, "d.csv"), (packed, "d.csv.gz"), (b"\xff\xfe\x00", "d.jsonl"), (b"[1,2]", "d.jsonl")):
        for _ in range(20):
            place = int(rng.integers(len(content)))
            (tmp_path / name).write_bytes(content[:place] + bytes([rng.integers(256)]) + content[place + 1 :])
            try:
                read_predictions(str(tmp_path / name), NamedColumns())
            except CusalError:
                continue


def test_accepted_predictions_are_no_answers(tmp_path):
    rows, truth = made(60)
    write_csv(tmp_path / "p.csv", rows)
    answers = [
        {"id": row["id"], "label": truth[row["id"]], "checked": "no" if place % 2 else "yes", "right": ""}
        for place, row in enumerate(rows)
    ]
    answers[1]["right"] = "unsure"  # nobody can check it: its file is gone
    write_csv(tmp_path / "export.csv", answers)
    table = read_predictions(str(tmp_path / "p.csv"), NamedColumns())
    audit = table.audit(0)
    assert len(tell_verified(audit, table.ids, [str(tmp_path / "export.csv")]).answers) == 31
    assert audit.answers[1] is None
    assert 3 not in audit.answers


def test_answers_that_somebody_typed_are_never_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, truth = made()
    write_csv(tmp_path / "predictions.csv", rows)
    run("predictions.csv", "-k", 20)
    run("predictions.csv", "-k", 20)  # nobody has answered yet: the same file again
    assert not (tmp_path / "next-2.csv").exists()
    fill_in(tmp_path / "next.csv", tmp_path / "next.csv", truth)
    answered = (tmp_path / "next.csv").read_bytes()
    said = run("predictions.csv", "--labels", "next.csv", "-k", 5, "--seed", 0)
    assert (tmp_path / "next.csv").read_bytes() == answered
    assert "cusal audit predictions.csv --labels next.csv --labels next-2.csv" in said
    fill_in(tmp_path / "next-2.csv", tmp_path / "next-2.csv", truth)
    assert "from 25 checks" in run("predictions.csv", "--labels", "next.csv", "--labels", "next-2.csv")
    assert (tmp_path / "next-3.csv").exists()
    before = (tmp_path / "predictions.csv").read_bytes()
    run("predictions.csv", "--out", "predictions.csv")  # a slip of the finger
    assert (tmp_path / "predictions.csv").read_bytes() == before


def test_the_command_for_the_next_day_repeats_what_was_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my table.csv").write_text("what,sure,name\ncat,.9,a\ndog,.8,b\n")
    said = run("my table.csv", "--label", "what", "--confidence", "sure", "--id", "name", "--seed", 3)
    assert "cusal audit 'my table.csv' --label what --confidence sure --id name --seed 3 --labels next.csv" in said


def test_what_was_read_is_said_on_the_first_day(tmp_path):
    (tmp_path / "p.csv").write_text("question,answer,sureness\nwho?,cat,0.9\nwhy?,dog,0.8\n")
    said = run(tmp_path / "p.csv", "--out", tmp_path / "n.csv")
    assert "the label from answer, no confidence (name its column with --confidence)" in said
    assert "the number of the row as id, the text from question" in said
    named = run(tmp_path / "p.csv", "--confidence", "sureness", "--out", tmp_path / "n.csv")
    assert "the confidence from sureness" in named


def test_slips_in_the_answers_are_pointed_out(tmp_path):
    rows, truth = made()
    write_csv(tmp_path / "p.csv", rows)
    run(tmp_path / "p.csv", "-k", 30, "--out", tmp_path / "n.csv")
    answers = fill_in(tmp_path / "n.csv", tmp_path / "c.csv", truth)
    answers[3]["true_label"], answers[4]["true_label"], answers[5]["true_label"] = "CAT", "?", ""
    write_csv(tmp_path / "c.csv", [*answers, {**answers[0], "true_label": "ferret"}])
    said = run(tmp_path / "p.csv", "--labels", tmp_path / "c.csv", "--out", tmp_path / "n.csv")
    assert f"24 answers do not count yet, because {answers[5]['id'].removeprefix(chr(39))}, which" in said
    assert "Nobody could tell about 1 item" in said
    assert "CAT is taken as cat." in said
    assert "1 item was answered twice, differently" in said


def test_a_missing_confidence_is_an_empty_cell(tmp_path):
    (tmp_path / "p.csv").write_text("id,label,confidence\n1,cat,\n2,dog,87 %\n")
    said = run(tmp_path / "p.csv", "--out", tmp_path / "n.csv")
    assert "1 have no confidence" in said
    assert "nan" not in (tmp_path / "n.csv").read_text()
