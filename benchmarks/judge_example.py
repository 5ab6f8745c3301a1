"""The worked example of docs/how-to/judge.md: may a weak judge of messages be trusted?

    CUSAL_DATA=... python benchmarks/judge_example.py FOLDER

A logistic regression that has seen 200 of the 5,574 messages of sms_spam says of all others whether they pass; one that
has seen 1,000 does the same. Both are written as promptfoo writes its results. A person checks 200 items of the first
judge's audit, and 100 of the comparison. What the command says is printed, and beside it the truth, which a user would
not know. Everything is drawn with seed 0.
"""

import argparse
import csv
import json
import os
from pathlib import Path

import numpy as np
import pandas
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.pipeline import make_pipeline

from cusal.audit.command import Request, run

OUT = Path(__file__).parent / "results" / "judge_example.txt"
BARS = ("accuracy=.9", "kappa=.6")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("judge-example"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    truth, verdicts = write_results(folder)
    weak, strong, wanted, done, both = (
        str(folder / name) for name in ("results.json", "other.json", "next.csv", "done.csv", "both.csv")
    )
    lines = ["$ cusal audit results.json --judge pass -k 200 --blind"]
    lines.append(run(Request(weak, judge="pass", count=200, out=wanted, blind=True)).text)
    fill_in(wanted, done, truth)
    command = "cusal audit results.json --judge pass --labels done.csv --report judge.html"
    lines.append(f"$ {command} --fail-under accuracy=.9 --fail-under kappa=.6")
    found = run(Request(weak, [done], judge="pass", fail_under=BARS, out=wanted, report=str(folder / "judge.html")))
    lines += [found.text, f"(exit code {found.code})"]
    lines.append("$ cusal audit results.json --against other.json --judge pass -k 100")
    lines.append(run(Request(weak, judge="pass", against=strong, count=100, out=wanted)).text)
    fill_in(wanted, both, truth)
    lines.append("$ cusal audit results.json --against other.json --judge pass --labels both.csv")
    lines.append(run(Request(weak, [both], judge="pass", against=strong, out=wanted)).text)
    lines += ["The truth, which a user would not know:", the_truth(truth, verdicts)]
    text = "\n\n".join(lines).replace(f"{folder}/", "") + "\n"
    OUT.write_text(text)
    print(text)


def write_results(folder: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Write the results of both judges, and return the true verdict of each id, and the verdicts."""
    frame = pandas.read_csv(Path(os.environ["CUSAL_DATA"]) / "text" / "sms_spam.csv.gz")
    ham = frame.label.astype(str).isin(["0", "ham"]).to_numpy()
    order = np.random.default_rng(0).permutation(len(frame))
    rest, verdicts = np.sort(order[1000:]), {}
    for name, labels in (("results", 200), ("other", 1000)):
        known = order[:labels]
        model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=300))
        model.fit(frame.text[known], ham[known])
        chance = model.predict_proba(frame.text[rest])[:, 1]
        verdicts[name] = np.where(chance >= 0.5, "pass", "fail")
        rows = [result(int(i), str(frame.text[i]), float(p)) for i, p in zip(rest, chance, strict=True)]
        content = {"evalId": "eval-1", "results": {"version": 3, "results": rows}, "config": {}}
        (folder / f"{name}.json").write_text(json.dumps(content))
    return {f"{i}-0": "pass" if ham[i] else "fail" for i in rest.tolist()}, verdicts


def result(number: int, text: str, score: float) -> dict[str, object]:
    """Return one result as promptfoo writes it."""
    passed = score >= 0.5
    return {
        "testIdx": number,
        "promptIdx": 0,
        "vars": {"message": text},
        "prompt": {"raw": text, "label": "{{message}}"},
        "provider": {"id": "echo"},
        "response": {"output": text},
        "success": passed,
        "score": round(score, 4),
        "gradingResult": {"pass": passed, "score": round(score, 4), "reason": "", "componentResults": []},
    }


def fill_in(source: str, target: str, truth: dict[str, str]) -> None:
    """Write the true verdicts, as a person would."""
    with Path(source).open(newline="") as file:
        rows = list(csv.DictReader(file))
    with Path(target).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"true_label": truth[row["id"]]} for row in rows)


def the_truth(truth: dict[str, str], verdicts: dict[str, np.ndarray]) -> str:
    true = np.array(list(truth.values()))
    lines = []
    for name, said in verdicts.items():
        passed = said == "pass"
        lines.append(
            f"{name}.json: {(said == true).mean():.1%} of the verdicts are right, kappa "
            f"{cohen_kappa_score(true, said):.2f}; {(true == 'pass').mean():.1%} truly pass, "
            f"{(true[passed] == 'fail').mean():.1%} of what it passes should fail, and it catches "
            f"{(~passed)[true == 'fail'].mean():.1%} of what should fail."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
