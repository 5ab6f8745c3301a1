"""Which recalibration a session uses: one choice, from counts alone, so that it is the same on every machine.

By "auto":

| model | evidence | copies fitted in a round |
|---|---|---|
| offers out-of-fold predictions itself (`out_of_fold_`) | these | none |
| continues from its last fit (`warm_start`) | past picks, discount .95 | none |
| a network, or any other whose copies are dear | past picks, discount .9 | none |
| any other | out-of-fold predictions of copies | five |

Copies are dear where their work is above `REFIT_LIMIT`:

    work = labels * columns * classes * factor

The columns of sparse items and texts are the numbers and words that a row holds. Models with a kernel count their
labels as columns, if these are more; boosted trees have the factor 30, searches and inner cross-validations 10. A
session's `refit_limit` can be set higher where nobody waits, or to 0.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from cusal import _protocol as protocol
from cusal.recalibration.out_of_sample import FOLDS

Recalibrate = Literal["auto", "vector", "prequential", "cross-fit", "held-out"]
Evidence = Literal["out-of-fold", "held-out", "past picks"]
RECALIBRATIONS = get_args(Recalibrate)
REFIT_LIMIT = 1e7  # work: a second or so in all for a logistic regression
PRIOR = 5.0  # strength of the prior around a temperature of 1, for past picks
DISCOUNT, WARM_DISCOUNT = 0.9, 0.95  # of past picks, for every round that has passed since
KERNELS = {"SVC", "NuSVC", "GaussianProcessClassifier", "PoolClassifier"}
BOOSTED, SEARCHES = ("Boost", "XGB", "LGBM"), ("SearchCV", "ClassifierCV", "RegressionCV")
BOOSTED_FACTOR, SEARCH_FACTOR = 30.0, 10.0


class Counts(NamedTuple):
    """How much there is to fit to.

    Parameters
    ----------
    labels, classes : int
        How many there are.
    columns : int
        How many numbers an item holds.

    Examples
    --------
    >>> Counts(labels=100, columns=64, classes=10)
    Counts(labels=100, columns=64, classes=10)
    """

    labels: int
    columns: int
    classes: int


@dataclass(frozen=True)
class Method:
    """How predictions are recalibrated, and what estimates of their quality rest on.

    Parameters
    ----------
    evidence : str or None
        What the scaling is fitted to: "out-of-fold", "held-out" or "past picks"; None leaves the model as it is.
    judge : str
        What estimates of accuracy and calibration error rest on: "out-of-fold" or "past picks".
    copies : int
        How many copies of the model are fitted in a round.
    checked : bool
        Whether the scaling is left out where cross-validation shows no gain.
    offsets : bool
        Whether classes get offsets, beside the temperature.
    prior : float
        Strength of the prior around a temperature of 1, in labels, of a scaling that is not checked.
    discount : float
        What a past pick counts for every round that has passed since, as a judge and for "auto".
    by_name : bool
        Whether the method was asked for by name: errors of copies are raised then.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> print(choose_method("auto", GaussianNB(), Counts(labels=100, columns=64, classes=10)))
    checked temperature from out-of-fold predictions, 5 copies a round
    """

    evidence: Evidence | None
    judge: Evidence
    copies: int = 0
    checked: bool = False
    offsets: bool = False
    prior: float = 0.0
    discount: float = 1.0
    by_name: bool = True

    def __str__(self) -> str:
        if self.evidence is None:
            return "none"
        scaling = ("checked " if self.checked else "") + ("temperature and offsets" if self.offsets else "temperature")
        source = self.evidence if self.evidence == "past picks" else f"{self.evidence} predictions"
        copies = f", {self.copies} {'copy' if self.copies == 1 else 'copies'} a round" if self.copies else ""
        discounted = self.evidence == "past picks" and not self.by_name
        return f"{scaling} from {source}{copies}" + (f", discount {self.discount:g}" if discounted else "")


def choose_method(recalibrate: Recalibrate | None, model: Any, counts: Counts, *, limit: float = REFIT_LIMIT) -> Method:
    """Return the method that a session uses in a round.

    Parameters
    ----------
    recalibrate : str or None
        As `Session` takes it.
    model : classifier
        The fitted model of the round.
    counts : Counts
        Labels, columns and classes.
    limit : float, default 1e7
        The work above which "auto" fits no copies.

    Returns
    -------
    Method
        The choice.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> warm = SGDClassifier(loss="log_loss", warm_start=True)
    >>> print(choose_method("auto", warm, Counts(labels=100, columns=64, classes=10)))
    temperature from past picks, discount 0.95
    """
    own, warm = protocol.out_of_fold(model) is not None, bool(getattr(model, "warm_start", False))
    affordable = own or (not warm and work(model, counts) <= limit)
    copies = 0 if own else FOLDS
    judge: Evidence = "out-of-fold" if affordable and not warm else "past picks"
    discount = WARM_DISCOUNT if warm else DISCOUNT
    if recalibrate == "cross-fit":
        return Method("out-of-fold", "out-of-fold", copies)
    if recalibrate == "vector":
        return Method("out-of-fold", "out-of-fold", copies, checked=True, offsets=True)
    if recalibrate == "held-out":
        return Method("held-out", judge, copies=1, discount=discount)
    if recalibrate == "prequential":
        return Method("past picks", judge, prior=PRIOR, discount=discount)
    if recalibrate is None:
        return Method(None, judge, discount=discount)
    if judge == "out-of-fold":
        return Method(judge, judge, copies, checked=True, by_name=False)
    return Method(judge, judge, checked=not warm, prior=PRIOR, discount=discount, by_name=False)


def work(model: Any, counts: Counts) -> float:
    """Return how much work a fit of the model is, as a count of numbers; infinite for networks."""
    parts = list(_parts(model))
    if any(hasattr(part, "module") or hasattr(part, "named_parameters") for part in parts):
        return math.inf
    names = [type(part).__name__ for part in parts]
    columns = max(counts.columns, counts.labels) if KERNELS.intersection(names) else counts.columns
    factor = BOOSTED_FACTOR if any(word in name for name in names for word in BOOSTED) else 1.0
    factor *= SEARCH_FACTOR if any(name.endswith(SEARCHES) for name in names) else 1.0
    return factor * counts.labels * columns * counts.classes


def _parts(model: Any) -> Any:
    """Yield a model and what it wraps: the last step of a pipeline, the model of a wrapper."""
    while model is not None:
        yield model
        steps = getattr(model, "steps", None)
        inner = [getattr(model, name, None) for name in ("model", "estimator")]
        model = steps[-1][1] if steps else next((part for part in inner if hasattr(part, "fit")), None)
