"""Small real runs: logistic regression on the digits, two strategies with calibration errors and one without."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.apps.bench.report import Curves
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store

Simulated = dict[tuple[str, int], list[cusal.Round]]
ROUNDS, BATCH = 4, 5


@pytest.fixture(scope="session")
def simulated() -> Simulated:
    """Four rounds of three strategies with three seeds."""
    items, labels = load_digits(return_X_y=True)
    items = items[:360] / 16
    labels = labels[:360]
    found: Simulated = {}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(items))
        train, test = order[:240], order[240:]
        warm_up = {int(np.flatnonzero(labels[train] == k)[0]): int(k) for k in range(10)}
        for strategy in ("random", "margin", "cusal"):
            session = cusal.Session(items[train], LogisticRegression(), strategy, labelled=warm_up, seed=seed)
            rounds = cusal.simulate(
                session,
                labels[train],
                rounds=ROUNDS,
                batch_size=BATCH,
                test=(items[test], labels[test]),
                measure=lambda session: {
                    "estimated_pool_error": 0.5,
                    "known_pool_error": 0.6,
                    "labelled_error": 0.3 + 0.4 * (session.round % 2),
                    "known_test_error": 0.65,
                    "bound": 0.7,
                },
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[strategy, seed] = list(rounds)
    return found


@pytest.fixture
def curves(simulated: Simulated) -> Curves:
    return Curves.of_rounds("digits", simulated)


@pytest.fixture(scope="session")
def fill() -> Callable[..., Spec]:
    """Give what writes a run of some records into a store; `failed` is the traceback of one that went wrong."""

    def write(
        store: Store,
        strategy: str,
        seed: int,
        records: list[cusal.Round],
        *,
        failed: str = "",
        experiment: str = "small",
        **settings: object,
    ) -> Spec:
        spec = Spec(
            experiment=experiment,
            label=strategy,
            dataset="digits",
            strategy=strategy.split(" ")[0],
            seed=seed,
            rounds=ROUNDS,
            batch_size=BATCH,
            warm_up=10,
            network={"name": "small_net"},
            **settings,  # type: ignore[arg-type]
        )
        store.add([spec.run])
        claim = store.claim([spec.id])
        assert claim is not None
        for record in records:
            items = [] if record.query is None else record.query.indices.tolist()
            store.write_round(claim, record, items=items, labels=["0"] * len(items), state=b"")
        if failed:
            store.fail(claim, failed)
        return spec

    return write
