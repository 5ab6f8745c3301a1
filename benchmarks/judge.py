"""May a judge be trusted? Coverage and width of every interval that `Audit.judge` prints, and of what goes beyond it.

    CUSAL_DATA=... python benchmarks/judge.py                 500 repetitions of each of 25 judges; about an hour
    CUSAL_DATA=... python benchmarks/judge.py --part cells --repetitions 100
    CUSAL_DATA=... python benchmarks/judge.py --show          print the tables of what is stored

Judges say yes or no about each item. The real ones are the predictions of benchmarks/audit.py, taken as verdicts on one
class, or on a group of classes, against the rest. The others are made harder: confidence as language models report it
(five coarse values), worthless confidence (shuffled), all errors among the more confident half, all errors among the
surest tenth, a judge that passes nearly all, one that passes little, and one of a rare class.

    cells     25 judges x 7 quantities x 50, 100 and 200 checks: coverage of the 95 % interval, how often its low end
              was above the truth, its full width, and its squared width relative to a uniform sample with the usual
              interval (Wilson's; for kappa the normal one of Fleiss, Cohen and Everitt 1969; none for F1)
    classes   kappa of all classes, and the precision of single classes, on the predictions of benchmarks/audit.py
    pairs     A against B with `Comparison`: differences of accuracy, recall and kappa; squared width relative to a
              uniform sample with the paired normal interval (accuracy)
    drift     the change between two audits of halves of a data set, of which the second errs twice as often
    groups    whole groups checked together, items of a group being alike: with `groups=`, and one by one without
    ordered   verdicts from 1 to 5: weighted kappa, mean distance, share within one

Seeds are 0 to repetitions - 1; the results go to results/judge.json, one judge at a time.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cusal
from cusal import Audit
from cusal.audit import quantities
from cusal.audit.shares import Quantity, deviations

sys.path.insert(0, str(Path(__file__).parent))
import audit as plain

RESULTS = Path(__file__).parent / "results" / "judge.json"
COUNTS = (50, 100, 200)
OF = ("accuracy", "recall", "specificity", "precision", "rate", "kappa", "f1")
Z = deviations(0.95)
Judge = tuple[np.ndarray, np.ndarray, np.ndarray]  # confidence, called so, truly so


# ---- the judges


def of_classes(case: plain.Case, classes: Any) -> Judge:
    return case[0], np.isin(case[1], classes), np.isin(case[2], classes)


def errors_among(judge: Judge, part: float) -> Judge:
    """Return as many errors, all among the most confident part (or in all of it, if there are more)."""
    confidence, called, true = judge
    top = np.argsort(-confidence, kind="stable")[: int(part * len(called))]
    wrong = np.random.default_rng(1).permutation(top)[: int((called != true).sum())]
    moved = called.copy()
    moved[wrong] = ~called[wrong]
    return confidence, called, moved


def shuffled(judge: Judge) -> Judge:
    return np.random.default_rng(1).permutation(judge[0]), judge[1], judge[2]


def made(rate: float, passes_bad: float, fails_good: float, count: int = 5000) -> Judge:
    """Return a judge with so many errors of each kind, and a confidence that says something about them."""
    rng = np.random.default_rng(2)
    true = rng.random(count) < rate
    wrong = rng.random(count) < np.where(true, fails_good, passes_bad)
    confidence = np.where(wrong, rng.beta(4, 2, count), rng.beta(8, 1.5, count))
    return confidence, np.where(wrong, ~true, true), true


def case(name: str) -> plain.Case:
    if name not in _CASES:
        _CASES[name] = plain.CASES[name]()
    return _CASES[name]


_CASES: dict[str, plain.Case] = {}
JUDGES: dict[str, Callable[[], Judge]] = {
    "cifar10, animals": lambda: of_classes(case("cifar10"), range(2, 8)),
    "cifar10, one class": lambda: of_classes(case("cifar10"), [0]),
    "mnist, even": lambda: of_classes(case("mnist"), [0, 2, 4, 6, 8]),
    "mnist, one class": lambda: of_classes(case("mnist"), [8]),
    "tiny-imagenet, half": lambda: of_classes(case("tiny-imagenet"), range(100)),
    "letter, vowels": lambda: of_classes(case("letter"), [0, 4, 8, 14, 20]),
    "letter, half": lambda: of_classes(case("letter"), range(13)),
    "pendigits, half": lambda: of_classes(case("pendigits"), range(5)),
    "shuttle, commonest": lambda: of_classes(case("shuttle"), [np.bincount(case("shuttle")[2]).argmax()]),
    "banking77, 20 classes": lambda: of_classes(case("banking77"), range(20)),
    "ag_news, one class": lambda: of_classes(case("ag_news"), [0]),
    "ag_news, half": lambda: of_classes(case("ag_news"), [0, 1]),
    "sms_spam": lambda: of_classes(case("sms_spam"), [1]),
    "clinc150, 40 classes": lambda: of_classes(case("clinc150"), range(40)),
    "ag_news self-reported": lambda: of_classes(case("ag_news self-reported"), [0, 1]),
    "sms_spam self-reported": lambda: of_classes(plain.self_reported(case("sms_spam")), [1]),
    "ag_news worthless": lambda: shuffled(of_classes(case("ag_news"), [0, 1])),
    "cifar10 worthless": lambda: shuffled(of_classes(case("cifar10"), range(2, 8))),
    "ag_news wrong when sure": lambda: errors_among(of_classes(case("ag_news"), [0, 1]), 0.5),
    "cifar10 wrong when sure": lambda: errors_among(of_classes(case("cifar10"), [0]), 0.5),
    "mnist wrong when sure": lambda: errors_among(of_classes(case("mnist"), [0, 2, 4, 6, 8]), 0.5),
    "pendigits, surest tenth": lambda: errors_among(of_classes(case("pendigits"), range(5)), 0.1),
    "made, passes nearly all": lambda: made(0.7, 0.6, 0.02),
    "made, passes little": lambda: made(0.7, 0.03, 0.4),
    "made, rare class": lambda: made(0.03, 0.02, 0.3),
}


# ---- the cells


def cells(name: str, repetitions: int) -> dict[str, Any]:
    confidence, called, true = JUDGES[name]()
    truth = {of: float(_true(of, called, true)) for of in OF}
    ends: dict[tuple[str, int], list[list[float]]] = {}
    for seed in range(repetitions):
        audit = Audit(predicted=called, confidence=confidence, seed=seed)
        items = audit.ask(max(COUNTS))
        audit.tell(items, true[items])
        uniform = np.random.default_rng([seed, 1]).permutation(len(called))
        for count in COUNTS:
            checks = audit.as_after(count)._checks
            drawn = uniform[:count]
            parts = quantities.class_shares(checks, True, called)
            for of in OF:
                measured = quantities.of_shares(parts, float(called.mean()), quantities.METRICS[of])
                if of == "accuracy":
                    measured = quantities.accuracy(checks)
                elif of == "precision":
                    measured = Quantity(parts[1:], lambda at: 1 - at[0])
                found = measured.interval(Z)
                usual = _usual(of, called[drawn], true[drawn], len(called))
                ends.setdefault((of, count), []).append([*found, *usual])
    rows: dict[str, Any] = {of: {"true": truth[of]} for of in OF}
    for (of, count), found in ends.items():
        rows[of][str(count)] = _cell(np.array(found), truth[of])
    return {"items": len(called), "called": float(called.mean()), "of": rows}


def _cell(found: np.ndarray, truth: float) -> dict[str, float]:
    low, high, usual_low, usual_high = found.T
    slack = 1e-9
    row = {
        "coverage": float(((low <= truth + slack) & (truth <= high + slack)).mean()),
        "low above": float((low > truth + slack).mean()),
        "width": float((high - low).mean()),
    }
    if np.isfinite(usual_low).all():
        row["usual"] = float(((usual_low <= truth + slack) & (truth <= usual_high + slack)).mean())
        row["width2"] = float(((high - low) ** 2).mean() / ((usual_high - usual_low) ** 2).mean())
    return row


def _counts(called: np.ndarray, true: np.ndarray) -> tuple[float, float, float, float]:
    return (
        float((called & true).mean()),
        float((called & ~true).mean()),
        float((~called & true).mean()),
        float((~called & ~true).mean()),
    )


def _true(of: str, called: np.ndarray, true: np.ndarray) -> float:
    return quantities.METRICS[of](*_counts(called, true))


def _usual(of: str, called: np.ndarray, true: np.ndarray, size: int) -> tuple[float, float]:
    """Return the interval that people compute from a uniform sample."""
    if of == "f1":
        return float("nan"), float("nan")
    if of == "kappa":
        return _kappa_interval(called, true)
    event, inside = {
        "accuracy": (called == true, np.ones(len(true), dtype=bool)),
        "recall": (called, true),
        "specificity": (~called, ~true),
        "precision": (true, called),
        "rate": (true, np.ones(len(true), dtype=bool)),
    }[of]
    if not inside.any():
        return 0.0, 1.0
    part = event[inside].astype(np.float64)
    return plain.wilson(part, max(len(part) + 1, round(size * len(part) / len(true))))


def _kappa_interval(called: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    tp, fp, fn, tn = _counts(called, true)
    shares = np.array([[tn, fp], [fn, tp]])
    rows, columns, agree = shares.sum(1), shares.sum(0), tp + tn
    luck = float(rows @ columns)
    if luck >= 1:
        return 0.0, 0.0
    kappa = (agree - luck) / (1 - luck)
    both = np.add.outer(columns, rows)  # [true, called]: the called share of the true class plus the other way round
    first = sum(shares[k, k] * (1 - both[k, k] * (1 - kappa)) ** 2 for k in (0, 1))
    second = (1 - kappa) ** 2 * sum(shares[k, j] * both[k, j] ** 2 for k, j in ((0, 1), (1, 0)))
    variance = (first + second - (kappa - luck * (1 - kappa)) ** 2) / ((1 - luck) ** 2 * len(true))
    half = Z * np.sqrt(max(0.0, variance))
    return kappa - half, kappa + half


# ---- what goes beyond one judge


def classes(name: str, repetitions: int) -> dict[str, Any]:
    from sklearn.metrics import cohen_kappa_score

    confidence, predicted, true = case(name)
    truth = cohen_kappa_score(true, predicted)
    precise = {k: (true[predicted == k] == k).mean() for k in np.unique(predicted).tolist()}
    kappas: dict[int, list[bool]] = {count: [] for count in COUNTS}
    by_class: dict[bool, list[tuple[bool, float]]] = {True: [], False: []}
    for seed in range(repetitions):
        audit = Audit(predicted=predicted, confidence=confidence, seed=seed)
        items = audit.ask(300)
        audit.tell(items, true[items])
        for count in COUNTS:
            low, high = quantities.quantity(audit.as_after(count)._checks, "kappa").interval(Z)
            kappas[count].append(bool(low <= truth <= high))
        if seed < 100:
            for one in audit.by_class():
                if one.share is not None:
                    held = bool(one.share.low - 1e-9 <= precise[one.name] <= one.share.high + 1e-9)
                    by_class[one.checks < 8].append((held, one.share.high - one.share.low))
    return {
        "classes": len(precise),
        "kappa": {str(count): float(np.mean(found)) for count, found in kappas.items()},
        "few checks": np.mean(by_class[True], axis=0).tolist() if by_class[True] else None,
        "more checks": np.mean(by_class[False], axis=0).tolist(),
    }


PAIRS: dict[str, tuple[str, float]] = {  # the other judge: the same verdicts, of which so many are turned
    "cifar10, animals": ("cifar10, animals", 0.03),
    "ag_news, half": ("ag_news, half", 0.1),
    "sms_spam": ("sms_spam", 0.05),
    "mnist, even": ("mnist, even", 0.01),
    "letter, vowels": ("letter, vowels", 0.2),
    "made, rare class": ("made, rare class", 0.02),
}


def pairs(name: str, repetitions: int) -> dict[str, Any]:
    _, called, true = JUDGES[name]()
    turned = np.random.default_rng(5).random(len(called)) < PAIRS[name][1]
    other = np.where(turned, ~called, called)
    truth = {of: _true(of, called, true) - _true(of, other, true) for of in ("accuracy", "recall", "kappa")}
    ends: dict[tuple[str, int], list[list[float]]] = {}
    for seed in range(repetitions):
        for count in COUNTS:
            both = cusal.Comparison(a=called, b=other, seed=seed)
            items = both.ask(count)
            both.tell(items, true[items])
            drawn = np.random.default_rng([seed, 1]).permutation(len(called))[:count]
            paired = (called == true)[drawn].astype(float) - (other == true)[drawn]
            half = Z * paired.std(ddof=1) / np.sqrt(count)
            for of in truth:
                score = both.difference(of, cls=None if of == "accuracy" else True)
                usual = [paired.mean() - half, paired.mean() + half] if of == "accuracy" else [np.nan, np.nan]
                ends.setdefault((of, count), []).append([score.low, score.high, *usual])
    rows: dict[str, Any] = {of: {"true": value} for of, value in truth.items()}
    for (of, count), found in ends.items():
        rows[of][str(count)] = _cell(np.array(found), truth[of])
    return {"disagree": float((called != other).mean()), "of": rows}


DRIFTS = ("cifar10, animals", "ag_news, half", "sms_spam", "letter, vowels")


def drift(name: str, repetitions: int) -> dict[str, Any]:
    confidence, called, true = JUDGES[name]()
    half = np.random.default_rng(3).random(len(called)) < 0.5
    wrong = called != true
    more = ~half & (np.random.default_rng(4).random(len(called)) < wrong.mean())
    later = np.where(more, ~true, true)
    sides = [(confidence[half], called[half], true[half]), (confidence[~half], called[~half], later[~half])]
    of_both = ("accuracy", "recall", "rate", "kappa")
    truth = {of: _true(of, *sides[1][1:]) - _true(of, *sides[0][1:]) for of in of_both}
    held: dict[tuple[str, int], list[bool]] = {}
    for seed in range(repetitions):
        for count in COUNTS:
            audits = []
            for side, (sure, verdict, actual) in enumerate(sides):
                audit = Audit(predicted=verdict, confidence=sure, seed=2 * seed + side)
                items = audit.ask(count)
                audit.tell(items, actual[items])
                audits.append(audit)
            for of in of_both:
                score = audits[1].change(audits[0], of=of, cls=None if of == "accuracy" else True)
                held.setdefault((of, count), []).append(bool(score.low <= truth[of] <= score.high))
    return {of: {str(count): float(np.mean(held[of, count])) for count in COUNTS} for of in of_both}


GROUPS = {"alike": 1.0, "half alike": 0.5, "not alike": 0.0}


def groups(name: str, repetitions: int) -> dict[str, Any]:
    """Return the coverage for 400 groups of 1 to 10 items, of which a share of items takes the group's value."""
    rng = np.random.default_rng(6)
    group = np.repeat(np.arange(400), rng.integers(1, 11, size=400))
    alike = rng.random(len(group)) < GROUPS[name]
    right = np.where(alike, rng.random(400)[group] < 0.85, rng.random(len(group)) < 0.85)
    confidence = np.clip(rng.normal(0.7 + 0.1 * right, 0.1), 0, 1)
    found: dict[str, dict[str, Any]] = {}
    for count in COUNTS:
        rows: dict[str, list[tuple[bool, float]]] = {"groups": [], "one by one": []}
        for seed in range(repetitions):
            for way, codes in (("groups", group), ("one by one", None)):
                audit = Audit(predicted=np.ones(len(group)), confidence=confidence, groups=codes, seed=seed)
                items = audit.ask(count)
                if codes is not None:  # to the end of the last group
                    items = np.flatnonzero(np.isin(group, group[items]))
                audit.tell(items, right=right[items])
                share = audit.accuracy()
                rows[way].append((bool(share.low <= right.mean() <= share.high), share.high - share.low))
        found[str(count)] = {way: np.mean(pairs, axis=0).tolist() for way, pairs in rows.items()}
    return found


