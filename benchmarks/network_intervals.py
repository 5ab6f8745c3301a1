"""How often the 90 % intervals of sessions hold the truth when a network learns from its first labels.

    python benchmarks/network_intervals.py        1,000 digits, 20 to 80 labels; a minute on one core

A small network, by itself and as an `Ensemble` of two, continues from round to round. The cold start chooses the first
10 labels, `diverse_margin` the rest, 10 a round. Before that there is no evidence: intervals are judged from 20 labels
on. "bias" is the estimated accuracy less the true one.
"""

import argparse
import warnings
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import cusal
from cusal.models import Ensemble, TorchClassifier
from cusal.models.networks import SmallNet

NETWORKS = {
    "fully connected": lambda: SmallNet(64, 10),
    "convolutional": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(256, 10),
    ),
}
MOST = 80


def judged(network: str, members: int, seed: int) -> list[tuple[float, ...]]:
    """Return of each round whether intervals hold accuracy, raw and recalibrated ECE; the bias; and both ECE."""
    items, labels = load_digits(return_X_y=True)
    items, labels = (items / 16).astype(np.float32)[:1000], labels[:1000]
    model: Any = TorchClassifier(NETWORKS[network](), epochs=30, warm_start=True, random_state=seed)
    model = Ensemble(model, members=members) if members > 1 else model
    session = cusal.Session(items, model, seed=seed, classes=range(10))
    rows = []
    while len(session.labels) < MOST:
        query = session.ask(10)
        session.tell(query.indices, labels[query.indices].tolist())
        if len(session.labels) < 20:
            continue
        estimate, expected = session.estimate_accuracy(), session.calibration
        truth, raw = labels[session.view.candidates], session.open_probs
        made = session.recalibration.apply(raw)[:, session.class_columns]
        right = float((made.argmax(axis=1) == truth).mean())
        errors = [cusal.metrics.ece(probs, truth) for probs in (raw[:, session.class_columns], made)]
        intervals = (estimate.low, estimate.high), expected.ece_before_interval, expected.ece_after_interval
        holds = [low <= value <= high for value, (low, high) in zip((right, *errors), intervals, strict=True)]
        rows.append((*holds, estimate.estimate - right, *errors))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-4", help="first-last")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="lbfgs failed to converge")
    columns = f"{'rounds':>8}{'accuracy':>10}{'raw ECE':>10}{'recal. ECE':>12}{'bias':>8}   ECE: raw, after"
    print(f"{'network, members':22}{columns}")
    for network in NETWORKS:
        for members in (1, 2):
            rows = np.array([row for seed in range(first, last + 1) for row in judged(network, members, seed)])
            accuracy, raw, made, bias, *errors = rows.mean(axis=0)
            print(
                f"{network + ', ' + str(members):22}{len(rows):8}{accuracy:10.0%}{raw:10.0%}{made:12.0%}{bias:+8.2f}"
                f"   {errors[0]:.3f} {errors[1]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
