"""Auditing predictions: the order, the estimates and their intervals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cusal import Audit
from cusal.audit.confidence_sequence import anytime_interval
from cusal.audit.shares import PartShare, Quantity, Sample, deviations, spread
from cusal.errors import InvalidInput, NotReady, PoolExhausted


def predictions(count=2000, seed=0, honesty=0.95):
    """Return confidences, and whether each prediction is right."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(5, 1, count)
    return confidence, rng.random(count) < honesty * confidence


def audited(checks, count=2000, seed=0):
    confidence, right = predictions(count, seed)
    audit = Audit(predicted=np.zeros(count, dtype=int), confidence=confidence, seed=seed)
    items = audit.ask(checks)
    audit.tell(items, right=right[items])
    return audit, right


def wilson(wrong, checks, size, z):
    """Return Wilson's interval with the finite-population correction, by its formula."""
    z2, share = z**2 * (1 - checks / size), wrong / checks
    centre = (share + z2 / (2 * checks)) / (1 + z2 / checks)
    half = np.sqrt(z2) / (1 + z2 / checks) * np.sqrt(share * (1 - share) / checks + z2 / (4 * checks**2))
    return centre - half, centre + half


@given(st.integers(40, 200), st.integers(8, 32), st.integers(200, 5000))
@settings(deadline=None, max_examples=60)
def test_with_equal_weights_it_is_wilsons_interval(checks, wrong, size):
    events = np.array([1.0] * wrong + [0.0] * (checks - wrong))
    found = spread(Sample(events, np.full(checks, checks / size), size))
    share, left, z = wrong / checks, 1 - checks / size, deviations(0.95)
    assert found.share == pytest.approx(share, abs=1e-12)
    assert found.up == pytest.approx(left / checks, abs=1e-12)
    assert found.variance == pytest.approx(left * share * (1 - share) / (checks - 1), abs=1e-12)
    as_his = replace(found, variance=found.variance * (checks - 1) / checks)
    assert as_his.interval(z) == pytest.approx(wilson(wrong, checks, size, z), abs=1e-9)


@given(st.integers(20, 200), st.integers(0, 20), st.integers(200, 5000), st.sampled_from([0.8, 0.95, 0.99]))
@settings(deadline=None, max_examples=60)
def test_a_function_of_one_share_has_its_interval(checks, wrong, size, level):
    events = np.array([1.0] * wrong + [0.0] * (checks - wrong))
    found = spread(Sample(events, np.full(checks, checks / size), size))
    part, z = PartShare(found, found), deviations(level)
    assert Quantity((part,), lambda at: at[0]).interval(z) == pytest.approx(found.interval(z), abs=1e-12)
    low, high = found.interval(z)
    assert Quantity((part,), lambda at: 1 - at[0]).interval(z) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.integers(50, 400), st.integers(50, 400), st.floats(0.2, 0.8), st.floats(0.2, 0.8))
@settings(deadline=None, max_examples=60)
def test_a_difference_of_shares_has_newcombes_interval(checks, others, share, other):
    parts = []
    for count, at in ((checks, share), (others, other)):
        events = (np.arange(count) < round(at * count)).astype(float)
        found = spread(Sample(events, np.full(count, 1e-6), 10**9))
        parts.append(PartShare(found, found))
    z = deviations(0.95)
    ends = [part.interval(z) for part in parts]
    at = [part.share for part in parts]
    low = at[0] - at[1] - np.hypot(at[0] - ends[0][0], ends[1][1] - at[1])
    high = at[0] - at[1] + np.hypot(ends[0][1] - at[0], at[1] - ends[1][0])
    found = Quantity(tuple(parts), lambda at: at[0] - at[1]).interval(z)
    assert found == pytest.approx((low, high), abs=0.02 * (high - low))


def test_no_check_says_nothing_and_all_checks_say_all():
    assert spread(Sample(np.empty(0), np.empty(0), 10)).interval(1.96) == (0, 1)
    found = spread(Sample(np.array([1.0, 0.0, 1.0, 1.0]), np.full(4, 0.5), 4))
    assert (found.share, *found.interval(1.96)) == (0.75, 0.75, 0.75)


