"""What `Session(texts)` reaches by default, beside scikit-learn's pipeline and other strategies.

    CUSAL_DATA=... python benchmarks/texts.py            two tasks, seeds 0 to 4, in some minutes on one core

2,500 texts as they are, 20 random first labels, ten batches of 10; mean accuracy on 1,500 other texts with 30, 60, 90
and 120 labels. "pipeline" is `make_pipeline(TextFeatures(), PoolClassifier())`, which learns its words from the
labelled texts alone and knows no pool; the default learns both from all texts.
"""

import argparse
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import wilcoxon
from sklearn.pipeline import make_pipeline

import cusal
from cusal.features import TextFeatures
from cusal.models import PoolClassifier
from heads import read_task
from stopping import raw_accuracy

RESULTS = Path(__file__).parent / "results" / "texts.txt"
POOL, TEST, FIRST, BATCH, ROUNDS = 2500, 1500, 20, 10, 10
MEASURED = (1, 4, 7, 10)  # batches told
CASES = {
    "pipeline, diverse_margin": (lambda: make_pipeline(TextFeatures(), PoolClassifier()), "diverse_margin"),
    "default, diverse_margin": (lambda: None, "diverse_margin"),
    "default, margin": (lambda: None, "margin"),
    "default, random": (lambda: None, "random"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="sms_spam,ag_news_test7600")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="The number of unique classes")
    found: dict[tuple[str, str], list[float]] = {}
    for task in options.tasks.split(","):
        items, labels = read_task(task)
        for seed in range(options.seeds):
            rows = np.random.default_rng(seed).permutation(len(items))[: POOL + TEST]
            for case in CASES:
                found.setdefault((task, case), []).append(run(case, list(items[rows]), labels[rows], seed))
        print(task, {case: np.round(found[task, case], 1).tolist() for case in CASES}, flush=True)
    text = report(found)
    print(text)
    options.out.write_text(text + "\n")


def run(case: str, texts: list[str], labels: np.ndarray, seed: int) -> float:
    """Return the mean accuracy of a session over the rounds that are measured, in per cent."""
    make, strategy = CASES[case]
    first = np.random.default_rng(seed).permutation(POOL)[:FIRST]
    session = cusal.Session(texts[:POOL], make(), strategy, labelled=(first, labels[first]), seed=seed)
    reached = []
    for told in range(1, ROUNDS + 1):
        query = session.ask(BATCH)
        session.tell(query.indices, labels[query.indices])
        if told in MEASURED:
            reached.append(raw_accuracy(session, texts[POOL:], labels[POOL:]))
    return 100 * float(np.mean(reached))


def report(found: dict[tuple[str, str], list[float]]) -> str:
    """Return the mean over seeds by task and case, and the paired differences to the default."""
    tasks = list(dict.fromkeys(task for task, _ in found))
    lines = [f"{'':28}" + "".join(f"{task:>20}" for task in tasks)]
    lines.append(f"{'seeds':28}" + "".join(f"{len(found[task, next(iter(CASES))]):20}" for task in tasks))
    lines += [f"{case:28}" + "".join(f"{np.mean(found[task, case]):20.1f}" for task in tasks) for case in CASES]
    base = np.concatenate([found[task, "default, diverse_margin"] for task in tasks])
    for case in CASES:
        if case != "default, diverse_margin":
            difference = base - np.concatenate([found[task, case] for task in tasks])
            p = float(wilcoxon(difference).pvalue)
            pairs = f"{len(difference)} pairs of task and seed"
            lines.append(
                f"default, diverse_margin against {case}: {difference.mean():+.1f} points (p = {p:.3f}, {pairs})"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
