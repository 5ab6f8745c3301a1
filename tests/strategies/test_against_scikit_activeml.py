"""The same digits, the same models, the same picks as scikit-activeml's."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from cusal import strategies
from cusal._spread import nearest_centre, row_squares
from cusal.strategies._information import JointInformation
from cusal.strategies._view import View
from cusal.strategies.badge import FactorisedGradients, residuals
from cusal.strategies.batch_bald import BatchBald

pytestmark = pytest.mark.peer

LABELLED = 60


class Digits:
    """Digits with few labels, as both libraries want them: one array with all items, NaN where a label is missing."""

    def __init__(self, size: int = 400) -> None:
        from skactiveml.classifier import SklearnClassifier

        images, labels = load_digits(return_X_y=True)
        self.items = PCA(20, random_state=0).fit_transform(images[:size] / 16)  # no two at equal distances
        self.labels = np.where(np.arange(size) < LABELLED, labels[:size], np.nan).astype(float)
        self.committee = [
            SklearnClassifier(LogisticRegression(C=strength), classes=range(10)).fit(self.items, self.labels)
            for strength in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
        ]
        self.model = self.committee[3]

    def view(self) -> View:
        pool, known = self.items[LABELLED:], self.items[:LABELLED]
        members = [member.predict_proba(pool) for member in self.committee]
        return View.of_arrays(
            np.arange(LABELLED, len(self.items)),
            np.random.default_rng(0),
            probs=self.model.predict_proba(pool),
            reference=(self.model.predict_proba(known), self.labels[:LABELLED].astype(np.int64)),
            embeddings=pool,
            reference_embeddings=known,
            sampled_probs=np.stack(members, axis=1),
        )


@pytest.fixture(scope="module")
def digits() -> Digits:
    pytest.importorskip("skactiveml")
    return Digits()


@pytest.mark.parametrize(
    ("name", "method"),
    [("margin", "margin_sampling"), ("entropy", "entropy"), ("least_confidence", "least_confident")],
)
def test_uncertainty_gives_the_same_utilities_and_picks(digits: Digits, name: str, method: str) -> None:
    from skactiveml.pool import UncertaintySampling

    theirs, utilities = UncertaintySampling(method=method, random_state=0).query(
        digits.items, digits.labels, clf=digits.model, fit_clf=False, batch_size=20, return_utilities=True
    )
    strategy, view = strategies.find(name)(), digits.view()
    np.testing.assert_array_equal(strategy.select(view, 20), theirs)
    ours = strategy.keys(view)
    expected = utilities[0, LABELLED:]
    np.testing.assert_allclose(ours - ours.max(), expected - expected.max(), atol=1e-10)


def test_bald_gives_the_same_utilities_and_picks(digits: Digits) -> None:
    from skactiveml.pool import GreedyBALD

    theirs, utilities = GreedyBALD(random_state=0).query(
        digits.items,
        digits.labels,
        ensemble=digits.committee,
        fit_ensemble=False,
        batch_size=20,
        return_utilities=True,
    )
    strategy, view = strategies.find("bald")(samples=6), digits.view()
    np.testing.assert_array_equal(strategy.select(view, 20), theirs)
    # they raise probabilities to at least 1e-7
    np.testing.assert_allclose(strategy.keys(view), utilities[0, LABELLED:], atol=1e-5)


def test_batch_bald_gives_the_same_utilities_and_picks_while_both_are_exact(digits: Digits) -> None:
    from skactiveml.pool import BatchBALD

    theirs, utilities = BatchBALD(n_MC_samples=1000, random_state=0).query(
        digits.items,
        digits.labels,
        ensemble=digits.committee,
        fit_ensemble=False,
        batch_size=4,
        return_utilities=True,
    )
    view = digits.view()
    ours = BatchBald(samples=6, configurations=1000, candidates=400).select(view, 4)
    np.testing.assert_array_equal(ours, theirs)
    joint = JointInformation(view.sampled_probs(6), 1000, np.random.default_rng(0))
    for step, pick in enumerate(theirs):
        expected = utilities[step, LABELLED:]
        known = ~np.isnan(expected)  # theirs has none for what is chosen already
        np.testing.assert_allclose(joint.of_each()[known], expected[known], atol=1e-5)
        joint.add(int(pick) - LABELLED)


def test_coreset_gives_the_same_distances_and_picks(digits: Digits) -> None:
    from skactiveml.pool import CoreSet

    theirs, utilities = CoreSet(random_state=0).query(digits.items, digits.labels, batch_size=40, return_utilities=True)
    strategy, view = strategies.find("coreset")(), digits.view()
    np.testing.assert_array_equal(strategy.select(view, 40), theirs)
    nearest = nearest_centre(view.embeddings, row_squares(view.embeddings), view.reference_embeddings)
    np.testing.assert_allclose(np.sqrt(nearest), utilities[0, LABELLED:], rtol=1e-6)


def test_badge_draws_from_the_same_distribution_at_every_step(digits: Digits) -> None:
    from skactiveml.pool import Badge

    theirs, utilities = Badge(random_state=0).query(
        digits.items, digits.labels, clf=digits.model, fit_clf=False, batch_size=15, return_utilities=True
    )
    view = digits.view()
    assert strategies.find("badge")().select(view, 1)[0] == theirs[0]
    gradients = FactorisedGradients(residuals(view.probs), view.embeddings)
    # theirs counts the origin as a centre that was chosen before the first; Alg. 1 of Ash et al. and ours do not
    nearest = gradients.squares
    for step in range(1, 15):
        nearest = np.minimum(nearest, gradients.distances(int(theirs[step - 1]) - LABELLED))
        expected = np.nan_to_num(utilities[step, LABELLED:])  # theirs has none for what is chosen already
        np.testing.assert_allclose(nearest / nearest.sum(), expected, atol=1e-12)


def test_badge_draws_as_often_as_its_distances_say(digits: Digits) -> None:
    view, strategy = digits.view(), strategies.find("badge")()
    first = int(strategy.select(view, 1)[0]) - LABELLED
    distances = FactorisedGradients(residuals(view.probs), view.embeddings).distances(first)
    seconds = [int(strategy.select(view, 2)[1]) - LABELLED for _ in range(4000)]
    found = np.bincount(seconds, minlength=len(distances)) / 4000
    # total variation of 4000 draws from 340 items is about 0.11; a wrong power of the distance gives 0.2 and more
    assert np.abs(found - distances / distances.sum()).sum() / 2 < 0.15
