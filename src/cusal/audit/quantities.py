"""What is asked of an audit, as functions of shares: accuracy, recall, precision, rates, kappa, F1 and more.

For a judge, or for one class against the rest, with P the known share of items that are called so,
a the share truly of the class among those called otherwise, b the share not of it among those called so:

    tp = P (1 - b)      fp = P b      fn = (1 - P) a      tn = (1 - P) (1 - a)      and the textbook formulas

For all classes, with e the share of errors, P_k the called shares and h(l) = 1 - P_l:

    kappa = 1 - e / (mean h(called) + e f),   f = weighted mean of h(true) - h(called) over the errors met, 0 without

For ordered labels, with costs c(k, l) = (k - l)^2 / range^2 and h(l) = sum_k P_k c(k, l), kappa is the k at which the
mean of c - (1 - k) (h(true) - h(called)) is (1 - k) mean h(called); its interval is that of this one mean.

Macro-F1, by linearisation: T_k are the right predictions of class k and C_k the items truly of it, both with the
weights w_i = 1 / pi_i, scaled to sum to N; P_k, the predictions of class k, is known (Sarndal, Swensson and Wretman
1992, chapter 5). One error that was not met is added to V: where almost all is right, the sample alone looks too
certain.

    F_k = 2 T_k / (P_k + C_k),  macro-F1 = mean_k F_k
    z_i = sum_k (2 [predicted k and right] - F_k [truly k]) / (P_k + C_k) / K     V = sum v_i (z_i - z)^2 (n / (n - 1))
"""

from collections.abc import Callable, Hashable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.audit.checks import Checks, Mask
from cusal.audit.estimates import Share
from cusal.audit.shares import PartShare, Quantity, deviations
from cusal.errors import InvalidInput, NotReady, UnknownName

LEAST = 10  # checks of each class, below which nothing is said of macro-F1
Metric = Callable[[float, float, float, float], float]  # of tp, fp, fn, tn: shares of all items


def _ratio(part: float, whole: float, nothing: float) -> float:
    return part / whole if whole > 1e-12 else nothing


def _kappa(tp: float, fp: float, fn: float, tn: float) -> float:
    called, true = tp + fp, tp + fn
    by_luck = called * true + (1 - called) * (1 - true)
    return _ratio(tp + tn - by_luck, 1 - by_luck, 0.0)


def _correlation(tp: float, fp: float, fn: float, tn: float) -> float:
    return _ratio(tp * tn - fp * fn, sqrt(max(0.0, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))), 0.0)


# Where nothing is of the class, a share of it may be anything: the middle stands for it.
METRICS: dict[str, Metric] = {
    "accuracy": lambda tp, fp, fn, tn: tp + tn,
    "recall": lambda tp, fp, fn, tn: _ratio(tp, tp + fn, 0.5),
    "specificity": lambda tp, fp, fn, tn: _ratio(tn, tn + fp, 0.5),
    "precision": lambda tp, fp, fn, tn: _ratio(tp, tp + fp, 0.5),
    "rate": lambda tp, fp, fn, tn: tp + fn,
    "kappa": _kappa,
    "f1": lambda tp, fp, fn, tn: _ratio(2 * tp, 2 * tp + fp + fn, 0.5),
    "mcc": _correlation,
}
ORDERED = ("weighted_kappa", "mean_error", "within_one")
NAMES = (*METRICS, *ORDERED)


def quantity(checks: Checks, of: str, cls: Hashable | None = None) -> Quantity:
    """Return a quantity by its name: of one class against the rest where `cls` is given, or of all classes."""
    if of not in NAMES:
        raise UnknownName("quantity", of, NAMES)
    if of in ORDERED:
        return ordered(checks, of)
    if of == "accuracy" and cls is None:
        return accuracy(checks)
    names = checks.claims.names
    if of == "kappa" and cls is None and (len(names) != 2 or _others(checks)):
        return kappa(checks, lambda true, called: float(true != called))
    if cls is None and of in ("kappa", "mcc") and len(names) == 2:
        cls = names[1]
    if cls is None:
        raise InvalidInput(f"{of} is of one class; name it: {', '.join(str(name) for name in names[:5])}.")
    return of_class(checks, METRICS[of], cls, precision=of == "precision")


def accuracy(checks: Checks, inside: Mask | None = None) -> Quantity:
    """Return the share of right predictions among items."""
    return Quantity((checks.wrong_share(inside),), lambda at: 1 - at[0])


