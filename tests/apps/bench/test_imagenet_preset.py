"""The ImageNet preset from end to end, on a small folder of images."""

from dataclasses import replace

import numpy as np
import pytest

from cusal.apps.bench.datasets.formats.image_folder import ImageFolder
from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.loaded_data import forget_data

Image = pytest.importorskip("PIL.Image", reason="reading images needs pillow")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for part, count in (("train", 7), ("val", 2)):
        for label in range(3):
            place = tmp_path / "imagenet" / part / f"n0000000{label}"
            place.mkdir(parents=True)
            for number in range(count):
                pixels = rng.integers(0, 80, (240, 260, 3)) + np.eye(3, dtype=int)[label] * 150
                Image.fromarray(pixels.astype(np.uint8)).save(place / f"{number}.JPEG")
    monkeypatch.setenv("CUSAL_DATA", str(tmp_path))
    forget_data()
    yield tmp_path
    forget_data()


@pytest.mark.slow
def test_the_imagenet_preset_runs_from_end_to_end(folder, monkeypatch):
    read = []
    decode = ImageFolder.__getitem__

    def counted(self, key):
        read.append(np.arange(len(self))[key].size)
        return decode(self, key)

    monkeypatch.setattr(ImageFolder, "__getitem__", counted)
    spec = next(s for s in read_grid("imagenet").specs() if s.label == "cusal")
    spec = replace(spec, warm_up=6, batch_size=2, rounds=1, epochs=1, train_batch_size=4)
    assert spec.network == {"name": "resnet50"}
    experiment = Experiment(spec)
    first, last = experiment.rounds(experiment.start())
    assert (first.labelled, last.labelled) == (6, 8)
    assert last.test is not None
    assert 0 <= last.test.raw["accuracy"] <= 1
    assert {"estimated_pool_error", "known_pool_error", "known_test_error", "bound"} <= set(first.measured)
    assert max(read) < len(experiment.items)  # never the whole pool at once
