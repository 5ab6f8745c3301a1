"""Two judges on the same items: which is better, from few checks."""

import numpy as np
import pytest
from sklearn import metrics

from cusal import Comparison
from cusal.errors import InvalidInput, NotReady, PoolExhausted, UnknownName

OF = {
    "accuracy": metrics.accuracy_score,
    "recall": metrics.recall_score,
    "precision": metrics.precision_score,
    "kappa": metrics.cohen_kappa_score,
    "f1": metrics.f1_score,
}


def judges(errs=(0.1, 0.2), count=3000, seed=0):
    rng = np.random.default_rng(seed)
    truth = (rng.random(count) < 0.4).astype(int)
    return truth, [np.where(rng.random(count) < err, 1 - truth, truth) for err in errs]


@pytest.mark.parametrize("of", OF)
def test_differences_are_sklearns_when_all_is_checked_and_hold_before(of):
    truth, (first, second) = judges()
    cls = None if of == "accuracy" else 1
    true = OF[of](truth, first) - OF[of](truth, second)
    covered = []
    for seed in range(60):
        both = Comparison(new=first, old=second, seed=seed)
        items = both.ask(120)
        both.tell(items, truth[items])
        found = both.difference(of, cls)
        covered.append(found.low <= true <= found.high)
    assert np.mean(covered) >= 0.9
    both.tell(np.arange(3000), truth)
    found = both.difference(of, cls)
    assert (found.estimate, found.low, found.high) == pytest.approx((true, true, true), abs=1e-9)


def test_half_of_the_checks_are_where_they_disagree_and_names_give_the_order():
    _, (first, second) = judges((0.05, 0.05))
    names = [f"item {i}" for i in range(3000)]
    both = Comparison(a=first, b=second, ids=names)
    items = both.ask(300)
    assert 0.35 < both.disputed[items].mean() < 0.65
    assert both.disputed.mean() < 0.12
    shuffle = np.random.default_rng(1).permutation(3000)
    other = Comparison(a=first[shuffle], b=second[shuffle], ids=[names[i] for i in shuffle])
    assert shuffle[other.ask(20)].tolist() == items[:20].tolist()


def test_a_better_judge_is_found_with_few_checks_and_equal_ones_stay_open():
    truth, (good, bad) = judges((0.05, 0.15))
    both = Comparison(good=good, bad=bad)
    items = both.ask(100)
    both.tell(items, truth[items])
    assert both.difference().low > 0
    assert both.difference(between=("bad", "good")).high < 0
    assert "good is better" in str(both)
    same = Comparison(a=good, b=good)
    same.tell(same.ask(10), truth[same.ask(10)])
    assert (same.difference().low, same.difference().high) == (0, 0)


def test_three_judges_are_compared_in_pairs_that_hold_together():
    truth, three = judges((0.1, 0.1, 0.1))
    held = []
    for seed in range(60):
        both = Comparison({"a": three[0], "b": three[1], "c": three[2]}, seed=seed)
        items = both.ask(100)
        both.tell(items, truth[items])
        found = both.differences()
        rights = {name: (one == truth).mean() for name, one in zip("abc", three, strict=True)}
        held.append(all(f.low <= rights[x] - rights[y] <= f.high for (x, y), f in found.items()))
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert found["a", "b"].level == pytest.approx(1 - 0.05 / 3)
    assert np.mean(held) >= 0.93


def test_unknown_answers_widen_and_a_rate_is_known_without_any_check():
    truth, (first, second) = judges()
    both = Comparison(a=first, b=second)
    with pytest.raises(NotReady, match="no item was checked"):
        both.difference()
    items = both.ask(100)
    both.tell(items, truth[items])
    before = both.difference()
    both.skip(both.ask(20))
    after = both.difference()
    assert after.low < before.low
    assert after.high > before.high
    rate = both.difference("rate", 1)
    assert rate.low == rate.high == pytest.approx(first.mean() - second.mean())


def test_judges_that_do_not_fit_are_refused():
    truth, (first, second) = judges(count=50)
    for arguments, message in (
        ({"a": first}, "1 judges were given"),
        ({"a": first, "b": second[:9]}, "one verdict for each item"),
        ({"a": [], "b": []}, "no verdicts"),
        ({"a": first, "b": second, "ids": ["x"]}, "1 names for 50"),
    ):
        with pytest.raises(InvalidInput, match=message):
            Comparison(**arguments)
    both = Comparison(a=first, b=second)
    both.tell(np.arange(50), truth)
    with pytest.raises(UnknownName):
        both.difference("luck")
    with pytest.raises(UnknownName):
        both.difference("recall", "perhaps")
    with pytest.raises(InvalidInput, match="name it"):
        both.difference("recall")
    with pytest.raises(UnknownName, match="judge"):
        both.difference(between=("a", "z"))
    with pytest.raises(PoolExhausted):
        both.ask(1)