def of_class(checks: Checks, metric: Metric, cls: Hashable, *, precision: bool = False) -> Quantity:
    """Return a quantity of one class against the rest."""
    called = called_so(checks, cls)
    parts = class_shares(checks, cls, called)
    return Quantity(parts[1:], lambda at: 1 - at[0]) if precision else of_shares(parts, float(called.mean()), metric)


def class_shares(checks: Checks, cls: Hashable, called: Mask) -> tuple[PartShare, PartShare]:
    """Return the share of a class among the items called otherwise, and of the rest among those called so."""
    _check_begun(checks)

    def holds(so: bool) -> Callable[[Indices], list[float | None]]:
        return lambda items: [None if one is None else float(one == so) for one in is_class(checks, items, cls)]

    return checks.part(checks.events(holds(True)), ~called), checks.part(checks.events(holds(False)), called)


def of_shares(parts: tuple[PartShare, PartShare], called: float, metric: Metric) -> Quantity:
    """Return a metric of one class as a function of the two shares; `called` is the share of items called so."""

    def formula(at: Sequence[float]) -> float:
        a, b = at
        return metric(called * (1 - b), called * b, (1 - called) * a, (1 - called) * (1 - a))

    return Quantity(parts, formula)


def called_so(checks: Checks, cls: Hashable) -> Mask:
    """Return which items are predicted to be of a class, (N,)."""
    names = checks.claims.names
    known = {*names, *checks.answers.true.values()}
    if cls not in known:
        raise UnknownName("class", str(cls), sorted(map(str, known)))
    called: Mask = checks.claims.predicted == (names.index(cls) if cls in names else -1)
    return called


def is_class(checks: Checks, items: Indices, cls: Hashable) -> list[bool | None]:
    """Return whether answered items are truly of a class, None where that is not known."""
    found: list[bool | None] = []
    for item, true in zip(items.tolist(), checks.answers.true_names(items.tolist()), strict=True):
        wrong = checks.answers.right[item] is False
        if true is None:
            found.append(False if wrong and checks.answers.predicted_name(item) == cls else None)
        else:
            found.append(true == cls)
    return found


def kappa(checks: Checks, cost: Callable[[Hashable, Hashable], float]) -> Quantity:
    """Return kappa of all classes, where calling one class another has a cost from 0 to 1."""
    _check_begun(checks)
    claims, answers = checks.claims, checks.answers
    counts = np.bincount(claims.predicted, minlength=len(claims.names)) / len(claims)
    names = dict.fromkeys([*claims.names, *answers.true.values()])
    expected = {one: sum(p * cost(one, k) for p, k in zip(counts, claims.names, strict=True)) for one in names}

    def costs(items: Indices) -> list[float | None]:
        _check_named(checks, items)
        found = answers.true_names(items.tolist())
        called = [answers.predicted_name(item) for item in items.tolist()]
        return [None if true is None else cost(true, one) for true, one in zip(found, called, strict=True)]

    error = checks.part(checks.events(costs))
    items = checks.prefix
    weights, true = 1 / checks.chances(items), answers.true_names(items.tolist())
    moved, met = 0.0, 0.0
    for weight, item, one in zip(weights.tolist(), items.tolist(), true, strict=True):
        if one is not None:
            called = answers.predicted_name(item)
            moved += weight * (expected[one] - expected[called])
            met += weight * cost(one, called)
    base, slope = float(counts @ [expected[name] for name in claims.names]), _ratio(moved, met, 0.0)
    return Quantity((error,), lambda at: 1 - _ratio(at[0], base + at[0] * slope, float(at[0] > 0)))


