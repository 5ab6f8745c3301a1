"""`herding` beside other rules, on seeds that chose nothing: the recipe was frozen before the first run of this file.

    CUSAL_DATA=... python benchmarks/herding.py --keel build/keel/tables       hours; stops and resumes at any run
    python benchmarks/herding.py --report                                      the table, from the stored figures

Pools of 1,000 items, 1,000 others as the test set, 20 random labels and ten batches of 10: a figure is the mean test
accuracy after the ten batches, in points, against `diverse_margin` on the same pool and first labels. `--keel` names
the folder that benchmarks/keel_tables.py writes.

What chose what: radius, kernel and doubt of `herding` are those of a study that looked at seeds 0 to 2 of most tasks
here before it froze them, and confirmed them with seeds 5 to 8 of its own pools. The tables of `--keel` chose nothing.
Pools and first labels of this file were drawn by no one before.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import cusal
from cusal.apps.bench import datasets
from cusal.features import sentence_vectors
from cusal.models import PoolClassifier
from heads import read_task, searched

RESULTS = Path(__file__).parent / "results" / "herding.json"
POOL, TEST, FIRST, BATCH, ROUNDS, TEXTS_READ = 1000, 1000, 20, 10, 10, 3000
TEXTS = ("banking77", "clinc150_full", "ag_news_test7600", "sms_spam")
IMAGES = ("mnist", "fashion_mnist")
TABLES = ("letter", "pendigits", "vowel", "dna", "image_segment", "shuttle")
STRATEGIES = ("diverse_margin", "herding", "margin", "random", "power_margin")
BASE = "diverse_margin"
MANY_CLASSES = 30  # from which on cross-validated regression takes minutes a run, and is left out
Row = dict[str, Any]


def few_label() -> Any:
    from cusal.models import FewLabelClassifier  # type: ignore[attr-defined]

    return FewLabelClassifier()


MODELS: dict[str, Callable[[], Any]] = {
    "PoolClassifier": PoolClassifier,
    "LR, C by cross-validation": searched,
    "FewLabelClassifier": few_label,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="PoolClassifier", help="names, separated by semicolons")
    parser.add_argument("--seeds", default="5-14")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="names, separated by commas")
    parser.add_argument("--tasks", help="names, separated by commas; all by default")
    parser.add_argument("--keel", type=Path, help="folder of tables that chose nothing")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    stored: list[Row] = json.loads(options.out.read_text())["runs"] if options.out.exists() else []
    if not options.report:
        warnings.simplefilter("ignore")  # few labels of many classes
        first, _, last = options.seeds.partition("-")
        keel = sorted(options.keel.glob("*.csv")) if options.keel else []
        sources: dict[str, str | Path] = {name: name for name in (*TEXTS, *IMAGES, *TABLES)}
        sources |= {f"keel {path.stem}": path for path in keel}
        wanted = options.tasks.split(",") if options.tasks else list(sources)
        for seed in range(int(first), int(last or first) + 1):
            for model in options.models.split(";"):
                for name in wanted:
                    stored += measure(name, sources[name], model, seed, stored, options.strategies.split(","))
                    write(options.out, stored)
    print(report(stored))


def measure(
    name: str, source: str | Path, model: str, seed: int, stored: list[Row], strategies: list[str]
) -> list[Row]:
    """Return the runs of one task, model and seed that are not stored yet."""
    done = {row["strategy"] for row in stored if (row["task"], row["model"], row["seed"]) == (name, model, seed)}
    missing = [strategy for strategy in strategies if strategy not in done]
    if not missing:
        return []
    items, labels = read(name, source)
    if model.startswith("LR") and len(np.unique(labels)) > MANY_CLASSES:
        return []
    rng = np.random.default_rng([seed, len(items)])
    rows = rng.permutation(len(items))
    size = min(POOL, int(0.65 * len(items)))
    pool, test = rows[:size], rows[size : size + TEST]
    encoder: Any = None
    if name not in TEXTS:
        encoder = (PCA(50, random_state=0) if name in IMAGES else StandardScaler()).fit(items[pool])
    X, others = (items[part] if encoder is None else encoder.transform(items[part]) for part in (pool, test))
    first = rng.permutation(size)[:FIRST]
    while len(np.unique(labels[pool][first])) < 2:  # nothing learns from one class
        first = rng.permutation(size)[:FIRST]
    found = []
    for strategy in missing:
        begun = time.process_time()
        reached = run(X, labels[pool], (others, labels[test]), first, MODELS[model](), strategy, seed)
        spent = time.process_time() - begun
        found.append({"task": name, "model": model, "seed": seed, "strategy": strategy})
        found[-1] |= {"accuracy": [round(100 * value, 2) for value in reached], "seconds": round(spent, 1)}
    mean = {row["strategy"]: round(float(np.mean(row["accuracy"])), 1) for row in found}
    print(f"{seed} {model} {name}: {mean}", flush=True)
    return found


def run(X: Any, labels: Any, test: tuple[Any, Any], first: Any, model: Any, strategy: str, seed: int) -> list[float]:
    """Return the test accuracy after each batch."""
    classes = np.unique(np.concatenate([labels, test[1]]))
    session = cusal.Session(
        X, model, strategy, labelled=(first, labels[first]), classes=classes.tolist(), recalibrate=None, seed=seed
    )
    reached = []
    for _ in range(ROUNDS):
        query = session.ask(BATCH)
        session.tell(query.indices, labels[query.indices])
        probs = session.predict_proba(test[0])
        reached.append(float((np.asarray(session.classes_)[probs.argmax(axis=1)] == test[1]).mean()))
    return reached


def read(name: str, source: str | Path) -> tuple[Any, Any]:
    """Return the features of a task's items, before they are scaled, and their labels."""
    if isinstance(source, Path):
        table = pd.read_csv(source)
        labels = table.pop("label").to_numpy()
        return table.to_numpy(dtype=float), labels
    if name in TEXTS:  # the same ones for all seeds: their vectors are computed once
        table = pd.read_csv(datasets.data_folder() / "text" / f"{name}.csv.gz")
        table = table.sample(TEXTS_READ, random_state=0)
        return sentence_vectors(table["text"].tolist()), table["label"].to_numpy()
    return read_task(name)


