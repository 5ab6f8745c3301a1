"""The command `cusal audit --judge`: the table, the bars and their exit codes, JSON, A against B, and drift."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cusal.cli import app
from cusal.errors import CusalError


def write(path, rows):
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def answer(source, target, truth):
    """Do what a person does with the file of next items."""
    rows = read(source)
    with target.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"true_label": truth[row["id"]]} for row in rows)
    return rows


def run(*arguments):
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    if isinstance(result.exception, CusalError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the truth of 1,500 answers, of which one judge errs in 10 % and another one in 25 %."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    good = rng.random(1500) < 0.7
    for name, errs in (("verdicts", 0.1), ("other", 0.25)):
        wrong = rng.random(1500) < errs
        sure = np.where(wrong, rng.beta(3, 2, 1500), rng.beta(8, 1, 1500))
        write(
            tmp_path / f"{name}.jsonl",
            [
                {
                    "id": f"q{i}",
                    "question": f"question {i}",
                    "reply": {"text": f"reply {i}"},
                    "verdict": "pass" if good[i] != wrong[i] else "fail",
                    "confidence": round(float(sure[i]), 4),
                    "reason": "because",
                    "correct": "the source has such a column",
                }
                for i in range(1500)
            ],
        )
    return {f"q{i}": "pass" if good[i] else "fail" for i in range(1500)}


JUDGE = ("verdicts.jsonl", "--predicted", "verdict", "--judge", "pass")


def test_the_table_and_a_paragraph_that_a_manager_understands(files, tmp_path):
    assert "no checks yet" in run(*JUDGE, "-k", 150).output
    answer(tmp_path / "next.csv", tmp_path / "done.csv", files)
    said = run(*JUDGE, "--labels", "done.csv", "--report", "judge.html").output
    assert "The judge says pass for" in said
    assert "Of what it calls pass, about" in said
    assert "truly pass (true rate)" in said
    assert "surely better than always saying pass" in said
    assert "--judge pass --labels done.csv --labels next.csv" in said.replace("next-2.csv", "next.csv")
    page = (tmp_path / "judge.html").read_text()
    assert "What is called what" in page
    assert "agreement beyond luck" in page
    assert page.count("truly fail") >= 1


def test_the_next_items_have_all_columns_of_the_source(files, tmp_path):
    run(*JUDGE, "-k", 20)
    rows = read(tmp_path / "next.csv")
    assert rows[0]["question"].startswith("question ")
    assert json.loads(rows[0]["reply"]) == {"text": rows[0]["question"].replace("question", "reply")}
    assert rows[0]["source correct"] == "the source has such a column"
    assert rows[0]["predicted"] in ("pass", "fail")
    answer(tmp_path / "next.csv", tmp_path / "done.csv", files)
    assert "from 20 checks" in run(*JUDGE, "--labels", "done.csv").output
    run(*JUDGE, "-k", 20, "--blind", "--out", "blind.csv")
    blind = read(tmp_path / "blind.csv")
    assert not {"predicted", "confidence", "reason", "verdict"} & set(blind[0])
    assert [row["id"] for row in blind] == [row["id"] for row in rows]


@pytest.mark.parametrize(
    ("bars", "code", "says"),
    [
        (("accuracy=.7",), 0, "accuracy >= 0.7: reached"),
        ((".7", "kappa=.3"), 0, "kappa >= 0.3: reached"),
        (("accuracy=.99",), 3, "accuracy >= 0.99: missed"),
        (("accuracy=.7", "kappa=.95"), 3, "kappa >= 0.95: missed"),
        (("accuracy=.9",), 4, "too few checks to say"),
        (("recall=.93",), 4, "more checks"),
    ],
)
def test_bars_decide_the_exit_code(files, tmp_path, bars, code, says):
    run(*JUDGE, "-k", 150)
    answer(tmp_path / "next.csv", tmp_path / "done.csv", files)
    options = [word for bar in bars for word in ("--fail-under", bar)]
    result = run(*JUDGE, "--labels", "done.csv", *options)
    assert says in result.output
    assert result.exit_code == code


def test_without_a_check_a_bar_is_open_and_a_wrong_bar_is_refused(files):
    result = run(*JUDGE, "--fail-under", "accuracy=.9")
    assert result.exit_code == 4
    assert "nothing that tells about it" in result.output
    for bad, message in (("accuracy", "expected a quantity and a number"), ("luck=.5", "no quantity 'luck'")):
        with pytest.raises(CusalError, match=message):
            run(*JUDGE, "--fail-under", bad)
    with pytest.raises(CusalError, match="no class"):
        run("verdicts.jsonl", "--predicted", "verdict", "--judge", "perhaps")


def test_json_says_the_same_as_the_words(files, tmp_path):
    run(*JUDGE, "-k", 150)
    answer(tmp_path / "next.csv", tmp_path / "done.csv", files)
    result = run(*JUDGE, "--labels", "done.csv", "--json", "--fail-under", "accuracy=.99", "--accept", ".1")
    found = json.loads(result.output)
    assert found["format"] == 1
    assert (found["items"], found["checks"], found["exit"]) == (1500, 150, 3)
    kappa = found["estimates"]["kappa"]
    assert kappa["low"] < kappa["estimate"] < kappa["high"]
    assert kappa["commonest"] == "pass"
    assert found["bars"][0]["state"] == "missed"
    assert found["next"]["why"] == "accept"
    assert found["judge"]["positive"] == "pass"


def test_one_judge_against_another_is_asked_blind(files, tmp_path):
    both = ("verdicts.jsonl", "--predicted", "verdict", "--against", "other.jsonl", "--judge", "pass")
    assert "the judges disagree about" in run(*both, "-k", 120).output
    rows = answer(tmp_path / "next.csv", tmp_path / "done.csv", files)
    assert not {"predicted", "confidence", "verdict", "reason"} & set(rows[0])
    assert {row["why"] for row in rows} == {"compare"}
    said = run(*both, "--labels", "done.csv").output
    assert "verdicts is better" in said
    assert "kappa: +" in said
    found = json.loads(run(*both, "--labels", "done.csv", "--json").output)
    assert found["differences"]["accuracy"]["low"] > 0
    assert found["differences"]["rate"]["low"] == found["differences"]["rate"]["high"]
    with pytest.raises(CusalError, match="compares two tables alone"):
        run(*both, "--fail-under", ".9")
    (tmp_path / "right.csv").write_text("id,right\nq1,yes\n")
    with pytest.raises(CusalError, match="needs the true label"):
        run(*both, "--labels", "right.csv")


def test_what_has_changed_since_an_audit_that_was_saved(files, tmp_path):
    run(*JUDGE, "-k", 150)
    answer(tmp_path / "next.csv", tmp_path / "done.csv", files)
    assert "--since last.audit" in run(*JUDGE, "--labels", "done.csv", "--save", "last.audit").output
    later = ("other.jsonl", "--predicted", "verdict", "--judge", "pass")
    run(*later, "-k", 150, "--out", "later.csv")
    answer(tmp_path / "later.csv", tmp_path / "late.csv", files)
    said = run(*later, "--labels", "late.csv", "--since", "last.audit").output
    assert "Since last.audit:" in said
    line = next(line for line in said.splitlines() if line.startswith("  accuracy"))
    assert line.endswith("down")
