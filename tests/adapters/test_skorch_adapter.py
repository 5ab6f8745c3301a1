"""Nets of skorch as models: seeds, embeddings, dropout samples, sessions and grid search."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

import cusal
from cusal.errors import InvalidInput, MissingMethod, NotReady

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def digits():
    items, labels = load_digits(return_X_y=True)
    return items[:300] / 16, labels[:300]


def network(rate=0.3, probabilities=False):
    from torch import nn

    last = [nn.Softmax(dim=-1)] if probabilities else []
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(rate), nn.Linear(32, 10), *last)


def model(module=None, **settings):
    import torch
    from skorch import NeuralNetClassifier

    from cusal.adapters import SkorchClassifier

    defaults = {"criterion": torch.nn.CrossEntropyLoss, "optimizer": torch.optim.Adam, "train_split": None}
    net = NeuralNetClassifier(module or network, max_epochs=15, lr=0.01, verbose=0, **defaults | settings)
    return SkorchClassifier(net, random_state=0)


@pytest.mark.parametrize("name", cusal.strategies.names())
def test_a_session_uses_the_embeddings_and_samples_of_a_net(digits, name):
    items, labels = digits
    session = cusal.Session(items, model(), strategy=name, labelled=(range(60), labels[:60]), classes=range(10))
    for _ in range(2):
        query = session.ask(5)
        session.tell(query.indices, labels[query.indices])
    assert session.evaluate(items, labels).raw["accuracy"] > 0.3


def test_the_same_seed_gives_the_same_net_and_leaves_torch_alone(digits):
    import torch

    items, labels = digits
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first, second = (model().fit(items, labels) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(first.predict_proba(items), second.predict_proba(items))
    np.testing.assert_array_equal(first.sample_proba(items, 4), second.sample_proba(items, 4))
    other = clone(first).set_params(random_state=1).fit(items, labels)
    assert np.abs(other.predict_proba(items) - first.predict_proba(items)).max() > 0.01


def test_the_net_learns_what_skorch_teaches_it(digits):
    import torch
    from skorch import NeuralNetClassifier

    items, labels = digits
    ours = model().fit(items, labels)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = NeuralNetClassifier(**ours.net.get_params(deep=False))
        theirs.initialize()
        theirs.predict_proba(items[:1].astype(np.float32))
        theirs.fit(items.astype(np.float32), labels.astype(np.int64))
    np.testing.assert_allclose(ours.predict_proba(items), theirs.predict_proba(items.astype(np.float32)), atol=1e-6)


def test_embeddings_lead_to_the_predictions_and_samples_surround_them(digits):
    from torch import nn

    items, labels = digits
    for probabilities in (False, True):
        module = network(probabilities=probabilities)
        criterion = nn.NLLLoss if probabilities else nn.CrossEntropyLoss
        fitted = model(module, criterion=criterion).fit(items, labels)
        last = fitted.net_.module_[3]
        logits = fitted.embed(items) @ last.weight.detach().numpy().T + last.bias.detach().numpy()
        np.testing.assert_array_equal(logits.argmax(1), fitted.predict_proba(items).argmax(1))
        sampled = fitted.sample_proba(items, 20)
        assert sampled.shape == (300, 20, 10)
        np.testing.assert_allclose(sampled.sum(axis=2), 1, atol=1e-5)
        assert sampled.std(axis=1).max() > 0.01
        assert np.abs(sampled.mean(axis=1) - fitted.predict_proba(items)).mean() < 0.05


def test_two_classes_words_and_warm_starts(digits):
    from skorch import NeuralNetBinaryClassifier
    from torch import nn

    from cusal.adapters import SkorchClassifier

    items, words = digits[0], np.where(digits[1] % 2, "odd", "even")
    module = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1), nn.Flatten(0))
    net = NeuralNetBinaryClassifier(module, max_epochs=5, lr=0.1, train_split=None, verbose=0, warm_start=True)
    fitted = SkorchClassifier(net, random_state=0).fit(items, words)
    assert fitted.classes_.tolist() == ["even", "odd"]
    assert fitted.sample_proba(items, 3).shape == (300, 3, 2)
    early = np.mean(fitted.predict(items) == words)
    for _ in range(20):
        fitted.fit(items, words)
    assert np.mean(fitted.predict(items) == words) > max(early, 0.85)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_searches_over_the_net(digits):
    search = GridSearchCV(model(), {"net__max_epochs": [1, 8]}, cv=2).fit(*digits)
    assert search.best_params_ == {"net__max_epochs": 8}


def test_what_does_not_fit_is_said(digits):
    from skorch.dataset import ValidSplit

    from cusal.adapters import SkorchClassifier

    with pytest.raises(InvalidInput, match="expected a net"):
        SkorchClassifier(network()).fit(*digits)
    with pytest.raises(NotReady, match="call fit"):
        model().predict_proba(digits[0])
    with pytest.raises(MissingMethod, match=r"no nn\.Dropout"):
        model(network(rate=0.0)).fit(*digits).sample_proba(digits[0], 2)
    with pytest.raises(InvalidInput, match="train_split=None"):
        model(train_split=ValidSplit(5, stratified=True)).fit(digits[0][:10], digits[1][:10])
