import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from torch import nn

from cusal import Session
from cusal.errors import InvalidInput, NotReady
from cusal.models import Energy, TorchClassifier
from cusal.models.networks import GarmentClassifier, MnistNet, SmallNet
from cusal.models.objectives.energy import _Chains

X, Y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)
POOL = X[100:800]
NOISE = np.random.default_rng(0).uniform(size=(200, 64)).astype(np.float32)


def make(**settings):
    """A small classifier; settings that the objective has are the objective's."""
    inner = {name: settings.pop(name) for name in Energy().get_params() if name in settings}
    settings = {"epochs": 15, "batch_size": 32, "random_state": 3} | settings
    return TorchClassifier(SmallNet(64, 10), objective=Energy(**inner), **settings)


@pytest.fixture(scope="module")
def trained():
    return make(learning_rate=0.01).fit(X[:100], Y[:100], unlabelled=POOL)


def slope_of(*weights):
    """A network with the energy -weights . x - log 2, whose slope is the same everywhere."""
    layer = nn.Linear(len(weights), 2, bias=False)
    with torch.no_grad():
        layer.weight[:] = torch.tensor(weights)
    return layer


def chains_between(low, high, count=4000):
    """Chains that all stand in the middle of the range."""
    low, high = torch.tensor(low), torch.tensor(high)
    return _Chains(((low + high) / 2).repeat(count, 1), low, high)


class Lazy:
    """A pool that is read from elsewhere, and keeps how many items were asked for at once."""

    def __init__(self, items):
        self.items = items
        self.asked = []

    def __len__(self):
        return len(self.items)

    def __getitem__(self, rows):
        self.asked.append(len(rows))
        return self.items[rows]


def test_data_become_more_probable_than_noise_and_more_so_than_for_a_plain_classifier():
    def gap(model):
        return model.energy(NOISE).mean() - model.energy(X[800:]).mean()

    settings = {"epochs": 30, "learning_rate": 0.01}
    plain = make(**settings, energy_weight=0).fit(X[:100], Y[:100])
    trained = make(**settings).fit(X[:100], Y[:100], unlabelled=POOL)
    assert trained.energy(X[800:]).shape == (len(X) - 800,)
    assert gap(trained) > 0
    assert gap(trained) > gap(plain) + 1
    assert trained.score(X[800:], Y[800:]) > plain.score(X[800:], Y[800:]) - 0.05


def test_the_energy_is_minus_the_log_of_the_summed_exponentials_of_the_logits():
    model = make(epochs=1).fit(X[:100], Y[:100])
    with torch.inference_mode():
        logits = model.module_(torch.from_numpy(X[:9])).double().numpy()
    np.testing.assert_allclose(model.energy(X[:9]), -np.log(np.exp(logits).sum(1)), rtol=1e-6)
    with pytest.raises(NotReady, match="fit"):
        make().energy(X)


def test_rows_of_predictions_sum_to_one():
    probs = make().fit(X[:100], Y[:100], unlabelled=POOL).predict_proba(X)
    assert probs.shape == (len(X), 10)
    assert np.abs(probs.sum(1) - 1).max() < 1e-12


@pytest.mark.parametrize("unlabelled", [None, X[:0]])
def test_without_unlabelled_items_the_labelled_ones_serve(unlabelled):
    alone = make().fit(X[:100], Y[:100], unlabelled=unlabelled)
    named = make().fit(X[:100], Y[:100], unlabelled=X[:100])
    assert np.array_equal(alone.predict_proba(X), named.predict_proba(X))


def test_a_weight_of_zero_gives_the_plain_classifier():
    plain = TorchClassifier(SmallNet(64, 10), epochs=15, batch_size=32, random_state=3).fit(X[:100], Y[:100])
    same = make(energy_weight=0).fit(X[:100], Y[:100], unlabelled=POOL)
    assert np.array_equal(plain.predict_proba(X), same.predict_proba(X))


def test_the_same_seed_gives_the_same_model_also_when_it_was_pickled_between_two_fits():
    once = make().fit(X[:60], Y[:60], unlabelled=POOL)
    torch.rand(3)
    again = pickle.loads(pickle.dumps(make().fit(X[:60], Y[:60], unlabelled=POOL)))
    for model in (once, again):
        model.set_params(random_state=4).fit(X[:100], Y[:100], unlabelled=POOL)
    assert np.array_equal(once.predict_proba(X), again.predict_proba(X))
    assert np.array_equal(once.samples_, again.samples_)
    other = make(random_state=5).fit(X[:60], Y[:60], unlabelled=POOL)
    assert not np.array_equal(other.samples_, make().fit(X[:60], Y[:60], unlabelled=POOL).samples_)