ORDERED = {"near": (-1, 0, 0, 0, 1), "strict": (-2, -1, -1, 0, 0), "wild": (-3, -1, 0, 0, 0, 0, 2)}


def ordered(name: str, repetitions: int) -> dict[str, Any]:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(7)
    true = rng.choice(np.arange(1, 6), size=4000, p=[0.05, 0.1, 0.2, 0.35, 0.3])
    predicted = np.clip(true + rng.choice(ORDERED[name], size=4000), 1, 5)
    truth = {
        "weighted_kappa": cohen_kappa_score(true, predicted, weights="quadratic"),
        "mean_error": np.abs(true - predicted).mean(),
        "within_one": (np.abs(true - predicted) <= 1).mean(),
    }
    held: dict[tuple[str, int], list[bool]] = {}
    for seed in range(repetitions):
        audit = Audit(predicted=predicted, seed=seed)
        items = audit.ask(max(COUNTS))
        audit.tell(items, true[items])
        for count in COUNTS:
            checks = audit.as_after(count)._checks
            for of, value in truth.items():
                low, high = quantities.quantity(checks, of).interval(Z)
                held.setdefault((of, count), []).append(bool(low <= value <= high))
    return {of: {str(count): float(np.mean(held[of, count])) for count in COUNTS} for of in truth}