def ordered(checks: Checks, of: str, power: int = 2) -> Quantity:
    """Return a quantity of labels with an order, such as verdicts from 1 to 5."""
    _check_begun(checks)
    _check_named(checks, checks.prefix)
    values = {name: _number(name) for name in dict.fromkeys([*checks.claims.names, *checks.answers.true.values()])}
    if of == "within_one":
        part = checks.part(
            checks.events(_of_labels(checks, lambda true, called: float(abs(values[true] - values[called]) > 1)))
        )
        return Quantity((part,), lambda at: 1 - at[0])
    if of == "mean_error":
        return _mean(checks, lambda true, called: abs(values[true] - values[called]), 1.0)
    width = max(values.values()) - min(values.values()) or 1.0

    def cost(true: Hashable, called: Hashable) -> float:
        return float((abs(values[true] - values[called]) / width) ** power)

    counts = np.bincount(checks.claims.predicted, minlength=len(checks.claims.names)) / len(checks.claims)
    expected = {
        true: sum(p * cost(true, called) for p, called in zip(counts, checks.claims.names, strict=True))
        for true in values
    }
    base = float(counts @ [expected[name] for name in checks.claims.names])
    shift = _mean(checks, lambda true, called: expected[true] - expected[called], _cost_of_step(width, power)).estimate
    error = _mean(checks, cost, _cost_of_step(width, power)).estimate
    by_luck = base + shift
    at = 1 - _ratio(error, by_luck, float(error > 0))
    # Where kappa is k, the mean of cost - (1 - k) shift is (1 - k) base: one mean, though both parts are uncertain.
    line = _mean(
        checks,
        lambda true, called: cost(true, called) - (1 - at) * (expected[true] - expected[called]),
        _cost_of_step(width, power),
    )
    middle = line.estimate
    return Quantity(line.shares, lambda share: at - _ratio(line.formula(share) - middle, by_luck, 0.0))


def _cost_of_step(width: float, power: int) -> float:
    """Return what the smallest error of labels one apart costs."""
    return float((1 / width) ** power)


def _of_labels(checks: Checks, value: Callable[[Hashable, Hashable], float]) -> Callable[[Indices], list[float | None]]:
    """Return the event that is a number made of the true and the predicted label of an item."""

    def holds(items: Indices) -> list[float | None]:
        true = checks.answers.true_names(items.tolist())
        called = [checks.answers.predicted_name(item) for item in items.tolist()]
        return [None if one is None else value(one, name) for one, name in zip(true, called, strict=True)]

    return holds


def _mean(checks: Checks, value: Callable[[Hashable, Hashable], float], least: float) -> Quantity:
    """Return the mean of a number made of the true and the predicted label, as a share of the largest one met.

    The score interval is made for events of 0 or 1: of numbers far below 1 it would be shifted.
    """
    holds = _of_labels(checks, value)
    met = [one for one in holds(np.union1d(checks.prefix, checks.hunted())) if one is not None]
    low, high = min([0.0, *met]), max([least, *met])

    def scaled(items: Indices) -> list[float | None]:
        return [None if one is None else (one - low) / (high - low) for one in holds(items)]

    return Quantity((checks.part(checks.events(scaled)),), lambda at: low + (high - low) * at[0])


def confusion(checks: Checks, most: int = 6) -> dict[tuple[Hashable, Hashable], Share]:
    """Return the share of all items that are called one class and truly are another, for each pair of classes.

    Nothing comes back where there are more than `most` classes, or where true labels are not known.
    """
    names = list(dict.fromkeys([*checks.claims.names, *checks.answers.true.values()]))
    try:
        _check_named(checks, checks.prefix)
    except NotReady:
        return {}
    if len(names) > most:
        return {}
    found = {}
    for called in checks.claims.names:
        inside = called_so(checks, called)
        share = float(inside.mean())
        for true in names if share else ():

            def holds(items: Indices, true: Hashable = true) -> list[float | None]:
                return [None if one is None else float(one) for one in is_class(checks, items, true)]

            part = checks.part(checks.events(holds), inside)
            low, high = part.interval(deviations(0.95))
            found[called, true] = Share(part.share * share, low * share, high * share, part.checks)
    return found


def beyond_commonest(tp: float, fp: float, fn: float, tn: float) -> float:
    """Return the accuracy minus that of a judge that always names the commoner verdict."""
    return tp + tn - max(tp + fn, fp + tn)


def true_shares(checks: Checks, cls: Hashable | None = None) -> dict[Hashable, float]:
    """Return the estimated true share of every class, or of one and its opposite."""
    claims, items = checks.claims, checks.prefix
    names = list(dict.fromkeys([*claims.names, *checks.answers.true.values()]))
    if cls is not None or len(names) == 2:
        one = names[-1] if cls is None else cls
        other = next(name for name in names if name != one) if len(names) == 2 else f"not {one}"
        rate = of_class(checks, METRICS["rate"], one).estimate
        return {one: rate, other: 1 - rate}
    called = np.bincount(claims.predicted, minlength=len(claims.names)) / len(claims)
    shares: dict[Hashable, float] = dict(zip(claims.names, called.tolist(), strict=True))
    weights = 1 / checks.chances(items)
    weights /= weights.sum()
    true = checks.answers.true_names(items.tolist())
    for weight, item, name in zip(weights.tolist(), items.tolist(), true, strict=True):
        if name is not None:  # what was called so, moved by the errors met
            shares[name] = shares.get(name, 0.0) + weight
            shares[checks.answers.predicted_name(item)] -= weight
    return shares


