"""baal drives our strategies in its own loop, with a network of its own making."""

import numpy as np
import pytest
import torch
from baal.active import ActiveLearningDataset, ActiveLearningLoop
from baal.active.heuristics import BALD
from baal.bayesian.dropout import patch_module
from baal.modelwrapper import ModelWrapper, TrainingArgs
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import TensorDataset

import cusal
from cusal.adapters import BaalHeuristic
from cusal.errors import InvalidInput

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]  # its own

SAMPLES = 8


class Network:
    """What baal needs for a loop over digits: the data, a model with dropout, and its training."""

    def __init__(self, size=200, labelled=40):
        items, self.labels = load_digits(return_X_y=True)
        data = TensorDataset(torch.tensor(items[:size] / 16).float(), torch.tensor(self.labels[:size]))
        self.data = ActiveLearningDataset(data)
        self.data.label(list(range(labelled)))
        torch.manual_seed(0)
        module = patch_module(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10)))
        optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
        arguments = TrainingArgs(
            optimizer=optimizer, criterion=nn.CrossEntropyLoss(), epoch=10, workers=0, use_cuda=False
        )
        self.model = ModelWrapper(module, arguments)

    def predict(self, data):
        return self.model.predict_on_dataset(data, SAMPLES, verbose=False)


@pytest.mark.parametrize("name", cusal.strategies.names())
def test_its_loop_labels_what_our_heuristic_ranks_first(name):
    network = Network()
    heuristic = BaalHeuristic(name, query_size=5)
    loop = ActiveLearningLoop(network.data, network.predict, heuristic, query_size=5)
    for _ in range(2):
        network.model.train_on_dataset(network.data)
        labels = [int(label) for _, label in network.data]
        heuristic.update(network.predict(network.data), labels)
        assert loop.step()
    assert network.data.n_labelled == 50


def test_bald_ranks_as_baal_does():
    logits = np.random.default_rng(0).normal(size=(50, 4, 12)) * 2
    ranks, scores = BaalHeuristic("bald", query_size=50).get_ranks(logits)
    theirs, their_scores = BALD().get_ranks(logits)
    np.testing.assert_array_equal(ranks, theirs)
    np.testing.assert_allclose(scores, their_scores, atol=1e-10)


def test_the_picks_are_those_of_a_query():
    rng = np.random.default_rng(1)
    pool, known, labels = rng.dirichlet(np.ones(3), 60), rng.dirichlet(np.ones(3), 30), rng.integers(3, size=30)
    heuristic = BaalHeuristic(cusal.strategies.Cusal(bandwidth=0.05), query_size=7)
    heuristic.update(known, labels)
    query = cusal.query(pool, known, labels, batch_size=7, strategy=cusal.strategies.Cusal(bandwidth=0.05))
    np.testing.assert_array_equal(heuristic(pool)[:7], query.indices)
    np.testing.assert_array_equal(heuristic(part for part in (pool[:20], pool[20:]))[:7], query.indices)
    assert sorted(heuristic(pool)) == list(range(60))


def test_what_does_not_fit_is_said():
    heuristic = BaalHeuristic("coreset")
    with pytest.raises(InvalidInput, match="go together"):
        heuristic.update(np.ones((2, 2)) / 2, [0, 1], embeddings=np.ones((3, 2)))
    heuristic.update(np.ones((2, 2)) / 2, [0, 1], embeddings=np.ones((3, 2)), labelled_embeddings=np.ones((2, 2)))
    with pytest.raises(InvalidInput, match="3 embeddings were given for 4 items"):
        heuristic(np.ones((4, 2)) / 2)
    with pytest.raises(InvalidInput, match="of the same model"):
        heuristic(np.ones((3, 3)) / 3)