PARTS: dict[str, tuple[Callable[[str, int], dict[str, Any]], Any]] = {
    "cells": (cells, JUDGES),
    "pairs": (pairs, PAIRS),
    "drift": (drift, DRIFTS),
    "groups": (groups, GROUPS),
    "ordered": (ordered, ORDERED),
    "classes": (classes, ("cifar10", "letter", "banking77", "ag_news", "clinc150")),
}


# ---- tables


def tables(stored: dict[str, Any]) -> str:
    """Return the results as Markdown: the tables of docs/audit-judge.md."""
    made = [("cells", _cells), ("pairs", _pairs), ("drift", _by_count), ("ordered", _by_count), ("groups", _groups)]
    made.append(("classes", _classes))
    return "\n\n".join("\n".join(table(stored[part])) for part, table in made if part in stored)


def summary(judges: dict[str, Any]) -> dict[str, Any]:
    """Return what all cells say together."""
    found = [row[str(n)] for one in judges.values() for row in one["of"].values() for n in COUNTS]
    coverage = np.array([cell["coverage"] for cell in found])
    ratio = np.array([one["of"]["accuracy"][str(n)]["width2"] for one in judges.values() for n in COUNTS])
    return {
        "cells": len(found),
        "lowest": float(coverage.min()),
        "below .92": int((coverage < 0.92).sum()),
        ".93 to .98": int(((coverage >= 0.93) & (coverage <= 0.98)).sum()),
        "median": float(np.median(coverage)),
        "low above": float(max(cell["low above"] for cell in found)),
        "accuracy width2, worst": float(ratio.max()),
        "accuracy width2, median": float(np.median(ratio)),
    }


