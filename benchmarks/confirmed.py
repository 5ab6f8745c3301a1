"""What became of cluster variance with seeds and tables that had not chosen it.

    python benchmarks/confirmed.py   table of results/light-heads.md, from benchmarks/results/cluster_variance.json

A number is the mean test accuracy over the rounds after the first choice, in points.
"""

import json
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

RESULTS = Path(__file__).parent / "results" / "cluster_variance.json"
SENTENCES = ("ag_news sentences", "sms_spam sentences")  # with these and the tables the rule was never run before
HEADER = (
    "| head, tasks, seeds 5 to 9 | against `diverse_margin` | worst task | tasks won | p by task | p by task x seed | "
    "against margin |\n|---|---|---|---|---|---|---|"
)
Rows = list[dict]


def main() -> None:
    rows: Rows = json.loads(RESULTS.read_text())
    linear = [row for row in rows if row["head"] != "PoolClassifier"]
    tables = {row["task"] for row in rows if row["head"] == "PoolClassifier"}
    unseen = tables | set(SENTENCES)
    print(HEADER)
    print(line("C = 1, the 13 tasks that chose it", [row for row in linear if row["task"] not in unseen]))
    print(line("C = 1, 20 tables and 2 of sentences", [row for row in linear if row["task"] in unseen]))
    print(line("`PoolClassifier`, 20 tables", [row for row in rows if row["head"] == "PoolClassifier"]))


def line(name: str, rows: Rows) -> str:
    gains, margins = (by_task(rows, other) for other in ("diverse_margin", "margin"))
    means = {task: float(np.mean(values)) for task, values in gains.items()}
    worst = min(means, key=lambda task: means[task])
    over = [float(np.mean(values)) for values in margins.values()]
    p = [wilcoxon(values).pvalue for values in (list(means.values()), np.concatenate(list(gains.values())))]
    won = [sum(value > 0 for value in values) for values in (means.values(), over)]
    return (
        f"| {name} | {np.mean(list(means.values())):+.1f} | {means[worst]:+.1f} ({worst}) | {won[0]} of {len(means)} | "
        f"{p[0]:.2g} | {p[1]:.2g} ({len(rows)} pairs) | {np.mean(over):+.1f} ({won[1]} of {len(over)}) |"
    )


def by_task(rows: Rows, other: str) -> dict[str, list[float]]:
    gains: dict[str, list[float]] = {}
    for row in rows:
        gains.setdefault(row["task"], []).append(row["cluster_variance"] - row[other])
    return gains


if __name__ == "__main__":
    main()
