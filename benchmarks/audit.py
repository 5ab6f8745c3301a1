"""Auditing predictions: coverage and width of the intervals, hunting, guarantees, on real predictions.

    CUSAL_DATA=... python benchmarks/audit.py             1000 repetitions, fewer of slow parts; an hour on one core
    CUSAL_DATA=... python benchmarks/audit.py --part hunt,guarantees

Predictions: the published ones of the CIFAR-10 and MNIST test sets (cleanlab's label errors), EfficientNet-Lite0 on
Tiny-ImageNet, and logistic regressions trained on a small part of a table or of texts, judged on the rest. Three cases
are made harder: a language model's way to report confidence (five coarse values), worthless confidence (shuffled), and
errors only among the confident.

    intervals     coverage of the 95 % interval, and its squared width relative to a uniform sample with Wilson's:
                  `Audit.accuracy`, PPI++ (ppi-python), active inference (glide-py), PPI++ (truescore); how many samples
                  a package refused. The three packages are needed; glide-py runs on Python 3.12
    looking       coverage when one looks after every ten checks up to 400: the interval for one look, and `anytime`
    needed        the estimated number of checks for +-2 points at 100 checks, relative to the true one
    hunt          share of wrong ones among 100 hunted after 200 checks; coverage of the interval with them
    calibrated    ECE before and after, with 300 checks
    guarantees    share of items kept, and how often the promise was broken: `guarantee(.98)`, `accept(.05)`, and the
                  naive threshold (the lowest confidence at which all checked so far keep the promise)
    f1            coverage of the interval of macro-F1, where a class has ten checks or more
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

import cusal
from cusal import Audit
from cusal.errors import NotReady

RESULTS = Path(__file__).parent / "results" / "audit.json"
COUNTS = (50, 100, 200, 400)
Z = norm.ppf(0.975)
Case = tuple[np.ndarray, np.ndarray, np.ndarray]  # confidence, predicted class numbers, true class numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default=",".join(PARTS))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="print the tables of what is stored, and measure nothing")
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {"cases": {}}
    for name in () if options.show else options.cases.split(","):
        case = CASES[name]()
        row = stored["cases"].setdefault(name, {})
        row["items"], row["accuracy"] = len(case[0]), float((case[1] == case[2]).mean())
        for part in options.part.split(","):
            started = time.perf_counter()
            row[part] = PARTS[part](case, options.repetitions)
            row.setdefault("repetitions", {})[part] = options.repetitions
            print(f"{name}, {part}: {time.perf_counter() - started:.0f} s", flush=True)
            options.out.write_text(json.dumps(stored, indent=1) + "\n")
    if not options.show:
        stored["settings"] = {"seeds": "0 .. repetitions - 1", "cusal": cusal.__version__}
        options.out.write_text(json.dumps(stored, indent=1) + "\n")
    print(tables(stored["cases"]))


# ---- the predictions


def data() -> Path:
    return Path(os.environ["CUSAL_DATA"])


def published(name: str) -> Case:
    probs = np.load(data() / "extra" / f"{name}_test_set_pyx.npy").astype(np.float64)
    labels = np.load(data() / "extra" / f"{name}_test_set_original_labels.npy").astype(np.int64)
    return probs.max(1), probs.argmax(1), labels


def imagenet() -> Case:
    found = np.load(data() / "logits" / "tiny-imagenet-val-efficientnet-lite0.npz")
    logits, labels = (found[key] for key in sorted(found.files, key=lambda key: -found[key].ndim))
    logits = logits.astype(np.float64)
    probs = np.exp(logits - logits.max(1, keepdims=True))
    probs /= probs.sum(1, keepdims=True)
    return probs.max(1), probs.argmax(1), labels.astype(np.int64)


def trained(folder: str, name: str, labels: int) -> Case:
    """Return the predictions of a logistic regression that was trained on so many random items, of all others."""
    import pandas
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame = pandas.read_csv(data() / folder / f"{name}.csv.gz")
    truth = np.unique(frame["label"].to_numpy(), return_inverse=True)[1]
    items = frame["text"].to_numpy() if folder == "text" else frame.drop(columns="label").to_numpy(np.float64)
    first = TfidfVectorizer(sublinear_tf=True) if folder == "text" else StandardScaler()
    order = np.random.default_rng(0).permutation(len(truth))
    known, rest = order[:labels], order[labels:][:10_000]
    model = make_pipeline(first, LogisticRegression(C=10, max_iter=300)).fit(items[known], truth[known])
    probs = model.predict_proba(items[rest])
    return probs.max(1), model.classes_[probs.argmax(1)], truth[rest]


def self_reported(case: Case) -> Case:
    """Return confidences as language models report them: a few round values, mostly high."""
    confidence, predicted, truth = case
    noisy = confidence + np.random.default_rng(1).normal(0, 0.25, len(confidence))
    values = np.array([0.6, 0.8, 0.9, 0.95, 0.99])
    ranks = noisy.argsort().argsort() / len(noisy)
    return values[np.searchsorted([0.05, 0.15, 0.4, 0.8], ranks)], predicted, truth


def worthless(case: Case) -> Case:
    return np.random.default_rng(1).permutation(case[0]), case[1], case[2]


def wrong_when_sure(case: Case) -> Case:
    """Return the same accuracy with all errors among the more confident half."""
    confidence, predicted, truth = case
    order = np.argsort(-confidence)
    wrong = np.random.default_rng(1).permutation(order[: len(order) // 2])[: int((predicted != truth).sum())]
    moved = truth.copy()
    moved[:] = predicted
    moved[wrong] = (predicted[wrong] + 1) % (truth.max() + 1)
    return confidence, predicted, moved


CASES: dict[str, Callable[[], Case]] = {
    "cifar10": lambda: published("cifar10"),
    "mnist": lambda: published("mnist"),
    "tiny-imagenet": imagenet,
    "letter": lambda: trained("tabular", "letter", 500),
    "shuttle": lambda: trained("tabular", "shuttle", 200),
    "pendigits": lambda: trained("tabular", "pendigits", 200),
    "banking77": lambda: trained("text", "banking77", 1000),
    "ag_news": lambda: trained("text", "ag_news_test7600", 500),
    "sms_spam": lambda: trained("text", "sms_spam", 200),
    "clinc150": lambda: trained("text", "clinc150_full", 2000),
    "ag_news self-reported": lambda: self_reported(trained("text", "ag_news_test7600", 500)),
    "ag_news worthless": lambda: worthless(trained("text", "ag_news_test7600", 500)),
    "ag_news wrong when sure": lambda: wrong_when_sure(trained("text", "ag_news_test7600", 500)),
}


# ---- what is measured


def audits(case: Case, repetitions: int) -> Iterator[tuple[Audit, np.random.Generator]]:
    for seed in range(repetitions):
        yield Audit(predicted=case[1], confidence=case[0], seed=seed), np.random.default_rng([seed, 1])


def intervals(case: Case, repetitions: int) -> dict[str, Any]:
    confidence, right = case[0], (case[1] == case[2]).astype(np.float64)
    found: dict[str, dict[int, list[tuple[float, float]]]] = {}
    for audit, rng in audits(case, repetitions):
        done = 0
        for count in (n for n in COUNTS if n < len(right)):
            items = audit.ask(count - done)
            audit.tell(items, right=right[items] == 1)
            done, share = count, audit.accuracy()
            uniform = rng.permutation(len(right))[:count]
            rows = {
                "audit": (share.low, share.high),
                "uniform": wilson(right[uniform], len(right)),
                "ppi++": ppi(right[uniform], confidence[uniform], np.delete(confidence, uniform)),
                "glide": glide(right, confidence, count, audit.seed),
                "truescore": truescore(right, confidence, uniform),
            }
            for method, ends in rows.items():
                found.setdefault(method, {}).setdefault(count, []).append(ends)
    return {method: _summary(ends, found["uniform"], right.mean()) for method, ends in found.items()}


def _summary(ends: Any, uniform: Any, truth: float) -> dict[str, Any]:
    rows = {}
    for count, given in ends.items():
        pairs = [pair for pair in given if pair is not None and np.isfinite(pair).all()]
        rows[str(count)] = {"coverage": None, "width2": None, "refused": len(given) - len(pairs)}
        if pairs:
            low, high = np.array(pairs).T
            base = np.mean(np.diff(uniform[count], axis=1) ** 2)
            covered = float(((low <= truth) & (truth <= high)).mean())
            rows[str(count)] |= {"coverage": covered, "width2": float(np.mean((high - low) ** 2) / base)}
    return rows


def wilson(right: np.ndarray, size: int) -> tuple[float, float]:
    count, share, z2 = len(right), right.mean(), Z**2 * (1 - len(right) / size)
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = np.sqrt(z2) / (1 + z2 / count) * np.sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    return centre - half, centre + half


def ppi(right: np.ndarray, confidence: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    from ppi_py import ppi_mean_ci

    low, high = ppi_mean_ci(right, confidence, others, alpha=0.05)
    return float(np.ravel(low)[0]), float(np.ravel(high)[0])


def glide(right: np.ndarray, confidence: np.ndarray, count: int, seed: int) -> tuple[float, float] | None:
    """Return the interval of GLIDE's active inference; None where it refuses the sample."""
    from glide.estimators import ASIMeanEstimator
    from glide.samplers import ActiveSampler

    try:
        doubt = np.sqrt(np.clip(confidence * (1 - confidence), 1e-4, None))
        chances, drawn = ActiveSampler().sample(doubt, count, random_seed=seed)
        truth = np.where(drawn == 1, right, np.nan)
        found = ASIMeanEstimator().estimate(truth, confidence, chances).confidence_interval
        return float(found.lower_bound), float(found.upper_bound)
    except (ValueError, ZeroDivisionError):
        return None


