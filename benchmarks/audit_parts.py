"""Intervals of the predicted classes of an audit: how often they cover the truth, each by itself and all together.

    CUSAL_DATA=... python benchmarks/audit_parts.py        100 repetitions of 300 checks, seeds 0 to 99; some minutes

Predictions are those of benchmarks/audit.py. Weights are divided by their sum inside a class (what the audit does), or
by the number of its items, as for the whole data set. The table goes to results/audit_parts.md, and from there into
docs/audit.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cusal import Audit
from cusal.audit.together import by_class_together
from cusal.audit.weighted import deviations

sys.path.insert(0, str(Path(__file__).parent))
from audit import CASES, Case

OUT = Path(__file__).parent / "results" / "audit_parts.md"
NAMES, CHECKS, REPETITIONS = ("cifar10", "letter", "banking77", "ag_news"), 300, 100
FEW = 8  # checks of a class
HEAD = """| predictions | few checks | more checks | all at once: alone, together |
|---|---|---|---|
"""


def main() -> None:
    text = HEAD + "".join(row(name, CASES[name]()) for name in NAMES)
    OUT.write_text(text)
    print(text)


def row(name: str, case: Case) -> str:
    """Return a row: coverage and mean width with both divisors, and how often all classes were covered."""
    right = case[1] == case[2]
    truth = {one: right[case[1] == one].mean() for one in np.unique(case[1]).tolist()}
    found: dict[bool, list[tuple[bool, float, bool, float]]] = {True: [], False: []}
    alone, together = [], []
    for audit in audits(case, right):
        classes = [one for one in audit.by_class() if one.share is not None]
        for one in classes:
            by_size = divided_by_size(audit, case[1] == one.name)
            found[one.checks < FEW].append(
                (*judged((one.share.low, one.share.high), truth[one.name]), *judged(by_size, truth[one.name]))
            )
        alone.append(all(covers(one.share, truth[one.name]) for one in classes))
        wide = [one for one in by_class_together(audit) if one.share is not None]
        together.append(all(covers(one.share, truth[one.name]) for one in wide))
        print(".", end="", flush=True)
    cells = [cell(found[few]) for few in (True, False)]
    return f"| {name} | {' | '.join(cells)} | {np.mean(alone):.2f}, {np.mean(together):.2f} |\n"


def audits(case: Case, right: np.ndarray) -> Iterator[Audit]:
    for seed in range(REPETITIONS):
        audit = Audit(predicted=case[1], confidence=case[0], seed=seed)
        items = audit.ask(CHECKS)
        audit.tell(items, right=right[items])
        yield audit


def divided_by_size(audit: Audit, inside: np.ndarray) -> tuple[float, float]:
    """Return the interval with weights divided by the number of items of the class."""
    low, high = audit._checks.spread(inside, unknown_right=False).interval(deviations(0.95))
    return 1 - high, 1 - low


def judged(ends: tuple[float, float], truth: float) -> tuple[bool, float]:
    return bool(ends[0] - 1e-9 <= truth <= ends[1] + 1e-9), ends[1] - ends[0]


def covers(share, truth: float) -> bool:
    return judged((share.low, share.high), truth)[0]


def cell(rows: list[tuple[bool, float, bool, float]]) -> str:
    if not rows:
        return "none"
    covered, width, by_size, width_by_size = np.array(rows, dtype=np.float64).mean(axis=0)
    return f"{covered:.3f} {width:.2f}; {by_size:.3f} {width_by_size:.2f}"


if __name__ == "__main__":
    main()