def test_samples_continue_in_a_warm_fit_and_start_again_in_a_cold_one():
    still = {"epochs": 1, "step_size": 1e-9, "sampling_noise": 0, "restart_rate": 0}
    warm, cold = make(**still), make(**still, warm_start=False)
    for model in (warm, cold):
        model.fit(X[:100], Y[:100])
    first = warm.samples_
    for model in (warm, cold):
        model.set_params(random_state=4).fit(X[:100], Y[:100])
    np.testing.assert_allclose(warm.samples_, first, atol=1e-5)
    assert np.abs(cold.samples_ - first).mean() > 0.1


def test_samples_stay_where_items_are():
    model = make().fit(X[:100], Y[:100], unlabelled=POOL)
    assert model.samples_.dtype == np.float32
    assert np.all(model.samples_ >= X.min(0))
    assert np.all(model.samples_ <= X.max(0))
    assert model.samples_.std(0).max() > 0.1


def test_samples_of_a_fit_are_more_probable_than_what_they_began_as(trained):
    begun = np.random.default_rng(0).uniform(X[:800].min(0), X[:800].max(0), (200, 64))
    assert trained.energy(trained.samples_).mean() < trained.energy(begun).mean() - 4


def test_langevin_steps_lower_the_energy_and_more_of_them_lower_it_further(trained):
    torch.manual_seed(0)
    noise, low, high = torch.from_numpy(NOISE), torch.zeros(64), torch.ones(64)
    energies = [trained.energy(NOISE).mean()]
    for steps in (1, 3, 9):
        sampler = Energy(sampling_steps=steps, step_size=0.01, unlabelled_batch_size=len(NOISE), restart_rate=0)
        samples = sampler._sample(trained.module_, _Chains(noise.clone(), low, high))
        energies.append(trained.energy(samples).mean())
    assert np.all(np.diff(energies) < -0.05)


def test_a_langevin_step_is_the_slope_and_noise_in_units_of_the_range():
    torch.manual_seed(0)
    chains = chains_between([0.0, -10.0, 0.0], [1.0, 10.0, 2.0])
    settings = {"sampling_steps": 4, "step_size": 0.01, "sampling_noise": 0.02, "restart_rate": 0}
    start = chains.samples[0].clone()
    samples = Energy(**settings, unlabelled_batch_size=4000)._sample(slope_of(3.0, -0.1, 0.0), chains)
    moved = (samples - start) / torch.tensor([1, 20, 2])
    # By hand, in units of r: four steps of 0.01 r times the slope of -E, and the root of four times a noise of 0.02.
    np.testing.assert_allclose(moved.mean(0), [0.12, -0.08, 0], atol=0.004)
    np.testing.assert_allclose(moved.std(0), 0.04, rtol=0.05)


def test_only_the_chosen_chains_move_and_the_buffer_keeps_where_they_went():
    torch.manual_seed(0)
    chains = chains_between([0.0, 0.0], [1.0, 5.0], count=50)
    start = chains.samples.clone()
    samples = Energy(restart_rate=0)._sample(slope_of(1.0, 0.0), chains)
    gone = chains.samples[(chains.samples != start).any(1)]
    assert samples.shape == (32, 2)
    assert torch.equal(gone.sort(0).values, samples.sort(0).values)


@pytest.mark.parametrize("rate", [0, 0.25, 1])
def test_the_restart_rate_is_the_share_of_chains_that_start_again_anywhere_in_the_range(rate):
    torch.manual_seed(0)
    chains = chains_between([0.0, -10.0], [1.0, 10.0])
    start = chains.samples[0].clone()
    sampler = Energy(restart_rate=rate, sampling_noise=0, unlabelled_batch_size=4000)
    samples = sampler._sample(slope_of(0.0, 0.0), chains)
    fresh = samples[(samples != start).any(1)]
    assert len(fresh) / len(samples) == pytest.approx(rate, abs=0.03)
    if rate:  # uniform: the middle is the mean, a range over the root of 12 the deviation
        np.testing.assert_allclose((fresh.mean(0) - start) / torch.tensor([1, 20]), 0, atol=0.03)
        np.testing.assert_allclose(fresh.std(0), np.array([1, 20]) / np.sqrt(12), rtol=0.05)


def test_samples_of_a_warm_fit_move_into_its_range():
    model = make(epochs=1).fit(10 * X[:100], Y[:100])
    assert model.samples_.max() > X.max()
    model.fit(X[:100], Y[:100])
    assert np.all(model.samples_ >= X[:100].min(0))
    assert np.all(model.samples_ <= X[:100].max(0))


def test_the_penalty_bounds_energies_over_warm_fits_where_sampling_cannot_follow():
    def fitted(penalty):
        model = make(energy_penalty=penalty, energy_weight=1, step_size=0.001, learning_rate=0.01, epochs=8)
        for seed in range(3):
            model.set_params(random_state=seed).fit(X[:100], Y[:100], unlabelled=POOL)
        return model

    bounded, free = fitted(0.1), fitted(0)
    limit = 1 / (2 * 0.1)
    assert bounded.energy(POOL).mean() == pytest.approx(-limit, rel=0.2)
    assert bounded.energy(bounded.samples_).mean() == pytest.approx(limit, rel=0.2)
    assert np.abs(bounded.energy(POOL)).max() < 3 * limit
    assert np.abs(free.energy(POOL)).max() > 10 * limit
    assert np.abs(free.energy(free.samples_)).max() > 10 * limit


