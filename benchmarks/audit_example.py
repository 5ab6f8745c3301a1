"""The worked example of docs/audit.md: a weak classifier's labels of banking77, and 300 checks.

    CUSAL_DATA=... python benchmarks/audit_example.py FOLDER

It trains a logistic regression on 1,500 of the 13,083 questions, writes its predictions of the others to
FOLDER/predictions.csv, and plays a person who checks 200 items of the audit and 100 hunted ones. What the command says
is printed, and beside it the truth, which a user would not know. Everything is drawn with seed 0.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from cusal.audit.answer_tables import tell_verified
from cusal.audit.command import Request, run
from cusal.audit.prediction_table import read_predictions
from cusal.tables import NamedColumns

OUT = Path(__file__).parent / "results" / "audit_example.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("audit-example"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    truth = write_predictions(folder / "predictions.csv")
    predictions, wanted, first, second = (
        str(folder / name) for name in ("predictions.csv", "next.csv", "first.csv", "second.csv")
    )
    report = str(folder / "audit.html")
    lines = ["$ cusal audit predictions.csv -k 200", run(Request(predictions, count=200, out=wanted)).text]
    check(Path(wanted), Path(first), truth)
    lines += ["$ cusal audit predictions.csv --labels first.csv --hunt -k 100 --out next.csv"]
    lines += [run(Request(predictions, [first], count=100, hunt=True, out=wanted)).text]
    check(Path(wanted), Path(second), truth)
    lines += ["$ cusal audit predictions.csv --labels first.csv --labels second.csv --accept .1 --report audit.html"]
    lines += [run(Request(predictions, [first, second], accept=0.1, out=wanted, report=report)).text]
    lines += ["The truth, which a user would not know:", the_truth(predictions, [first, second], truth)]
    text = "\n\n".join(lines).replace(f"{folder}/", "") + "\n"
    OUT.write_text(text)
    print(text)


def write_predictions(path: Path) -> dict[str, str]:
    """Write the predictions of a weak classifier, and return the true label of each id."""
    import os

    import pandas
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    frame = pandas.read_csv(Path(os.environ["CUSAL_DATA"]) / "text" / "banking77.csv.gz")
    order = np.random.default_rng(0).permutation(len(frame))
    known, rest = order[:1500], order[1500:]
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=300))
    model.fit(frame.text[known], frame.label[known])
    probs = model.predict_proba(frame.text[rest])
    table = {
        "id": rest,
        "text": frame.text[rest],
        "predicted": model.classes_[probs.argmax(1)],
        "confidence": probs.max(1).round(4),
        "split": frame.split[rest],
    }
    pandas.DataFrame(table).to_csv(path, index=False)
    return {str(i): str(frame.label[i]) for i in rest}


def check(source: Path, target: Path, truth: dict[str, str]) -> None:
    """Fill in the true labels, as a person would."""
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with target.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"true_label": truth[row["id"]]} for row in rows)


def the_truth(predictions: str, labels: list[str], truth: dict[str, str]) -> str:
    table = read_predictions(predictions, NamedColumns())
    audit = table.audit(seed=0)
    tell_verified(audit, table.ids, labels)
    right = np.array([label == truth[one] for one, label in zip(table.ids, table.labels, strict=True)])
    accepted = audit.accept(0.1)
    hunted = [item for item in audit.answers if item not in set(audit.checked_in_order.tolist())]
    before, after = (gap(confidence, right) for confidence in (audit.confidence, audit.calibrated()))
    return (
        f"{right.mean():.1%} of the predictions are right. {int((~right[hunted]).sum())} of the {len(hunted)} hunted "
        f"items are wrong. Of all predictions {(~right[accepted.indices]).sum() / len(right):.1%} would be accepted "
        f"although they are wrong. ECE of the confidence: {before:.3f} as given, {after:.3f} as corrected."
    )


def gap(chance: np.ndarray, right: np.ndarray) -> float:
    bins = np.minimum((chance * 10).astype(int), 9)
    return float(
        sum(
            abs(chance[bins == one].mean() - right[bins == one].mean()) * (bins == one).mean()
            for one in np.unique(bins)
        )
    )


if __name__ == "__main__":
    main()
