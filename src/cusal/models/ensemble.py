"""The mean of several copies of a classifier that differ by their seeds.

    p(x) = (1 / N) sum_j p_j(x)

Lakshminarayanan, Pritzel and Blundell 2017, Simple and Scalable Predictive Uncertainty Estimation using Deep
Ensembles, section 2.4: every member is trained on all labelled items, from weights and shuffles of its own.

| symbol | name |
|---|---|
| N | members |
| p_j | estimators_[j].predict_proba |

The mean of over-confident networks is less confident than they are, and not yet calibrated: a session tempers it like
any other model's.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from cusal import _protocol as protocol
from cusal._checks import as_array, as_count
from cusal._wrapper import NotFitted, Probs, Wrapper, unfitted
from cusal.errors import InvalidInput

SEEDS = 2**31 - 1  # random states of scikit-learn are below 2^32, those of a session below this


def _members_have(method: str) -> Any:
    return available_if(lambda ensemble: hasattr(ensemble.model, method))


class Ensemble(Wrapper):
    """The mean of several copies of a classifier, each trained with a seed of its own.

    Use it where a network is trained on few labels and differs from seed to seed. Training takes `members` times as
    long. Strategies see the mean too. Those that need samples, such as `bald`, see the members; those on embeddings see
    the members' side by side.

    Parameters
    ----------
    model : classifier
        Has `fit`, `predict_proba` and a `random_state`. It stays as it is: the fitted copies are `estimators_`, which
        continue from the fit before if `model` has `warm_start`.
    members : int
        Number of copies.
    random_state : int, optional
        Seeds the members, in place of the model's own random state; None draws a new seed for each fit. The first
        member is what the model alone would be with this random state.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted members.
    classes_ : array, (classes,)
        The class numbers of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from cusal.models import TorchClassifier
    >>> from cusal.models.networks import SmallNet
    >>> X, y = load_digits(return_X_y=True)
    >>> model = Ensemble(TorchClassifier(SmallNet(64, 10), epochs=5), members=3, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape, model.sample_proba(X, 3).shape
    ((1797, 10), (1797, 3, 10))
    """

    estimators_: list[Any]

    def __init__(self, model: Any, *, members: int = 2, random_state: int | None = None) -> None:
        self.model = model
        self.members = members
        self.random_state = random_state

    @property
    def model_(self) -> Any:
        """The first of the fitted members."""
        if not hasattr(self, "estimators_"):
            raise AttributeError("model_")
        return self.estimators_[0]

    def fit(self, X: Any, y: Any, unlabelled: Any = None) -> Self:
        """Fit every member to all labelled items; on an error the ensemble stays as it was.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.
        y : array-like, (n,)
            Class numbers, or labels of any kind.
        unlabelled : items, (m, ...), optional
            Further items, for a model that uses them.

        Returns
        -------
        Ensemble
            The classifier itself.

        Raises
        ------
        InvalidInput
            If `members` is no count, `random_state` no seed, or the model has no random state, so that all members
            would be equal.
        """
        seeds = self._seeds(as_count(self.members, "members"))
        fitted = [self._seeded(number, seed) for number, seed in enumerate(seeds)]
        more = {"unlabelled": unlabelled} if self.uses_unlabelled and unlabelled is not None else {}
        X, numbers, names = self._numbered(X, y)
        for member in fitted:
            member.fit(X, numbers, **more)
        self.estimators_ = fitted
        self._learn_classes(X, names)
        return self

    def predict_proba(self, X: Any) -> Probs:
        """Return the mean of the members' probabilities.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, classes)
            Its columns are `classes_`.
        """
        return _mean([member.predict_proba(X) for member in self._all()])

    def embed(self, X: Any) -> NDArray[Any]:
        """Return the embeddings of all members side by side.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, members x width)
            One row for each item; items that are their own embedding are there once.
        """
        return self._joined("embed", X)

    def sample_proba(self, X: Any, n: int) -> Probs:
        """Return the members' probabilities as samples; an ensemble of one returns the samples of its member.

        Parameters
        ----------
        X : items, (rows, ...)
            As the model takes them.
        n : int
            Number of samples wanted; at most as many as there are members are returned.

        Returns
        -------
        array, (rows, samples, classes)
            Its last axis is `classes_`.
        """
        members = self._all()[: as_count(n, "n")]
        if len(self._all()) == 1:
            return super().sample_proba(X, n)
        return np.stack([as_array(member.predict_proba(X)) for member in members], axis=1).astype(np.float64)

    @_members_have("scoring_proba")
    def scoring_proba(self, X: Any) -> Probs:
        """Return the mean of what strategies see of the members' probabilities.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, classes)
            Its columns are `classes_`.
        """
        return _mean([member.scoring_proba(X) for member in self._all()])

    @_members_have("scoring_embed")
    def scoring_embed(self, X: Any) -> NDArray[Any]:
        """Return what strategies see of the members' embeddings, side by side.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, members x width)
            One row for each item.
        """
        return self._joined("scoring_embed", X)

    def _changed(self, probs: Any, X: Any) -> Probs:
        return np.asarray(probs, dtype=np.float64)

    def _joined(self, method: str, X: Any) -> NDArray[Any]:
        if not hasattr(self.model, method):  # the items are their own embedding, for every member the same
            return protocol.embed(self._all()[0], X)
        return np.concatenate([as_array(getattr(member, method)(X)) for member in self._all()], axis=1)

    def _all(self) -> list[Any]:
        if not hasattr(self, "estimators_"):
            raise NotFitted("the model has not been fitted; call fit(X, y) first.")
        return self.estimators_

    def _seeds(self, count: int) -> list[int]:
        """Return the random state of each member; the first is the ensemble's own."""
        given = np.random.default_rng().integers(SEEDS) if self.random_state is None else self.random_state
        first = as_count(given, "random_state", least=0)
        return [first, *(int(np.random.default_rng([first, number]).integers(SEEDS)) for number in range(1, count))]

    def _seeded(self, number: int, seed: int) -> Any:
        """Return what is to be fitted as this member: a new copy, or where it starts warm the member so far."""
        before = getattr(self, "estimators_", ())[number : number + 1] if self.warm_start else ()
        member = protocol.with_settings(before[0], self.model) if before else unfitted(self.model)
        names = _random_states(member)
        if not names and self.members > 1:
            raise InvalidInput(
                f"{type(self.model).__name__} has no random_state, so that all {self.members} members would be equal; "
                "give a model that has one, or use the model by itself."
            )
        if hasattr(member, "set_params"):
            return member.set_params(**dict.fromkeys(names, seed))
        for name in names:
            setattr(member, name, seed)
        return member


def _random_states(model: Any) -> list[str]:
    """Return the names of all random states of a model, also of models inside it."""
    if hasattr(model, "get_params"):
        return [name for name in model.get_params(deep=True) if name.split("__")[-1] == "random_state"]
    return ["random_state"] if hasattr(model, "random_state") else []


def _mean(answers: list[Any]) -> Probs:
    return np.asarray(np.mean([as_array(one) for one in answers], axis=0, dtype=np.float64))