def _cells(judges: dict[str, Any]) -> Iterator[str]:
    yield "| quantity | coverage at 50, 100, 200: lowest | median | width | width2, median | usual, lowest |"
    yield "|---|---|---|---|---|---|"
    for of in OF:
        rows = [[one["of"][of][str(n)] for one in judges.values()] for n in COUNTS]
        lowest = " ".join(_short(min(cell["coverage"] for cell in row)) for row in rows)
        middle = " ".join(_short(np.median([cell["coverage"] for cell in row])) for row in rows)
        width = " ".join(_short(np.median([cell["width"] for cell in row]), 2) for row in rows)
        if "width2" in rows[0][0]:
            ratio = " ".join(f"{np.median([cell['width2'] for cell in row]):.2f}" for row in rows)
            usual = " ".join(_short(min(cell["usual"] for cell in row)) for row in rows)
        else:
            ratio, usual = "", ""
        yield f"| {of} | {lowest} | {middle} | {width} | {ratio} | {usual} |"
    yield ""
    yield "| judge | called | accuracy | kappa | coverage of accuracy, recall, kappa at 100 | width2 of accuracy |"
    yield "|---|---|---|---|---|---|"
    for name, one in judges.items():
        rows = one["of"]
        held = " ".join(_short(rows[of]["100"]["coverage"]) for of in ("accuracy", "recall", "kappa"))
        ratio = " ".join(f"{rows['accuracy'][str(n)]['width2']:.2f}" for n in COUNTS)
        yield (
            f"| {name} | {one['called']:.0%} | {rows['accuracy']['true']:.1%} | {rows['kappa']['true']:.2f} | {held} "
            f"| {ratio} |"
        )