def _others(checks: Checks) -> bool:
    """Return whether a true class was met that is never predicted."""
    return not set(checks.claims.names) >= set(checks.answers.true.values())


def _number(name: Hashable) -> float:
    try:
        return float(str(name))
    except ValueError:
        raise InvalidInput(
            f"the label {name!r} is no number; ordered verdicts are numbers, such as 1 to 5. Read kappa() instead."
        ) from None


def _check_begun(checks: Checks) -> None:
    if len(checks.prefix) == 0:
        checks.wrong_share()  # raises the error that says what to do


def _check_named(checks: Checks, items: Indices) -> None:
    """Raise an error if an item is known to be wrong, but not what it is."""
    true = checks.answers.true_names(items.tolist())
    for item, name in zip(items.tolist(), true, strict=True):
        if name is None and checks.answers.right[item] is False:
            raise NotReady(f"item {item} was checked without its true label; tell labels, not right=, for this.")


def macro_f1(checks: Checks, level: float) -> Share:
    """Return the mean F1 over the classes, with its interval."""
    claims, prefix = checks.claims, checks.prefix
    _check_begun(checks)
    _check_named(checks, prefix)
    if any(checks.answers.right[item] is None for item in prefix.tolist()):
        raise NotReady("somebody could not tell about an item; macro-F1 needs all of them. Read accuracy().")
    number = {name: i for i, name in enumerate(claims.names)}
    names = checks.answers.true_names(prefix.tolist())
    true = np.array([number.get(name, len(number)) for name in names], dtype=np.int64)
    counts = np.bincount(claims.predicted, minlength=len(number) + 1)
    met = np.bincount(true, minlength=len(number) + 1)
    least = int(met[(counts > 0) | (met > 0)].min())
    if least < LEAST:
        raise NotReady(f"a class has {least} checks; F1 needs {LEAST} of each. Check more, or read accuracy().")
    mean, deviation = _linearised(claims.predicted[prefix], true, checks.chances(prefix), counts)
    z = deviations(level)
    return Share(mean, max(0.0, mean - z * deviation), min(1.0, mean + z * deviation), len(prefix), level)


def _linearised(predicted: Indices, true: Indices, chances: Floats, counts: Indices) -> tuple[float, float]:
    """Return macro-F1 and its standard deviation; `counts` are the predictions of each class, (K,)."""
    weights = 1 / chances
    scale = counts.sum() / weights.sum()
    right = predicted == true
    hits = scale * np.bincount(true[right], weights[right], minlength=len(counts))
    actual = scale * np.bincount(true, weights, minlength=len(counts))
    there = (counts + actual) > 0
    total = np.where(there, counts + actual, 1.0)
    f1: NDArray[np.float64] = 2 * hits / total
    share = np.where(right, 2 / total[true], 0) - f1[true] / total[true]
    variances = (1 - chances) * weights**2
    centred = share - (weights @ share) / weights.sum()
    count = len(weights)
    # As in the score interval of accuracy, one more error is allowed for, where the weight is largest.
    unseen = float(variances.max() * (2 / total[there]).mean() ** 2)
    deviation = sqrt(float(variances @ centred**2) * count / max(1, count - 1) + unseen) / there.sum()
    return float(f1[there].mean()), deviation


def difference_of_parts(parts: Sequence[PartShare], sizes: Floats, metric: Metric) -> Quantity:
    """Return a metric of judge A minus that of judge B.

    parts : the share truly of the class where (A, B) said (no, no), (no, yes), (yes, no), (yes, yes). sizes : (4,) the
    shares of all items where they said so.
    """

    def formula(at: Sequence[float]) -> float:
        true = [size * share for size, share in zip(sizes, at, strict=True)]
        other = [size - share for size, share in zip(sizes, true, strict=True)]
        first = metric(true[2] + true[3], other[2] + other[3], true[0] + true[1], other[0] + other[1])
        second = metric(true[1] + true[3], other[1] + other[3], true[0] + true[2], other[0] + other[2])
        return first - second

    return Quantity(tuple(parts), formula)
