"""Which features, at 100 labels: sentence embeddings against TF-IDF, a pretrained network against pixels.

    CUSAL_DATA=... python benchmarks/features.py          five data sets, three seeds, under ten minutes of one core

Accuracy of `PoolClassifier` fitted to 100 random labels and a pool of up to 1,000 items, on up to 500 others. Features
are learned from the pool. MiniLM needs the extras `text` and `torch`, EfficientNet-Lite0 `images` and `torch`.

    word                TF-IDF of words
    word + char         `cusal.features.TextFeatures`: words, and pieces of them with two to four letters
    MiniLM              `cusal.features.sentence_vectors`
    PCA                 the first 50 principal components of the pixels
    EfficientNet-Lite0  a pretrained network, images enlarged to 96 x 96 as grids do by default
    both                the two side by side, each scaled to the same mean squared length
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer

from cusal.features import TextFeatures, sentence_vectors
from cusal.models import PoolClassifier
from heads import read_task

RESULTS = Path(__file__).parent / "results" / "features.json"
TEXTS, IMAGES = ("ag_news_test7600", "banking77", "sms_spam"), ("cifar10", "fashion_mnist")
LABELS, POOL, TEST, COMPONENTS = 100, 1000, 500, 50
Features = tuple[Any, Any]  # of the pool, of the test set


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join((*TEXTS, *IMAGES)), help="names, separated by commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="The number of unique classes")  # few labels of many classes
    cases: list[dict[str, Any]] = []
    for task in options.tasks.split(","):
        items, labels = read_sample(task)
        pretrained = sentence_vectors(list(items)) if task in TEXTS else network_vectors(items)
        for seed in range(options.seeds):
            rows = np.random.default_rng(seed).permutation(len(items))
            pool, test = rows[:POOL], rows[POOL : POOL + TEST]
            made = texts_as if task in TEXTS else images_as
            for name, features in made(items, pretrained, pool, test).items():
                accuracy = reached(features, labels[pool], labels[test], seed)
                cases.append({"task": task, "seed": seed, "features": name, "accuracy": round(100 * accuracy, 2)})
        print(table([case for case in cases if case["task"] == task]), flush=True)
    stored = {"labels": LABELS, "pool": POOL, "test": TEST, "seeds": options.seeds}
    stored |= {"cpu_seconds": round(time.process_time()), "cases": cases}
    options.out.write_text(json.dumps(stored, indent=1) + "\n")
    options.out.with_suffix(".txt").write_text(table(cases) + "\n")


def read_sample(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return as many random items as are needed, the same for every seed, and their labels."""
    if task in TEXTS:
        items, labels = read_task(task)
    else:
        from cusal.apps.bench import datasets

        data = datasets.load(task)
        items, labels = data.train, np.asarray(data.train_labels)
    rows = np.random.default_rng(0).permutation(len(items))[: POOL + TEST]
    return np.asarray(items[rows]), labels[rows]


def network_vectors(images: np.ndarray) -> np.ndarray:
    """Return the features of images by EfficientNet-Lite0, (n, 1280)."""
    from cusal.features.images import DEFAULT_SIDE, Extractor, pixel_range

    return np.concatenate(list(Extractor(DEFAULT_SIDE, pixel_range(images)).vectors(images)))


def texts_as(texts: np.ndarray, pretrained: np.ndarray, pool: np.ndarray, test: np.ndarray) -> dict[str, Features]:
    def learned(encoder: Any) -> Features:
        return encoder.fit_transform(list(texts[pool])), encoder.transform(list(texts[test]))

    return {
        "word": learned(TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")),
        "word + char": learned(TextFeatures()),
        "MiniLM": (pretrained[pool], pretrained[test]),
    }


def images_as(images: np.ndarray, pretrained: np.ndarray, pool: np.ndarray, test: np.ndarray) -> dict[str, Features]:
    flat = images.reshape(len(images), -1)
    encoder = PCA(COMPONENTS, random_state=0).fit(flat[pool])
    components = encoder.transform(flat)
    both = np.hstack([scaled(components, pool), scaled(pretrained, pool)])
    made = {"PCA": components, "EfficientNet-Lite0": pretrained, "both": both}
    return {name: (rows[pool], rows[test]) for name, rows in made.items()}


def scaled(rows: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Return rows around the mean of the pool, whose mean squared length is then 1."""
    centred = rows - rows[pool].mean(axis=0)
    return np.asarray(centred / np.sqrt((centred[pool] ** 2).sum(axis=1).mean()))


def reached(features: Features, labels: np.ndarray, test_labels: np.ndarray, seed: int) -> float:
    """Return the accuracy with random labels."""
    rows = np.random.default_rng([seed, 1]).permutation(POOL)
    chosen, others = rows[:LABELS], rows[LABELS:]
    pool, test = features
    model = PoolClassifier().fit(pool[chosen], labels[chosen], unlabelled=pool[others])
    return float(model.score(test, test_labels))


def table(cases: list[dict[str, Any]]) -> str:
    """Return mean and standard deviation over seeds by data set and features."""
    lines = []
    for task, name in dict.fromkeys((case["task"], case["features"]) for case in cases):
        values = [case["accuracy"] for case in cases if (case["task"], case["features"]) == (task, name)]
        lines.append(
            f"{task:18}{name:20}{np.mean(values):6.1f} ± {np.std(values, ddof=1 if len(values) > 1 else 0):.1f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
