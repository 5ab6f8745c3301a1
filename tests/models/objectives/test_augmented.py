import pickle
from typing import ClassVar

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from torch import nn

import cusal
from cusal.errors import InvalidInput, NotReady, UnknownName
from cusal.models import Augmented, TorchClassifier
from cusal.models.networks import SmallNet
from cusal.models.objectives.augmented import SAMPLE, _AugmentedTraining

STRENGTHS = (0.25, 0.5, 0.75, 1.0)


def make(**settings):
    """A small classifier; settings that the objective has are the objective's."""
    inner = {name: settings.pop(name) for name in Augmented().get_params() if name in settings}
    return TorchClassifier(SmallNet(64, 10), objective=Augmented(**inner), **settings)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32).reshape(-1, 1, 8, 8), y


@pytest.fixture(scope="module")
def fitted(digits):
    X, y = digits
    return make(epochs=20, random_state=3).fit(X[:300], y[:300], unlabelled=X[300:])


class Pool:
    """Unlabelled items that remember how many were asked for at once."""

    def __init__(self, items):
        self.items, self.shape, self.asked = items, items.shape, []

    def __len__(self):
        return len(self.items)

    def __getitem__(self, rows):
        self.asked.append(len(rows))
        return self.items[rows]


def test_learns_digits_as_well_as_plain_training(digits):
    X, y = digits
    settings = {"epochs": 60, "random_state": 0}
    plain = TorchClassifier(SmallNet(64, 10), **settings).fit(X[:600], y[:600])
    model = make(**settings).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > plain.score(X[600:], y[600:]) - 0.03


def test_strengths_are_chosen_at_each_fit_and_recorded(digits, fitted):
    X, y = digits
    assert fitted.strength_ in STRENGTHS
    assert fitted.scoring_strength_ in STRENGTHS
    model = make(strengths=[0.4], epochs=2, random_state=0).fit(X[:50], y[:50])
    assert (model.strength_, model.scoring_strength_) == (0.4, 0.4)
    model.set_params(objective__strengths=[0.9]).fit(X[:60], y[:60])
    assert (model.strength_, model.scoring_strength_) == (0.9, 0.9)


def test_the_strength_of_training_is_that_of_least_loss_and_scoring_looks_for_uncertainty(digits):
    X, y = digits
    model = make(operations=["cutout"], strengths=[1.0, 0.01], epochs=40, learning_rate=0.01, random_state=0).fit(
        X[:200], y[:200], unlabelled=X[200:]
    )
    assert model.strength_ == 0.01  # hiding a quarter of a digit makes its loss rise
    entropies = []
    for strength in (0.01, 1.0):
        answers = model.objective._answers(model, lambda: model.predict_proba(X[200:]), strength)
        entropies.append(np.min([-(p * np.log(p)).sum(1) for p in answers], axis=0).mean())
    assert model.scoring_strength_ == (0.01, 1.0)[int(np.argmax(entropies))]


def test_only_a_small_sample_of_the_unlabelled_items_is_read_and_none_is_kept(digits):
    X, y = digits
    pool = Pool(X[100:])
    model = make(epochs=2, random_state=0).fit(X[:100], y[:100], unlabelled=pool)
    assert pool.asked == [SAMPLE]
    assert not any(value is pool for value in vars(model).values())
    assert len(pickle.dumps(model)) < len(pickle.dumps(X[100:])) / 4


def test_an_empty_pool_and_a_handful_of_labels_will_do(digits):
    X, y = digits
    model = make(epochs=2, random_state=0)
    assert model.fit(X[:1], y[:1], unlabelled=X[:0]).strength_ == 0.25
    assert model.fit(X[:4], y[:4]).scoring_proba(X[:5]).shape == (5, 10)


def test_training_sees_each_row_plain_changed_or_mixed(digits, fitted):
    X, y = digits
    items, labels = torch.from_numpy(X[:300]), torch.from_numpy(y[:300])
    batch = fitted.objective._vary(items, labels, 0.5, generator=torch.Generator().manual_seed(0))
    same = (batch.items == items).flatten(1).all(1)
    mixed = batch.weights[:, 1] > 0
    assert not (same & mixed).any()
    for share in (same, mixed, ~(same | mixed)):
        assert 60 < int(share.sum()) < 140
    assert torch.equal(batch.labels[:, 0], labels)
    assert torch.allclose(batch.weights.sum(1), torch.ones(300))
    own, other = (batch.weights[mixed, side].reshape(-1, 1, 1, 1) for side in (0, 1))
    partners = (batch.items[mixed] - own * items[mixed]) / other
    nearest = torch.cdist(partners.flatten(1), items.flatten(1)).argmin(1)
    sure = batch.weights[mixed, 1] > 0.05  # of less the partner cannot be told
    assert torch.equal(batch.labels[mixed, 1][sure], labels[nearest][sure])


