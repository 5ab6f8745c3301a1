"""How many labels it takes to meet a rare class: the cold start of a session against uniform draws.

    python benchmarks/rare_classes.py build/keel          twelve tables, twenty seeds, into results/rare_classes.json

A pool has up to 1,000 items of the most frequent class of a table and of the next one so many that they are 2 or 5 %.
Batches of ten; a class that is not met within 300 labels counts as met at 300. The tables are of the chosen half of
`regret.py`, where they come from too.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import cusal
from regret import RESULTS, read_table

TABLES = "australian,banana,bands,chess,german,marketing,optdigits,phoneme,ring,saheart,satimage,spambase,sylva,texture"
SHARES, SEEDS, BATCH, MOST, COMMON = (0.02, 0.05), 20, 10, 300, 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the two packages were installed")
    folder = parser.parse_args().folder
    listed = {row["name"]: row for row in json.loads((RESULTS / "regret_tables.json").read_text())}
    rows = []
    for name in TABLES.split(","):
        X, y = read_table(folder, listed[name])
        for share in SHARES:
            found = [met(X, y, share, seed) for seed in range(SEEDS)]
            uniform, session = (float(np.mean(column)) for column in zip(*found, strict=True))
            rows.append({"table": name, "share": share, "uniform": round(uniform, 1), "session": round(session, 1)})
            print(f"{name:14}{share:5.0%}  uniform {uniform:5.0f}  session {session:5.0f}", flush=True)
    for share in SHARES:
        own = [row for row in rows if row["share"] == share]
        ratios = [row["session"] / row["uniform"] for row in own]
        print(f"{share:.0%}: session / uniform {np.mean(ratios):.2f} in the mean, worst {max(ratios):.2f}")
    stored = {"seeds": SEEDS, "batch": BATCH, "most": MOST, "tables": rows}
    (RESULTS / "rare_classes.json").write_text(json.dumps(stored, indent=1) + "\n")


def met(X: NDArray[np.float64], y: NDArray[np.str_], share: float, seed: int) -> tuple[int, int]:
    """Return with which label the rare class is met by uniform draws, and by a session."""
    rng = np.random.default_rng(seed)
    names, counts = np.unique(y, return_counts=True)
    common, rare = (names[place] for place in np.argsort(-counts, kind="stable")[:2])
    commons = np.flatnonzero(y == common)
    commons = rng.choice(commons, min(COMMON, len(commons)), replace=False)
    count = max(3, round(len(commons) * share / (1 - share)))
    rows = rng.permutation(np.concatenate([commons, rng.choice(np.flatnonzero(y == rare), count, replace=False)]))
    is_rare = y[rows] == rare
    uniform = int(np.argmax(is_rare[rng.permutation(len(rows))])) + 1
    session = cusal.Session(X[rows], LogisticRegression(), seed=seed)
    told = 0
    while told < MOST:
        picks = session.ask(BATCH).indices
        if is_rare[picks].any():
            return min(uniform, MOST), told + int(np.argmax(is_rare[picks])) + 1
        session.tell(picks, y[rows][picks])
        told += len(picks)
    return min(uniform, MOST), MOST


if __name__ == "__main__":
    main()
