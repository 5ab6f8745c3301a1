"""Settings chosen on a part of the train items, never on the test items."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets import Dataset
from cusal.apps.bench.experiment import Experiment, load_data
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.loaded_data import with_validation
from cusal.apps.bench.spec import Spec
from cusal.errors import InvalidInput, UnknownName

MNIST = next(row.present for row in datasets.describe() if row.name == "mnist")


def a_dataset(labels: list[int], tested: int) -> Dataset:
    train, test = np.arange(len(labels))[:, None], np.arange(1000, 1000 + tested)[:, None]
    return Dataset("mine", train, np.array(labels), test, np.zeros(tested, dtype=np.int64), ("a", "b"))


def a_spec(**changes: object) -> Spec:
    grid = read_grid("digits").choose(["margin"]).override({"seeds": [3], "rounds": 2, "epochs": 2})
    return replace(grid.specs()[0], **{"pool": 100, "estimator_every": 0} | changes)


def test_the_last_train_items_take_the_place_of_the_test_items() -> None:
    split = with_validation(a_dataset([0, 1] * 50, tested=10))
    assert split.train[:, 0].tolist() == list(range(90))
    assert split.test[:, 0].tolist() == list(range(90, 100))
    assert split.train_labels.tolist() == [0, 1] * 45
    assert split.test_labels.tolist() == [0, 1] * 5


def test_validation_takes_at_most_a_fifth() -> None:
    assert len(with_validation(a_dataset([0, 1] * 50, tested=70)).test_labels) == 20


@pytest.mark.skipif(not MNIST, reason="the files of MNIST are not here")
def test_mnist_keeps_50000_items_and_tests_on_10000() -> None:
    mnist = datasets.load("mnist")
    split = with_validation(mnist)
    assert (split.train.shape, split.test.shape) == ((50000, 1, 28, 28), (10000, 1, 28, 28))
    assert np.array_equal(split.test, mnist.train[50000:])
    assert np.shares_memory(split.train, mnist.train)


def test_items_that_are_read_from_disk_stay_there() -> None:
    class OnDisk:
        shape, lazy = (100, 1), True

        def __len__(self) -> int:
            return 100

        def __getitem__(self, key: np.ndarray) -> np.ndarray:
            return np.arange(100)[key][:, None]

    split = with_validation(replace(a_dataset([0, 1] * 50, tested=10), train=OnDisk()))
    assert (split.train.shape, split.test.shape) == ((90, 1), (10, 1))
    assert split.test[np.array([0, 9])][:, 0].tolist() == [90, 99]


def test_items_sorted_by_class_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"the last 10 train items of mine, .* have none of a; expected items in ran"
    ):
        with_validation(a_dataset([0] * 50 + [1] * 50, tested=10))
    with pytest.raises(InvalidInput, match="the last 0 train items"):
        with_validation(a_dataset([0], tested=10))


def test_a_run_on_validation_meets_no_test_item() -> None:
    data = datasets.load("digits")
    experiment = Experiment(a_spec(test="validation"))
    kept = len(experiment.data.train_labels)
    assert experiment.rows.max() < kept == len(data.train) - len(experiment.data.test)
    assert np.array_equal(experiment.data.test, data.train[kept:])
    assert load_data("digits").test.shape == data.test.shape
    *_, last = experiment.rounds(experiment.start())
    *_, other = Experiment(a_spec()).rounds(Experiment(a_spec()).start())
    assert last.test.raw != other.test.raw


def test_a_grid_names_the_split_and_the_names_of_runs_say_so() -> None:
    grid = read_grid("digits").override({"test": "validation"})
    assert grid.name == "digits test=validation"
    assert {spec.test for spec in grid.specs()} == {"validation"}
    assert grid.specs()[0].id != read_grid("digits").specs()[0].id
    assert Spec.of(grid.specs()[0].json) == grid.specs()[0]
    with pytest.raises(UnknownName, match="did you mean 'validation'"):
        read_grid("digits").override({"test": "validatoin"})