def test_the_loss_of_training_is_that_of_augmented_items(digits, fitted):
    X, y = digits
    items, labels = torch.from_numpy(X[:300]), torch.from_numpy(y[:300])
    losses = []
    for strength in (0.0, 1.0):
        torch.manual_seed(0)
        training = _AugmentedTraining(fitted.objective, X, strength, None)
        with torch.inference_mode():
            losses.append(float(training.loss(fitted.module_, items, labels)))
    plain = -np.log(fitted.predict_proba(X[:300])[np.arange(300), y[:300]]).mean()
    assert losses[0] == pytest.approx(plain, rel=1e-5)
    assert losses[1] > losses[0] + 0.1


class Watched(TorchClassifier):
    """A classifier that keeps which items it was fitted to as a judge."""

    taught: ClassVar[set[bytes]] = set()

    def fit(self, X, y, *, unlabelled=None):
        if isinstance(X, torch.Tensor):  # the fit hands its judge tensors
            self.taught.update(row.numpy().tobytes() for row in X)
        return super().fit(X, y, unlabelled=unlabelled)


def test_items_are_judged_by_a_model_that_never_saw_them_and_continues_with_the_network(digits, monkeypatch):
    X, y = digits
    judged, vary = set(), Augmented._vary

    def watched(self, items, labels, strength, *, generator=None):
        if generator is not None:  # training draws from torch's own
            judged.update(row.numpy().tobytes() for row in items)
        return vary(self, items, labels, strength, generator=generator)

    monkeypatch.setattr(Augmented, "_vary", watched)
    model = Watched(SmallNet(64, 10), objective=Augmented(), epochs=10)
    for count in range(50, 151, 10):
        model.set_params(random_state=count).fit(X[:count], y[:count])
    taught = Watched.taught
    assert not taught & judged
    assert len(taught | judged) == 150
    assert abs(len(taught) - len(judged)) < 40
    cold = make(epochs=10, warm_start=False, random_state=0)
    for _ in range(2):
        cold.fit(X[:150], y[:150])
    warm, fresh = (judge.score(X[150:], y[150:]) for judge in (model.judge_, cold.judge_))
    assert warm > fresh + 0.2


def test_scoring_is_the_mean_over_the_item_and_its_copies(digits, fitted):
    X, _ = digits
    probs = fitted.scoring_proba(X)
    assert probs.dtype == np.float64
    assert np.abs(probs.sum(1) - 1).max() < 1e-12
    parts = fitted.objective._answers(fitted, lambda: fitted.predict_proba(X), fitted.scoring_strength_)
    assert len(parts) == 3
    assert np.array_equal(parts[0], fitted.predict_proba(X))
    assert all(np.abs(parts[i] - parts[j]).max() > 0.01 for i, j in ((0, 1), (0, 2), (1, 2)))
    assert np.allclose(probs, sum(parts) / 3, atol=1e-12)
    assert fitted.scoring_embed(X).shape == fitted.embed(X).shape
    assert not np.allclose(fitted.scoring_embed(X), fitted.embed(X))


def test_what_strategies_see_of_an_item_does_not_depend_on_the_others(digits, fitted):
    X, _ = digits
    some = [3, 700, 12, 1500]
    assert np.allclose(fitted.scoring_proba(X)[some], fitted.scoring_proba(X[some]), atol=1e-6)
    assert np.allclose(fitted.scoring_embed(X)[some], fitted.scoring_embed(X[some]), atol=1e-5)
    assert np.array_equal(fitted.scoring_proba(X), fitted.scoring_proba(X))
    assert fitted.scoring_proba(X[:0]).shape == (0, 10)


def test_predictions_are_not_augmented_also_after_scoring_failed(digits, fitted):
    X, _ = digits
    before = fitted.predict_proba(X)
    copy = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(InvalidInput, match="shape"):
        copy.scoring_proba(X[:, :, :4])
    with pytest.raises(RuntimeError, match="stop"):
        copy.objective._answers(copy, iter_then_stop(), 0.5)
    assert np.array_equal(copy.predict_proba(X), before)


def iter_then_stop():
    """A question that is answered once and then fails."""
    asked = []

    def ask():
        if asked:
            raise RuntimeError("stop")
        asked.append(1)
        return np.zeros(1)

    return ask


def test_without_copies_strategies_see_plain_predictions(digits):
    X, y = digits
    model = make(copies=0, epochs=2, random_state=0).fit(X[:50], y[:50])
    assert not hasattr(model, "scoring_proba")  # so that the pool is predicted once, for strategies and users
    assert not hasattr(model, "scoring_embed")
    assert model.scoring_strength_ == 0