def truescore(right: np.ndarray, confidence: np.ndarray, drawn: np.ndarray) -> tuple[float, float] | None:
    """Return truescore's prediction-powered interval from a uniform sample; None where it refuses the sample."""
    from truescore import ppi_estimate

    try:
        found = ppi_estimate(confidence, right[drawn], drawn)
        return float(found.low), float(found.high)
    except (ValueError, ZeroDivisionError):
        return None


def looking(case: Case, repetitions: int) -> dict[str, Any]:
    right = case[1] == case[2]
    held: dict[str, list[bool]] = {"once": [], "anytime": []}
    widths = []
    for audit, _ in audits(case, min(repetitions, 100)):
        fine = {"once": True, "anytime": True}
        for _ in range(min(40, len(right) // 10)):
            items = audit.ask(10)
            audit.tell(items, right=right[items])
            shares = {"once": audit.accuracy(), "anytime": audit.accuracy(anytime=True)}
            for name, share in shares.items():
                fine[name] &= bool(share.low <= right.mean() <= share.high)
        for name, flag in fine.items():
            held[name].append(flag)
        widths.append([share.high - share.low for share in shares.values()])
    once, anytime = np.mean(widths, axis=0)
    return {name: float(np.mean(flags)) for name, flags in held.items()} | {"ratio": float(anytime / once)}


def needed(case: Case, repetitions: int) -> dict[str, Any]:
    right = case[1] == case[2]
    guesses, truths = [], []
    for audit, _ in audits(case, min(repetitions, 50)):
        items = audit.ask(100)
        audit.tell(items, right=right[items])
        guesses.append(audit.needed(0.02).checks)
        low, high = 100, len(right)
        while high - low > 10:  # the count after which the interval is +-2 points
            middle = (low + high) // 2
            judge = Audit(predicted=case[1], confidence=case[0], seed=audit.seed)
            items = judge.ask(middle)
            judge.tell(items, right=right[items])
            share = judge.accuracy()
            low, high = (low, middle) if (share.high - share.low) / 2 <= 0.02 else (middle, high)
        truths.append(high)
    ratio = np.array(guesses) / np.array(truths)
    return {"true": float(np.median(truths))} | {f"ratio {q}": float(np.quantile(ratio, q / 100)) for q in (10, 50, 90)}


def hunt(case: Case, repetitions: int) -> dict[str, Any]:
    confidence, right = case[0], case[1] == case[2]
    precision, lowest, covered = [], [], []
    for audit, _ in audits(case, min(repetitions, 300)):
        items = audit.ask(200)
        audit.tell(items, right=right[items])
        suspects = audit.hunt(100).indices
        audit.tell(suspects, right=right[suspects])
        share = audit.accuracy()
        covered.append(share.low <= right.mean() <= share.high)
        precision.append((~right[suspects]).mean())
        others = np.setdiff1d(np.arange(len(right)), items)
        lowest.append((~right[others[np.argsort(confidence[others])[:100]]]).mean())
    random = float((~right).mean())
    return {
        "hunt": float(np.mean(precision)),
        "least confidence": float(np.mean(lowest)),
        "random": random,
        "coverage": float(np.mean(covered)),
    }


def calibrated(case: Case, repetitions: int) -> dict[str, Any]:
    confidence, right = case[0], case[1] == case[2]
    after = []
    for audit, _ in audits(case, min(repetitions, 100)):
        items = audit.ask(300)
        audit.tell(items, right=right[items])
        after.append(binary_ece(audit.calibrated(), right))
    return {"before": binary_ece(confidence, right), "after": float(np.mean(after)), "worst": float(np.max(after))}


def binary_ece(chance: np.ndarray, right: np.ndarray) -> float:
    """Return the ECE of the chance that a prediction is right, whichever side of one half it is on."""
    bins = np.minimum((chance * 10).astype(int), 9)
    gaps = [abs(chance[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)]
    return float(np.sum(gaps))


def guarantees(case: Case, repetitions: int) -> dict[str, Any]:
    confidence, right = case[0], case[1] == case[2]
    found: dict[str, list[tuple[float, bool]]] = {}
    for audit, rng in audits(case, min(repetitions, 300)):
        missing = audit.guarantee(0.98, count=400).missing
        audit.tell(missing, right=right[missing])
        kept = audit.guarantee(0.98).indices
        broken = len(kept) > 0 and right[kept].mean() < 0.98
        found.setdefault("guarantee .98, 400 checks", []).append((len(kept) / len(right), bool(broken)))
        judge = Audit(predicted=case[1], confidence=confidence, seed=audit.seed)
        items = judge.ask(200)
        judge.tell(items, right=right[items])
        kept = judge.accept(0.05).indices
        broken = (~right[kept]).sum() > 0.05 * len(right)
        found.setdefault("accept .05, 200 checks", []).append((len(kept) / len(right), bool(broken)))
        kept = naive(confidence, right, rng)
        broken = len(kept) > 0 and right[kept].mean() < 0.98
        found.setdefault("naive .98, 400 checks", []).append((len(kept) / len(right), bool(broken)))
    return {
        name: {"kept": float(np.mean([kept for kept, _ in rows])), "broken": float(np.mean([bad for _, bad in rows]))}
        for name, rows in found.items()
    }


def naive(confidence: np.ndarray, right: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    checked = rng.permutation(len(right))[:400]
    checked = checked[np.argsort(-confidence[checked])]
    good = np.flatnonzero(np.cumsum(right[checked]) / np.arange(1, len(checked) + 1) >= 0.98)
    return np.flatnonzero(confidence >= confidence[checked[good[-1]]]) if len(good) else np.empty(0, dtype=int)


def f1(case: Case, repetitions: int) -> dict[str, Any]:
    from sklearn.metrics import f1_score

    truth = f1_score(case[2], case[1], average="macro")
    rows: dict[str, Any] = {"true": float(truth)}
    for count in (200, 400):
        covered, refused = [], 0
        for audit, _ in audits(case, min(repetitions, 200)):
            items = audit.ask(min(count, len(case[0])))
            audit.tell(items, case[2][items])
            try:
                share = audit.macro_f1()
            except NotReady:
                refused += 1
            else:
                covered.append(share.low <= truth <= share.high)
        rows[str(count)] = {"coverage": float(np.mean(covered)) if covered else None, "refused": refused}
    return rows


PARTS: dict[str, Callable[[Case, int], dict[str, Any]]] = {
    "intervals": intervals,
    "looking": looking,
    "needed": needed,
    "hunt": hunt,
    "calibrated": calibrated,
    "guarantees": guarantees,
    "f1": f1,
}


# ---- tables

METHODS = ("audit", "uniform", "ppi++", "glide", "truescore")


def tables(cases: dict[str, Any]) -> str:
    """Return the results as Markdown: the tables of docs/audit.md."""
    return "\n\n".join(["\n".join(_intervals(cases)), "\n".join(_others(cases)), "\n".join(_promises(cases))])


def _intervals(cases: dict[str, Any]) -> Iterator[str]:
    yield "| predictions | right | repetitions | " + " | ".join(METHODS) + " |"
    yield "|---" * (3 + len(METHODS)) + "|"
    for name, row in cases.items():
        if "intervals" in row:
            cells = " | ".join(_cell(row["intervals"][method]) for method in METHODS)
            yield f"| {name} | {row['accuracy']:.1%} | {row['repetitions']['intervals']} | {cells} |"


def _cell(row: dict[str, Any]) -> str:
    held = ["-" if one["coverage"] is None else f"{one['coverage']:.3f}".removeprefix("0") for one in row.values()]
    ratios = ["-" if one["width2"] is None else f"{one['width2']:.2f}" for one in list(row.values())[1:3]]
    refused = sum(one["refused"] for one in row.values())
    return f"{' '.join(held)}; {' '.join(ratios)}{f'; refuses {refused}' if refused else ''}"


def _others(cases: dict[str, Any]) -> Iterator[str]:
    heads = ("looking", "checks for two points", "hunted, least confident, random", "ECE")
    yield "| predictions | " + " | ".join(heads) + " |"
    yield "|---|---|---|---|---|"
    for name, row in cases.items():
        if "looking" in row and "hunt" in row:
            look, need, found, ece = (row[part] for part in ("looking", "needed", "hunt", "calibrated"))
            yield (
                f"| {name} | {look['once']:.2f} {look['anytime']:.2f}; {look['ratio']:.1f} x "
                f"| {need['true']:.0f}; {need['ratio 50']:.2f} ({need['ratio 10']:.2f} to {need['ratio 90']:.2f}) "
                f"| {found['hunt']:.2f} {found['least confidence']:.2f} {found['random']:.2f}; {found['coverage']:.3f} "
                f"| {ece['before']:.3f} {ece['after']:.3f} |"
            )


def _promises(cases: dict[str, Any]) -> Iterator[str]:
    yield "| predictions | guarantee .98 | naive .98 | accept .05 | F1 at 200, at 400 |"
    yield "|---|---|---|---|---|"
    for name, row in cases.items():
        if "guarantees" in row:
            kept = row["guarantees"]
            order = ("guarantee .98, 400 checks", "naive .98, 400 checks", "accept .05, 200 checks")
            cells = " | ".join(f"{kept[one]['kept']:.2f}; {kept[one]['broken']:.3f}" for one in order)
            yield f"| {name} | {cells} | {_f1(row['f1']['200'])}, {_f1(row['f1']['400'])} |"


def _f1(row: dict[str, Any]) -> str:
    return "refused" if row["coverage"] is None else f"{row['coverage']:.2f}"


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="lbfgs failed to converge")
    main()
