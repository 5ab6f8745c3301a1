"""What a classifier around another lets through, for each wrapper."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from cusal import Session
from cusal.models.networks import SmallNet
from cusal.models.torch_classifier import TorchClassifier
from cusal.models.uncalibrated import Uncalibrated
from cusal.recalibration.temperature_scaled import TemperatureScaled

X, Y = load_digits(return_X_y=True)
X = (X / 16 + np.random.default_rng(0).normal(scale=0.05, size=X.shape)).astype(np.float32)

WRAPPERS = [
    lambda model: TemperatureScaled(model, method="held-out", random_state=0),
    lambda model: TemperatureScaled(model, method="cross-fit", random_state=0),
    lambda model: Uncalibrated(model, random_state=0),
    lambda model: TemperatureScaled(Uncalibrated(model, random_state=0), random_state=0),
]


class Variant(GaussianNB):
    """A classifier that counts the unlabelled items and shows strategies something of its own."""

    uses_unlabelled = True

    def fit(self, X, y, unlabelled=None):
        self.unlabelled_ = None if unlabelled is None else len(unlabelled)
        return super().fit(X, y)

    def scoring_proba(self, X):
        return 0.5 * self.predict_proba(X) + 0.05

    def scoring_embed(self, X):
        return -np.asarray(X)


def innermost(model):
    while hasattr(model, "model_"):
        model = model.model_
    return model


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_unlabelled_items_reach_a_model_that_uses_them(wrap):
    model = wrap(Variant())
    assert model.uses_unlabelled
    assert innermost(model.fit(X[:200], Y[:200], unlabelled=X[200:300])).unlabelled_ == 100
    assert innermost(model.fit(X[:200], Y[:200])).unlabelled_ is None


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_model_without_use_for_them_is_fitted_without(wrap):
    model = wrap(GaussianNB())
    assert not model.uses_unlabelled
    assert model.fit(X[:200], Y[:200], unlabelled=X[200:300]).predict_proba(X[:3]).shape == (3, 10)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_scoring_is_there_only_if_the_model_has_one(wrap):
    for plain in (wrap(GaussianNB()), wrap(GaussianNB()).fit(X[:200], Y[:200])):
        assert not hasattr(plain, "scoring_proba")
        assert not hasattr(plain, "scoring_embed")
    model = wrap(Variant()).fit(X[:200], Y[:200])
    assert np.array_equal(model.scoring_embed(X[:3]), -X[:3])
    scored = model.scoring_proba(X[200:300])
    inner = innermost(model).scoring_proba(X[200:300])
    assert np.array_equal(scored.argmax(1), inner.argmax(1))
    assert not np.allclose(scored, inner)
    assert not np.allclose(scored, model.predict_proba(X[200:300]))


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_session_gives_the_open_items_and_reads_the_scoring(wrap):
    labelled = {i: int(Y[i]) for i in range(100)}
    session = Session(X[:300], wrap(Variant()), "margin", labelled=labelled, classes=range(10))
    session.ask(5)
    assert innermost(session.model).unlabelled_ == 200
    assert np.array_equal(session.view.probs, session.model.scoring_proba(X[100:300]))
    assert np.array_equal(session.view.embeddings[0], -X[100])


def seeded(model, seed: int):
    return model.set_params(**{name: seed for name in model.get_params() if name.endswith("random_state")})


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_warm_model_goes_on_with_the_seed_of_now(wrap):
    model = seeded(wrap(TorchClassifier(SmallNet(64, 10), epochs=3)), 1).fit(X[:200], Y[:200])
    before = innermost(model).score(X[200:], Y[200:])
    seeded(model, 2).fit(X[:200], Y[:200])
    assert innermost(model).score(X[200:], Y[200:]) > before
    assert innermost(model).seed_ == 2


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_cold_model_starts_anew(wrap):
    model = seeded(wrap(TorchClassifier(SmallNet(64, 10), epochs=3, warm_start=False)), 1).fit(X[:200], Y[:200])
    once = model.predict_proba(X[:5])
    assert np.array_equal(model.fit(X[:200], Y[:200]).predict_proba(X[:5]), once)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_warm_model_goes_on_with_the_settings_of_now(wrap):
    model = seeded(wrap(TorchClassifier(SmallNet(64, 10), epochs=1)), 1).fit(X[:200], Y[:200])
    deep = max((name for name in model.get_params() if name.endswith("epochs")), key=len)
    model.set_params(**{deep: 40, deep.replace("epochs", "learning_rate"): 0.01}).fit(X[:200], Y[:200])
    assert innermost(model).epochs == 40
    assert innermost(model).score(X[200:], Y[200:]) > 0.7


class Bare:
    """What cusal asks of a model, and no more."""

    def fit(self, X, y):
        self.inner = GaussianNB().fit(X, y)
        return self

    def predict_proba(self, X):
        return self.inner.predict_proba(X)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_model_needs_fit_and_predict_proba_alone(wrap):
    model = wrap(Bare()).fit(X[:200], Y[:200])
    assert model.classes_.tolist() == list(range(10))
    assert model.predict(X[200:210]).shape == (10,)
    assert wrap(Bare()).fit(X[:200], Y[:200]).score(X[200:], Y[200:]) > 0.5