def test_the_same_seed_gives_the_same_model_bit_for_bit(digits):
    X, y = digits
    results = []
    for disturbance in range(2):
        torch.rand(disturbance + 1)
        model = make(epochs=3, random_state=7)
        before = torch.random.get_rng_state()
        model.fit(X[:100], y[:100], unlabelled=X[100:])
        copy = pickle.loads(pickle.dumps(model))
        results.append((model.predict_proba(X), model.scoring_proba(X), copy.scoring_embed(X), model.strength_))
        assert torch.equal(torch.random.get_rng_state(), before)
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)


def test_settings_survive_cloning_and_lists_are_welcome(digits):
    X, y = digits
    model = make(operations=["crop", "flip"], strengths=[0.1, 0.2], copies=1, epochs=2)
    params = clone(model).get_params()
    assert params["objective__operations"] == ("crop", "flip")
    assert (params["objective__strengths"], params["objective__copies"]) == ((0.1, 0.2), 1)
    assert clone(model).set_params(random_state=1).fit(X[:40], y[:40]).strength_ in (0.1, 0.2)


def test_tables_are_refused_unless_only_mixed(digits):
    X, y = digits
    rows = X.reshape(-1, 64)
    with pytest.raises(InvalidInput, match=r"shape \(64,\).*operations=\['mixup'\]"):
        make().fit(rows[:50], y[:50])
    model = make(operations=["mixup"], epochs=40, random_state=0)
    model.fit(rows[:300], y[:300])
    assert model.score(rows[300:], y[300:]) > 0.7
    assert np.array_equal(model.scoring_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"operations": ["crop", "afine"]}, UnknownName, "no operation named 'afine'; did you mean 'affine'"),
        ({"operations": []}, InvalidInput, "operations is"),
        ({"operations": "crop"}, InvalidInput, "operations is 'crop'; expected a list"),
        ({"strengths": []}, InvalidInput, "strengths is"),
        ({"strengths": 0.5}, InvalidInput, "strengths is 0.5; expected a list"),
        ({"strengths": [0.5, 1.2]}, InvalidInput, "1.2; expected a number from 0"),
        ({"strengths": [0, 0.5]}, InvalidInput, "above 0"),
        ({"copies": -1}, InvalidInput, "copies is -1"),
    ],
)
def test_bad_settings_are_errors_when_they_are_given(settings, error, message):
    with pytest.raises(error, match=message):
        Augmented(**settings)


def test_an_error_leaves_the_model_as_it_was(digits):
    X, y = digits
    model = make(strengths=[0.5], epochs=2, random_state=0).fit(X[:50], y[:50])
    before = model.scoring_proba(X)
    model.set_params(objective__strengths=[0.25, 1.0])
    with pytest.raises(InvalidInput, match=r"unlabelled items have shape \(1, 4, 8\)"):
        model.fit(X[:50], y[:50], unlabelled=X[:9, :, :4])
    with pytest.raises(InvalidInput, match="unlabelled: row 3 holds NaN"):
        model.fit(X[:50], y[:50], unlabelled=np.where(np.arange(9)[:, None, None, None] == 3, np.nan, X[:9]))
    assert (model.strength_, model.scoring_strength_) == (0.5, 0.5)
    assert np.array_equal(model.scoring_proba(X), before)


def test_a_model_that_was_not_fitted_says_so(digits, fitted):
    X, _ = digits
    with pytest.raises(NotReady, match="not been fitted"):
        make().scoring_proba(X)
    plain = TorchClassifier(SmallNet(64, 10), epochs=1).fit(X[:50], np.arange(50) % 10)
    with pytest.raises(NotReady, match="strength of scoring"):
        plain.set_params(objective=Augmented()).scoring_proba(X)


class TinyConv(nn.Module):
    """A convolution with batch normalisation, which knows training from prediction."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.output = nn.Linear(54, 10)

    def forward(self, x):
        return self.output(self.body(x))


@pytest.mark.parametrize("strategy", ["badge", "cusal"])
def test_works_in_a_session_for_two_rounds(digits, strategy):
    X, y = digits
    model = TorchClassifier(TinyConv(), objective=Augmented(), epochs=5)
    picked = []
    for _ in range(2):
        session = cusal.Session(X[:400], model, strategy=strategy, labelled=dict(enumerate(y[:40])), seed=1)
        for _ in range(2):
            query = session.ask(5)
            session.tell(query.indices, y[query.indices])
            assert session.model.strength_ in STRENGTHS
            picked.append(query.indices)
        assert np.allclose(session.view.probs, session.model.scoring_proba(X[session.view.candidates]), atol=1e-6)
    assert np.array_equal(picked[:2], picked[2:])
