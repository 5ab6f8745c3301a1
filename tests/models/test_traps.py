"""What is silently wrong elsewhere is an error at the door of `TorchClassifier`, and says what to do."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from torch import nn

from cusal.errors import CusalError, InvalidInput
from cusal.models import TorchClassifier, Uncalibrated
from cusal.models.networks import SmallNet
from cusal.recalibration.temperature_scaled import TemperatureScaled

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def fit(X, y, module=None, **settings):
    settings = {"epochs": 1, "random_state": 0} | settings
    return TorchClassifier(module or SmallNet(4, 3), **settings).fit(X, y)


class Functional(nn.Module):
    """A network whose forward applies a softmax that is no layer."""

    def __init__(self):
        super().__init__()
        self.output = nn.Linear(4, 3)

    def forward(self, x):
        return self.output(x).softmax(1)


class Attention(nn.Module):
    """A network with a softmax inside, and logits at its end."""

    def __init__(self, *, late):
        super().__init__()
        self.late = late
        self.output = nn.Linear(4, 3)
        self.weights = nn.Softmax(1)  # registered last

    def forward(self, x):
        if self.late:  # the last layer that runs, but not the end of the network
            logits = self.output(x)
            return logits * self.weights(logits)
        return self.output(x * self.weights(x))


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            SmallNet,
            r"module is the class SmallNet; expected an instance. Call it first: TorchClassifier\(SmallNet\(...\)\)",
        ),
        (lambda x: x, "module is the function <lambda>; expected an nn.Module"),
        (torch.relu, "module is the function relu; expected an nn.Module"),
        ("small_net", "module is a str; expected an instance of torch.nn.Module"),
        (None, "module is a NoneType"),
    ],
)
def test_what_is_no_module_is_refused_at_once(module, message):
    with pytest.raises(InvalidInput, match=message):
        TorchClassifier(module)
    with pytest.raises(InvalidInput, match=message):
        TorchClassifier(SmallNet(4, 3)).set_params(module=module).fit(X, Y)


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1)),
        nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(dim=1)),
        nn.Sequential(nn.Sequential(nn.Linear(4, 3)), nn.Sequential(nn.Dropout(0.5), nn.Softmax(1))),
        Functional(),
    ],
    ids=["softmax", "log softmax", "nested", "functional"],
)
def test_a_module_that_ends_in_a_softmax_is_refused(module):
    with pytest.raises(InvalidInput, match="Remove the last softmax"):
        fit(X, Y, module)


@pytest.mark.parametrize("late", [False, True])
def test_a_softmax_inside_a_network_is_welcome(late):
    assert fit(X, Y, Attention(late=late)).predict_proba(X).shape == (150, 3)


def test_a_module_with_nothing_to_train_is_refused():
    with pytest.raises(InvalidInput, match="Identity has no weight that can be trained"):
        fit(X, Y, nn.Identity())
    with pytest.raises(InvalidInput, match="unfreeze its last layer"):
        fit(X, Y, SmallNet(4, 3).requires_grad_(False))


def test_a_module_of_several_outputs_is_refused():
    with pytest.raises(InvalidInput, match="LSTM returns a tuple; expected one tensor of logits"):
        fit(X, Y, nn.LSTM(4, 3))


@pytest.mark.parametrize(
    "y",
    [NAMES[Y], NAMES[Y].tolist(), NAMES.astype(object)[Y], Y + (Y == 2), 10.0 * Y, torch.from_numpy(Y + 5)],
    ids=["strings", "list", "objects", "with a gap", "whole floats", "tensor"],
)
def test_labels_of_any_kind_work_as_in_scikit_learn(y):
    model = fit(X, y, epochs=40, learning_rate=0.01, warm_start=False)
    assert model.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
    assert model.score(X, np.asarray(y)) > 0.9
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(1)])
    numbers = fit(X, Y, epochs=40, learning_rate=0.01)
    assert np.array_equal(model.predict_proba(X), numbers.predict_proba(X))


def test_class_numbers_keep_their_columns_though_some_are_missing():
    few = Y > 0
    model = fit(X[few], Y[few])
    assert model.classes_.tolist() == [0, 1, 2]
    assert fit(X[few], Y[few] == 1).classes_.tolist() == [0, 1, 2]
    assert fit(X[few], Y[few].astype(object)).classes_.dtype == np.int64


def test_a_warm_start_keeps_the_classes_that_it_knows():
    model = fit(X, NAMES[Y], epochs=40, learning_rate=0.01)
    model.fit(X[Y > 0], NAMES[Y[Y > 0]])
    assert model.classes_.tolist() == NAMES.tolist()
    shifted = fit(X, Y + 1, epochs=40, learning_rate=0.01).fit(X[Y < 2], Y[Y < 2] + 1)  # 1 and 2 are no columns here
    assert shifted.classes_.tolist() == [1, 2, 3]
    assert shifted.score(X[Y < 2], Y[Y < 2] + 1) > 0.9
    with pytest.raises(InvalidInput, match=r"row 0 is np.str_\('rose'\).*warm_start=False"):
        model.fit(X, np.where(Y == 0, "rose", NAMES[Y]))
    with pytest.raises(InvalidInput, match="from 0 to 2"):
        fit(X, Y).fit(X, Y + 1)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 150), "y holds 150 classes in 150 labels, of float64 such as .*: a quantity, not classes"),
        (np.where(Y == 0, np.nan, Y), "y holds NaN or infinity"),
        (NAMES[np.minimum(Y, 1)], "y holds 2 classes of <U10, but the module has 3 outputs"),
        ([None, *NAMES[Y][1:]], "y holds labels that cannot be sorted"),
        (np.ma.masked_array(Y, Y == 1), "masked labels; drop these rows"),
        ([[1, 2], *Y[1:].tolist()], "y is a ragged list"),
        (Y[:, None], r"y has shape \(150, 1\)"),
        (np.arange(150), "row 3 is 3; expected a class number from 0 to 2"),
    ],
)
def test_labels_that_are_no_classes_are_refused(y, message):
    with pytest.raises(InvalidInput, match=message):
        fit(X, y)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([[1.0, 2, 3, 4], [1.0, 2, 3]], r"X is ragged: row 1 has shape \(3,\), row 0 \(4,\)"),
        ([np.ones(4), np.ones(3)], r"X is ragged: row 1 has shape \(3,\), row 0 \(4,\). Pad, crop or resize"),
        ([torch.ones(4), torch.ones(3)], "X is ragged"),
        ([[[1.0], [2.0, 3.0]], [[1.0], [2.0]]], "X is ragged: its rows are lists of different lengths"),
        (np.ma.masked_array(X[:2], X[:2] > 5), "X holds masked values; fill them"),
        ([np.ma.masked_array(row, row > 5) for row in X[:2]], "X holds masked values"),
        (csr_matrix(X[:2]), r"X is a sparse matrix; expected dense items. Give X.toarray\(\)"),
    ],
)
def test_items_that_are_no_array_are_refused(items, message):
    with pytest.raises(InvalidInput, match=message):
        fit(items, [0, 1])
    with pytest.raises(InvalidInput, match=message):
        fit(X, Y).predict_proba(items)


def test_lists_of_arrays_and_of_tensors_are_items():
    expected = fit(X, Y).predict_proba(X)
    rows = np.empty(len(X), dtype=object)
    rows[:] = list(X)
    unmasked = np.ma.masked_array(X, np.zeros_like(X, dtype=bool))
    for items in (list(X), [torch.from_numpy(row) for row in X], rows, unmasked):
        assert np.array_equal(fit(items, Y).predict_proba(items), expected)


@pytest.mark.parametrize("seed", [-1, 1.5, 3.0, "x", True, 2**64, np.random.default_rng(0)])
def test_an_odd_seed_is_named(seed):
    with pytest.raises(CusalError, match=r"random_state is .*; expected a whole number"):
        fit(X, Y, random_state=seed)


@pytest.mark.parametrize("wrapper", [TemperatureScaled, Uncalibrated])
@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_an_odd_seed_of_a_wrapper_is_named(wrapper, seed):
    with pytest.raises(CusalError, match=r"random_state is .*; expected a whole number"):
        wrapper(TorchClassifier(SmallNet(4, 3), epochs=1), random_state=seed).fit(X, Y)


def test_numpy_s_integers_are_seeds():
    assert np.array_equal(
        fit(X, Y, random_state=np.int64(7)).predict_proba(X), fit(X, Y, random_state=7).predict_proba(X)
    )
