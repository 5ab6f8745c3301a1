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
    with pytest.raises(CusalError, match="no verdict is 'perhaps'"):
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


def judged(path, columns, rows=60):
    """Write verdicts of which every third one is fail, with other columns that hold something else."""
    values = {
        "id": "q{0}",
        "text": "the text {0}",
        "answer": "ABC"[0],
        "label": "topic",
        "score": "0.{0}",
        "note": "n{0}",
    }
    lines = [",".join(columns)]
    for number in range(10, 10 + rows):
        said = "fail" if number % 3 == 0 else "pass"
        lines.append(",".join(values.get(name, said).format(number) for name in columns))
    path.write_text("\n".join(lines) + "\n")
    return {f"q{number}": "pass" for number in range(10, 10 + rows)}


@pytest.mark.parametrize(
    "columns",
    [
        ("id", "text", "verdict"),
        ("id", "answer", "text", "verdict", "score"),
        ("id", "text", "label", "Verdict"),
        ("id", "text", "label", "judgement"),
        ("id", "answer", "text", "judgment"),
        ("id", "text", "grade", "answer"),
    ],
)
def test_the_column_of_the_verdicts_is_taken_before_what_was_judged(tmp_path, monkeypatch, columns):
    monkeypatch.chdir(tmp_path)
    judged(tmp_path / "v.csv", columns)
    found = json.loads(run("v.csv", "--judge", "PASS", "--json").output)
    assert found["judge"]["called"] == pytest.approx(2 / 3, abs=0.02)


def test_without_a_judge_a_verdict_is_taken_if_nothing_better_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judged(tmp_path / "v.csv", ("id", "text", "verdict"))
    assert "the label from verdict" in run("v.csv").output
    judged(tmp_path / "v.csv", ("id", "text", "label", "verdict"))
    assert "the label from label" in run("v.csv").output
    judged(tmp_path / "v.csv", ("id", "text", "note"))
    with pytest.raises(CusalError, match="--predicted"):
        run("v.csv", "--judge", "pass")


def test_a_judge_that_never_says_so_is_refused_although_people_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judged(tmp_path / "v.csv", ("id", "text", "verdict"))
    run("v.csv", "--judge", "pass", "-k", 20)
    truth = dict.fromkeys((f"q{number}" for number in range(70)), "good")
    answer(tmp_path / "next.csv", tmp_path / "done.csv", truth)
    with pytest.raises(CusalError, match=r"no verdict is 'good'.*pass \(40 x\), fail \(20 x\).*--predicted"):
        run("v.csv", "--judge", "good", "--labels", "done.csv")
    with pytest.raises(CusalError, match=r"no verdict is 'good'"):
        run("v.csv", "--judge", "good", "--against", "v.csv")


def test_answers_that_are_no_verdicts_are_refused_and_other_spellings_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = judged(tmp_path / "v.csv", ("id", "text", "verdict"))
    run("v.csv", "--judge", "pass", "-k", 20)
    answer(tmp_path / "next.csv", tmp_path / "done.csv", dict.fromkeys(truth, "sport") | {"q10": "politics"})
    with pytest.raises(CusalError, match=r"none of the answers is a verdict.*sport.*the verdicts are fail, pass"):
        run("v.csv", "--judge", "pass", "--labels", "done.csv")
    answer(tmp_path / "next.csv", tmp_path / "spelled.csv", dict.fromkeys(truth, " PASS "))
    answer(tmp_path / "next.csv", tmp_path / "done.csv", truth)
    said = run("v.csv", "--judge", "pass", "--labels", "spelled.csv")
    assert "PASS is taken as pass." in said.output
    same = run("v.csv", "--judge", "pass", "--labels", "done.csv").output
    assert next(line for line in said.output.splitlines() if "accuracy" in line) in same


@pytest.mark.parametrize(
    ("bar", "message"),
    [
        ("accuracy=90", r"a share from 0 to 1; did you mean accuracy=\.9\?"),
        ("95", r"did you mean accuracy=\.95\?"),
        ("accuracy=-.1", "a share from 0 to 1"),
        ("accuracy=nan", "a share from 0 to 1"),
        ("kappa=60", "from -1 to 1; did you mean kappa=.6"),
        ("recall=.9", "--judge pass"),
    ],
)
def test_a_bar_that_cannot_be_meant_is_refused(tmp_path, monkeypatch, bar, message):
    monkeypatch.chdir(tmp_path)
    judged(tmp_path / "v.csv", ("id", "text", "answer", "verdict"))
    with pytest.raises(CusalError, match=message):
        run("v.csv", "--fail-under", bar)


def test_a_file_without_answers_is_said_and_named_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judged(tmp_path / "v.csv", ("id", "text", "verdict"))
    run("v.csv", "--judge", "pass")
    said = run("v.csv", "--judge", "pass", "--labels", "next.csv").output
    assert "next.csv holds no answers yet" in said
    assert said.count("--labels next.csv") == 1


def test_the_range_at_all_times_holds_its_own_estimate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = judged(tmp_path / "v.csv", ("id", "text", "verdict"))
    truth |= {f"q{number}": "fail" for number in range(10, 70) if number % 3 == 0}
    wrong = {name: "pass" if truth[name] == "fail" else "fail" for name in truth}
    options = ("--predicted", "verdict", "--judge", "pass", "-k", 20)
    for answered in (truth, wrong):
        run("v.csv", *options)
        answer(tmp_path / "next.csv", tmp_path / "done.csv", answered)
        found = json.loads(run("v.csv", *options, "--labels", "done.csv", "--out", "more.csv", "--json").output)
        share = found["estimates"]["accuracy_anytime"]
        assert share["low"] <= share["estimate"] <= share["high"]
