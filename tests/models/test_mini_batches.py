"""Items on disk are trained on and predicted as those in memory, a few batches at a time."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from cusal import Session
from cusal.apps.bench import grid_keys
from cusal.errors import InvalidInput, UnknownName
from cusal.models import Augmented, CrossEntropy, Energy, TorchClassifier
from cusal.models.networks import SmallNet, SmallResNet
from cusal.models.training import PRECISIONS

X, Y = load_digits(return_X_y=True)
MANY = (np.tile(X, (2, 1)).reshape(-1, 1, 8, 8) / 16).astype(np.float32)
IMAGES = (X[:400].reshape(-1, 1, 8, 8) / 16).astype(np.float32)
LABELS = Y[:400]


class OnDisk:
    """Items that count how many of them are read at once."""

    lazy = True

    def __init__(self, items):
        self.items, self.shape, self.most = items, items.shape, 0

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        found = self.items[key]
        self.most = max(self.most, len(found))
        return found


def model(**settings):
    return TorchClassifier(SmallNet(64, 10), epochs=3, batch_size=32, random_state=0, **settings)


@pytest.mark.parametrize("objective", [CrossEntropy(), Augmented(), Energy()])
def test_items_on_disk_give_a_model_without_being_read_as_a_whole(objective):
    stored = OnDisk(MANY)
    fitted = TorchClassifier(SmallNet(64, 10), objective=objective, epochs=1, random_state=0).fit(stored, np.tile(Y, 2))
    assert stored.most <= 256  # of 3594
    assert fitted.predict_proba(stored[:400]).shape == (400, 10)


def test_items_on_disk_give_the_same_model_as_in_memory():
    there, here = model().fit(OnDisk(IMAGES), LABELS), model().fit(IMAGES, LABELS)
    np.testing.assert_array_equal(there.predict_proba(OnDisk(IMAGES)), here.predict_proba(IMAGES))
    np.testing.assert_array_equal(there.embed(OnDisk(IMAGES)), here.embed(IMAGES))


@pytest.mark.parametrize("strategy", ["cusal", "badge", "random"])
def test_a_session_over_items_on_disk_asks_for_the_same_items(strategy):
    labelled = {i: int(LABELS[i]) for i in range(60)}
    asked = []
    for items in (OnDisk(IMAGES), IMAGES):
        session = Session(items, model(), strategy, labelled=labelled, classes=range(10), reference="cross-fit")
        query = session.ask(5)
        session.tell(query.indices, LABELS[query.indices])
        asked.append([*query.indices.tolist(), *session.ask(5).indices.tolist()])
    assert asked[0] == asked[1]


def test_a_bad_item_on_disk_is_reported():
    items = IMAGES.copy()
    items[7, 0, 0, 0] = np.nan
    with pytest.raises(InvalidInput, match="holds NaN"):
        model().fit(OnDisk(items), LABELS)


def test_bfloat16_gives_nearly_the_same_probabilities():
    exact, rough = (
        TorchClassifier(SmallResNet(10, width=8), epochs=2, precision=precision, random_state=0).fit(IMAGES, LABELS)
        for precision in ("float32", "bfloat16")
    )
    a, b = exact.predict_proba(IMAGES), rough.predict_proba(IMAGES)
    other = (
        TorchClassifier(SmallResNet(10, width=8), epochs=2, random_state=1).fit(IMAGES, LABELS).predict_proba(IMAGES)
    )
    assert 0 < np.abs(a - b).mean() < np.abs(a - other).mean() / 5
    assert next(rough.module_.parameters()).dtype == torch.float32


def test_auto_is_float32_on_a_processor():
    there, here = (
        model(precision=precision, device="cpu").fit(IMAGES, LABELS).predict_proba(IMAGES)
        for precision in ("auto", "float32")
    )
    np.testing.assert_array_equal(there, here)


def test_grids_know_the_precisions():
    assert grid_keys.PRECISIONS == PRECISIONS


def test_an_unknown_precision_is_named():
    with pytest.raises(UnknownName, match="did you mean 'bfloat16'"):
        model(precision="bfloat61").fit(IMAGES, LABELS)