def write(path: Path, rows: list[Row]) -> None:
    settings = {"pool": POOL, "test": TEST, "first": FIRST, "batch": BATCH, "rounds": ROUNDS, "texts": TEXTS_READ}
    lines = ",\n".join(json.dumps(row) for row in rows)
    part = path.with_suffix(".part")
    part.write_text(f'{{"settings": {json.dumps(settings)},\n"runs": [\n{lines}\n]}}\n')
    part.replace(path)


def report(rows: list[Row]) -> str:
    """Return the table of differences to `diverse_margin` by model and group of tasks."""
    groups: dict[str, Callable[[str], bool]] = {
        "embeddings": lambda task: task in (*TEXTS, *IMAGES),
        "tables": lambda task: task in TABLES,
        "tables that chose nothing": lambda task: task.startswith("keel"),
    }
    others = [name for name in STRATEGIES if name != BASE]
    lines = [f"| model, group | tasks | seeds | {' | '.join(others)} | herding won | worst task | p, tasks x seeds |"]
    lines.append("|" + "---|" * (len(others) + 6))
    for model in dict.fromkeys(row["model"] for row in rows):
        for group, belongs in groups.items():
            chosen = [row for row in rows if row["model"] == model and belongs(row["task"])]
            mean = {(row["task"], row["seed"], row["strategy"]): float(np.mean(row["accuracy"])) for row in chosen}
            pairs = sorted({(task, seed) for task, seed, _ in mean})
            shown = [name for name in STRATEGIES if any((*pair, name) in mean for pair in pairs)]
            pairs = [pair for pair in pairs if all((*pair, name) in mean for name in shown)]
            if not pairs:
                continue
            gains = {
                name: np.array([mean[*pair, name] - mean[*pair, BASE] for pair in pairs])
                for name in shown
                if name != BASE
            }
            tasks = sorted({task for task, _ in pairs})
            by_task = {task: gains["herding"][[pair[0] == task for pair in pairs]].mean() for task in tasks}
            worst = min(tasks, key=lambda task: by_task[task])
            p = wilcoxon(gains["herding"]).pvalue if len(pairs) > 5 else float("nan")
            cells = [
                f"{np.mean([gains[n][[pair[0] == t for pair in pairs]].mean() for t in tasks]):+.1f}"
                if n in gains
                else ""
                for n in others
            ]
            won = sum(value > 0 for value in by_task.values())
            lines.append(
                f"| {model}, {group} | {len(tasks)} | {len({seed for _, seed in pairs})} | "
                f"{' | '.join(cells)} | {won} of {len(tasks)} | "
                f"{by_task[worst]:+.1f} ({worst}) | {p:.2g} ({len(pairs)}) |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