def test_the_order_is_nested_and_does_not_depend_on_answers():
    confidence, right = predictions()
    plain = Audit(predicted=np.zeros(2000, dtype=int), confidence=confidence, seed=3)
    whole = plain.ask(500)
    audit = Audit(predicted=np.zeros(2000, dtype=int), confidence=confidence, seed=3)
    met = []
    for count in (1, 7, 92, 400):
        items = audit.ask(count)
        audit.tell(items, right=right[items] if count % 2 else ~right[items])
        met.append(items)
    assert np.array_equal(np.concatenate(met), whole)


def test_the_order_of_rows_plays_no_part_when_items_have_ids():
    confidence, right = predictions(300)
    names = np.array([f"item {i}" for i in range(300)])
    shuffle = np.random.default_rng(5).permutation(300)
    first = Audit(predicted=np.zeros(300, dtype=int), confidence=confidence, ids=names, seed=1)
    other = Audit(predicted=np.zeros(300, dtype=int), confidence=confidence[shuffle], ids=names[shuffle], seed=1)
    here, there = first.ask(60), other.ask(60)
    assert names[here].tolist() == names[shuffle][there].tolist()
    first.tell(here, right=right[here])
    other.tell(there, right=right[shuffle][there])
    ends = [(share.estimate, share.low, share.high) for share in (first.accuracy(), other.accuracy())]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_the_interval_covers_about_as_often_as_it_says():
    covered = []
    for seed in range(200):
        audit, right = audited(100, seed=seed)
        share = audit.accuracy()
        covered.append(share.low <= right.mean() <= share.high)
    assert 0.9 <= np.mean(covered) <= 0.99


def test_doubtful_items_come_earlier_as_far_as_the_confidence_is_trusted():
    confidence, _ = predictions(20_000)
    means = []
    for trust in (0, 0.1, 0.5):
        items = Audit(predicted=np.zeros(20_000, dtype=int), confidence=confidence, trust=trust).ask(2000)
        means.append(confidence[items].mean())
        assert (confidence[items] > np.quantile(confidence, 0.9)).mean() > 0.04
    assert means[0] == pytest.approx(confidence.mean(), abs=0.005)
    assert means[0] > means[1] > means[2] + 0.01
    with pytest.raises(InvalidInput, match="trust is 2"):
        Audit(predicted=["a"], trust=2)


def test_everything_checked_is_exact_and_has_no_width():
    audit, right = audited(50, count=50)
    for share in (audit.accuracy(), audit.accuracy(anytime=True)):
        assert (share.estimate, share.low, share.high) == pytest.approx((right.mean(),) * 3, abs=1e-9)
    with pytest.raises(PoolExhausted):
        audit.ask(1)


@pytest.mark.parametrize("flag", [True, False])
def test_all_right_or_all_wrong_still_has_a_width(flag):
    audit = Audit(predicted=["a"] * 500, confidence=np.linspace(0.3, 1, 500))
    items = audit.ask(40)
    audit.tell(items, right=[flag] * 40)
    share = audit.accuracy()
    assert share.estimate == pytest.approx(float(flag), abs=1e-9)
    assert 0.02 < share.high - share.low < 0.2
    assert audit.calibrated().shape == (500,)
    assert len(audit.hunt(10)) == 10


def test_one_item_and_equal_confidences_and_missing_ones_work():
    one = Audit(predicted=["a"], confidence=[0.7])
    one.tell(one.ask(1), ["a"])
    assert one.accuracy().estimate == 1
    for confidence in (np.full(100, 0.8), np.full(100, np.nan), None, np.r_[np.full(50, np.nan), np.ones(50)]):
        audit = Audit(predicted=np.arange(100) % 3, confidence=confidence)
        items = audit.ask(30)
        assert len(set(items.tolist())) == 30
        audit.tell(items, right=items % 4 > 0)
        assert audit.accuracy().low < 0.75 < audit.accuracy().high


def test_a_thousand_classes_and_probabilities_from_a_mapped_file(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "probs.npy", rng.dirichlet(np.full(1000, 0.01), size=400).astype(np.float32))
    audit = Audit(np.load(tmp_path / "probs.npy", mmap_mode="r"))
    items = audit.ask(100)
    audit.tell(items, audit.predicted[items])
    assert audit.accuracy().estimate == 1
    assert all(one.share is None for one in audit.by_class() if one.checks < min(5, one.items))
    with pytest.raises(NotReady, match="F1 needs 10"):
        audit.macro_f1()