def test_the_pool_is_read_in_batches_and_forgotten():
    pool = Lazy(POOL)
    model = make(unlabelled_batch_size=16, buffer_size=32).fit(X[:100], Y[:100], unlabelled=pool)
    assert set(pool.asked) == {16, 32}
    assert all(value is not pool for value in vars(model).values())
    small = pickle.dumps(make(unlabelled_batch_size=16, buffer_size=32).fit(X[:100], Y[:100], unlabelled=POOL[:20]))
    assert len(pickle.dumps(model)) == len(small)


@pytest.mark.parametrize("network", [MnistNet, GarmentClassifier])
def test_the_papers_networks_train_and_keep_less_than_a_megabyte_of_samples(network):
    images = np.random.default_rng(0).normal(size=(12, 1, 28, 28))
    model = TorchClassifier(network(), objective=Energy(), epochs=2, random_state=0)
    model.fit(images, np.arange(12) % 10, unlabelled=images)
    assert np.isfinite(model.energy(images)).all()
    assert model.samples_.nbytes < 2**20


def test_samples_leave_no_trace_in_batch_normalisation_and_meet_no_dropout():
    module = nn.Sequential(nn.Linear(64, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.5), nn.Linear(20, 10))
    seen = []

    def watch(layer, inputs, output):
        seen.append((layer.training, len(output)))

    module[3].register_forward_hook(watch)
    model = TorchClassifier(module, objective=Energy(), epochs=2, batch_size=50, random_state=0).fit(
        X[:100], Y[:100], unlabelled=POOL
    )
    assert int(model.module_[1].num_batches_tracked) == 4
    assert {count for training, count in seen if training} == {50}
    assert (False, 64) in seen


def test_an_unusable_pool_is_an_error_and_leaves_the_model_as_it_was():
    model = make(epochs=1).fit(X[:100], Y[:100], unlabelled=POOL)
    before, samples = model.predict_proba(X), model.samples_.copy()
    with pytest.raises(InvalidInput, match=r"unlabelled items have shape \(3,\)"):
        model.fit(X[:100], Y[:100], unlabelled=np.zeros((5, 3)))
    with pytest.raises(InvalidInput, match="unlabelled: row 0 holds NaN"):
        model.fit(X[:100], Y[:100], unlabelled=np.full((1, 64), np.nan))
    with pytest.raises(InvalidInput, match="unlabelled: row 0 holds NaN or a number beyond float32"):
        model.fit(X[:100], Y[:100], unlabelled=np.full((1, 64), 1e300))
    with pytest.raises(InvalidInput, match="unlabelled holds <U1; expected numbers"):
        model.fit(X[:100], Y[:100], unlabelled=np.full((5, 64), "a"))
    with pytest.raises(InvalidInput, match="training diverged"):  # the samples have moved by then
        model.set_params(learning_rate=1e30).fit(X[:100], Y[:100], unlabelled=POOL)
    assert np.array_equal(model.predict_proba(X), before)
    assert np.array_equal(model.samples_, samples)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("energy_weight", -1),
        ("energy_penalty", float("nan")),
        ("unlabelled_batch_size", 0),
        ("sampling_steps", 2.5),
        ("step_size", 0),
        ("sampling_noise", "loud"),
        ("buffer_size", 0),
        ("restart_rate", 1.5),
    ],
)
def test_a_bad_setting_is_named_when_it_is_given(name, value):
    with pytest.raises(InvalidInput, match=name):
        Energy(**{name: value})


def test_a_clone_has_the_settings_but_no_weights():
    model = make(energy_weight=0.5, buffer_size=40).fit(X[:100], Y[:100])
    twin = clone(model)
    assert {name: value for name, value in twin.get_params().items() if name != "module"} == {
        name: value for name, value in model.get_params().items() if name != "module"
    }
    assert not hasattr(twin, "module_")
    assert not hasattr(twin, "samples_")


def test_a_session_trains_it_on_the_open_items():
    session = Session(
        X[:300],
        TorchClassifier(SmallNet(64, 10), objective=Energy(), epochs=5),
        "least_confidence",
        labelled={i: int(Y[i]) for i in range(30)},
        classes=range(10),
    )
    for _ in range(2):
        query = session.ask(5)
        session.tell(query.indices, Y[query.indices])
    assert session.predict_proba(X[300:]).shape == (len(X) - 300, 10)
    assert len(session.labels) == 40
    assert session.model.energy(X[:5]).shape == (5,)