def _pairs(judges: dict[str, Any]) -> Iterator[str]:
    yield "| judge | disagree | accuracy | recall | kappa | width2 of accuracy |"
    yield "|---|---|---|---|---|---|"
    for name, one in judges.items():
        held = [" ".join(_short(one["of"][of][str(n)]["coverage"]) for n in COUNTS) for of in one["of"]]
        ratio = " ".join(f"{one['of']['accuracy'][str(n)]['width2']:.2f}" for n in COUNTS)
        yield f"| {name} | {one['disagree']:.1%} | {' | '.join(held)} | {ratio} |"


def _by_count(judges: dict[str, Any]) -> Iterator[str]:
    names = list(next(iter(judges.values())))
    yield f"| coverage at 50, 100, 200 | {' | '.join(names)} |"
    yield "|---" * (1 + len(names)) + "|"
    for name, one in judges.items():
        yield f"| {name} | {' | '.join(' '.join(_short(one[of][str(n)]) for n in COUNTS) for of in names)} |"


def _groups(judges: dict[str, Any]) -> Iterator[str]:
    yield "| items of a group | whole groups: coverage | width | one by one: coverage | width |"
    yield "|---|---|---|---|---|"
    for name, one in judges.items():
        cells = [
            " ".join(_short(one[str(n)][way][k], 3 - k) for n in COUNTS)
            for way in ("groups", "one by one")
            for k in (0, 1)
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def _classes(judges: dict[str, Any]) -> Iterator[str]:
    yield "| predictions | classes | kappa at 50, 100, 200 | classes with 5 to 7 checks | with more |"
    yield "|---|---|---|---|---|"
    for name, one in judges.items():
        held = " ".join(_short(one["kappa"][str(n)]) for n in COUNTS)
        parts = [
            "none" if one[k] is None else f"{_short(one[k][0])} {one[k][1]:.2f}" for k in ("few checks", "more checks")
        ]
        yield f"| {name} | {one['classes']} | {held} | {' | '.join(parts)} |"


def _short(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default=",".join(PARTS))
    parser.add_argument("--judges", help="by default all of a part; several by ;")
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="print the tables of what is stored, and measure nothing")
    options = parser.parse_args()
    stored: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    for part in () if options.show else options.part.split(","):
        measure, names = PARTS[part]
        for name in options.judges.split(";") if options.judges else names:
            started = time.perf_counter()
            row = measure(name, options.repetitions)
            stored.setdefault(part, {})[name] = row
            stored.setdefault("repetitions", {})[part] = options.repetitions
            stored["settings"] = {"seeds": "0 .. repetitions - 1", "cusal": cusal.__version__}
            options.out.write_text(json.dumps(stored, indent=1) + "\n")
            print(f"{part}, {name}: {time.perf_counter() - started:.0f} s", flush=True)
    print(tables(stored))
    if "cells" in stored:
        print(json.dumps(summary(stored["cells"]), indent=1))


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="lbfgs failed to converge")
    main()