def test_an_item_that_nobody_can_judge_widens_the_interval_to_both_sides():
    audit, _ = audited(100)
    before = audit.accuracy()
    audit.skip(audit.ask(10))
    after = audit.accuracy()
    assert after.low < before.low
    assert after.high > before.high


def test_looking_again_and_again_needs_the_anytime_interval():
    often, always = [], []
    for seed in range(30):
        confidence, right = predictions(500, seed)
        audit = Audit(predicted=np.zeros(500, dtype=int), confidence=confidence, seed=seed)
        fixed_held = anytime_held = True
        for _ in range(15):
            items = audit.ask(10)
            audit.tell(items, right=right[items])
            share, wide = audit.accuracy(), audit.accuracy(anytime=True)
            fixed_held &= share.low <= right.mean() <= share.high
            anytime_held &= wide.low <= right.mean() <= wide.high
        often.append(fixed_held)
        always.append(anytime_held)
    assert np.mean(always) >= 0.9
    assert np.mean(often) < np.mean(always)


def test_the_anytime_interval_never_leaves_what_is_certain():
    low, high = anytime_interval(np.array([1.0, 0.0, 1.0]), np.arange(3), np.ones(10), np.full(10, 0.2), 0.95)
    assert 0.2 - 1e-9 <= low < high <= 0.9 + 1e-9


def test_slices_by_class_and_by_mask():
    confidence, right = predictions(3000)
    predicted = np.where(np.arange(3000) % 3 == 0, "cat", "dog")
    audit = Audit(predicted=predicted, confidence=confidence)
    items = audit.ask(400)
    audit.tell(items, right=right[items])
    for one in audit.by_class():
        inside = predicted == one.name
        assert one.items == inside.sum()
        assert one.share.low < right[inside].mean() < one.share.high
    share = audit.accuracy(confidence < 0.7)
    assert share.low < right[confidence < 0.7].mean() < share.high
    unchecked = np.isin(np.arange(3000), items, invert=True)
    with pytest.raises(NotReady, match="5 are needed"):
        audit.accuracy(unchecked)


def test_macro_f1_is_exact_when_all_is_checked_and_covers_before():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    covered = []
    for seed in range(40):
        probs = rng.dirichlet(np.full(4, 0.5), size=1500)
        truth = (probs.cumsum(1) < rng.random((1500, 1))).sum(1)
        audit = Audit(probs, seed=seed)
        items = audit.ask(300)
        audit.tell(items, truth[items])
        share = audit.macro_f1()
        covered.append(share.low <= f1_score(truth, probs.argmax(1), average="macro") <= share.high)
    assert np.mean(covered) >= 0.85
    audit.tell(np.arange(1500), truth)
    assert audit.macro_f1().estimate == pytest.approx(f1_score(truth, probs.argmax(1), average="macro"))


def test_the_number_of_checks_needed_is_about_right():
    audit, right = audited(200, count=20_000)
    wanted = audit.needed(0.02)
    assert wanted.low < wanted.checks < wanted.high
    _, right = predictions(20_000)
    more = audit.ask(wanted.checks - 200)
    audit.tell(more, right=right[more])
    share = audit.accuracy()
    assert 0.014 < (share.high - share.low) / 2 < 0.026


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either probs"),
        ({"predicted": ["a"], "confidence": [1.5]}, "row 0 is 1.5"),
        ({"predicted": ["a", "b"], "confidence": [0.5]}, "expected \\(2,\\)"),
        ({"predicted": ["a"], "confidence": ["x"]}, "expected numbers"),
        ({"predicted": []}, "there are no predictions"),
        ({"predicted": ["a", "b"], "ids": ["one"]}, "1 names for 2 items"),
        ({"probs": [[0.5, 0.5]], "classes": ["a"]}, "one name for each column"),
    ],
)
def test_bad_predictions_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Audit(**arguments)


def test_bad_answers_are_refused_and_change_nothing():
    audit = Audit(predicted=["a", "b", "a"], confidence=[0.5, 0.6, 0.7])
    for bad in ({"labels": ["a"]}, {"right": [True]}, {}, {"labels": ["a", "b"], "right": [True, True]}):
        with pytest.raises(InvalidInput):
            audit.tell([0, 1], **bad)
    with pytest.raises(InvalidInput):
        audit.tell([5], ["a"])
    assert audit.checks == 0
    with pytest.raises(NotReady):
        audit.accuracy()
    with pytest.raises(InvalidInput, match="such as 0\\.95"):
        audit.accuracy(level=95)
