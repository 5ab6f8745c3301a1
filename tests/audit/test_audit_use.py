"""Auditing predictions: hunting for errors, calibrated confidence, guarantees, and saved audits."""

import numpy as np
import pytest

from cusal import Audit
from cusal.audit.simultaneous_intervals import by_class_together
from cusal.errors import CusalError, DataError
from cusal.metrics import ece


def overconfident(count=4000, seed=0):
    """Return confidences that claim too much, and whether each prediction is right."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.5, 1, count)
    return confidence, rng.random(count) < (confidence - 0.5) * 1.1 + 0.35


def audit_of(confidence, seed=0):
    return Audit(predicted=np.zeros(len(confidence), dtype=int), confidence=confidence, seed=seed)


def check(audit, items, right):
    audit.tell(items, right=right[items])


def test_hunted_items_are_wrong_more_often_than_others():
    confidence, right = overconfident()
    audit = audit_of(confidence)
    check(audit, audit.ask(200), right)
    suspects = audit.hunt(100)
    assert (~right[suspects.indices]).mean() > (~right).mean() + 0.15
    assert suspects.chances.mean() == pytest.approx((~right[suspects.indices]).mean(), abs=0.15)
    assert not set(suspects.indices.tolist()) & set(audit.answers)


def test_hunting_does_not_bias_the_estimate():
    covered, naive = [], []
    for seed in range(100):
        confidence, right = overconfident(1500, seed)
        audit = audit_of(confidence, seed)
        check(audit, audit.ask(100), right)
        for _ in range(3):
            check(audit, audit.hunt(40).indices, right)
        check(audit, audit.ask(50), right)
        share = audit.accuracy()
        covered.append(share.low <= right.mean() <= share.high)
        naive.append(np.mean(list(audit.answers.values())) - right.mean())
    assert np.mean(covered) >= 0.9
    assert np.mean(naive) < -0.05


def test_classes_of_which_most_checks_were_hunted_have_no_estimate():
    confidence, right = overconfident(400)
    audit = Audit(predicted=np.arange(400) % 40, confidence=confidence)
    check(audit, audit.ask(150), right)
    for _ in range(4):
        check(audit, audit.hunt(40).indices, right)
    assert {one.share is None for one in audit.by_class()} == {True, False}
    audit.accept(0.2)


def test_calibrated_confidence_is_closer_to_the_truth():
    confidence, right = overconfident()
    audit = audit_of(confidence)
    check(audit, audit.ask(300), right)
    chance = audit.calibrated()
    before = ece(np.column_stack([1 - confidence, confidence]), right.astype(int))
    after = ece(np.column_stack([1 - chance, chance]), right.astype(int))
    assert after < before / 2


def test_confidence_that_is_calibrated_already_is_left_alone():
    rng = np.random.default_rng(4)
    confidence = rng.uniform(0.5, 1, 4000)
    right = rng.random(4000) < confidence
    audit = audit_of(confidence)
    check(audit, audit.ask(200), right)
    assert np.array_equal(audit.calibrated(), confidence)


def test_a_guarantee_names_the_checks_that_are_missing_and_then_holds():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, 5000)
    right = rng.random(5000) < np.where(confidence > 0.75, 0.999, 0.7)
    audit = audit_of(confidence)
    assert "149" in audit.guarantee(0.98).reason
    for _ in range(12):
        missing = audit.guarantee(0.98, count=50).missing
        check(audit, missing, right)
    kept = audit.guarantee(0.98)
    assert 500 < len(kept) < 3000
    assert right[kept.indices].mean() >= 0.98
    assert confidence[kept.indices].min() == kept.threshold


def test_guarantees_are_broken_no_more_often_than_they_say():
    broken, kept = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        confidence = rng.uniform(0.5, 1, 3000)
        right = rng.random(3000) < 0.9 + 0.2 * (confidence - 0.5)
        audit = audit_of(confidence, seed)
        check(audit, audit.guarantee(0.95, count=150).missing, right)
        found = audit.guarantee(0.95)
        kept.append(len(found))
        broken.append(len(found) > 0 and right[found.indices].mean() < 0.95)
    assert max(kept) > 0
    assert np.mean(broken) <= 0.08


def test_accepting_the_most_confident_leaves_few_wrong():
    broken, kept = [], []
    for seed in range(100):
        confidence, right = overconfident(2000, seed)
        audit = audit_of(confidence, seed)
        check(audit, audit.ask(200), right)
        found = audit.accept(0.05)
        kept.append(len(found))
        broken.append((~right[found.indices]).sum() > 0.05 * 2000)
    assert np.mean(kept) > 100
    assert np.mean(broken) <= 0.1


def test_nothing_is_accepted_before_anything_is_checked():
    found = audit_of(np.linspace(0.5, 1, 100)).accept(0.05)
    assert len(found) == 0
    assert len(found.missing) == 100


def test_a_saved_audit_continues_in_the_same_order(tmp_path):
    confidence, right = overconfident(1000)
    audit = Audit(predicted=np.where(right, "spam", "ham"), confidence=confidence, seed=9)
    audit.tell(audit.ask(50), right=right[audit.ask(50)])
    audit.tell(audit.hunt(10).indices, ["spam"] * 10)
    audit.skip(audit.ask(2))
    audit.save(tmp_path / "audit.cusal")
    again = Audit.load(tmp_path / "audit.cusal")
    assert again.answers == audit.answers
    assert again.accuracy() == audit.accuracy()
    assert np.array_equal(again.ask(30), audit.ask(30))
    assert np.array_equal(again.hunt(5).indices, audit.hunt(5).indices)


def test_a_damaged_audit_is_refused(tmp_path):
    path = tmp_path / "audit.cusal"
    audit = audit_of(np.linspace(0.5, 1, 200))
    audit.tell(audit.ask(20), right=np.ones(20, dtype=bool))
    audit.save(path)
    whole = path.read_bytes()
    with pytest.raises(DataError, match="no file"):
        Audit.load(tmp_path / "other")
    rng = np.random.default_rng(0)
    for _ in range(40):
        place = int(rng.integers(len(whole)))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :])
        try:
            Audit.load(path)
        except CusalError:
            continue
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        Audit.load(path)


def test_an_audit_travels_as_bytes():
    confidence, right = overconfident(500)
    audit = audit_of(confidence, seed=3)
    check(audit, audit.ask(40), right)
    again = Audit.from_bytes(audit.to_bytes())
    assert again.accuracy() == audit.accuracy()
    assert again.ask(10).tolist() == audit.ask(10).tolist()
    with pytest.raises(DataError, match="cannot be read"):
        Audit.from_bytes(b"PK\x05\x06" + bytes(18))


def test_of_many_equal_classes_hardly_ever_one_is_called_worse_than_the_rest():
    alone, together = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        predicted, right = rng.integers(40, size=2000), rng.random(2000) < 0.7
        audit = Audit(predicted=predicted, seed=seed)
        check(audit, audit.ask(400), right)
        whole = audit.accuracy().estimate
        for found, classes in ((alone, audit.by_class()), (together, by_class_together(audit))):
            found.append(any(one.share.high < whole for one in classes if one.share is not None))
    assert np.mean(alone) > 0.5
    assert np.mean(together) < 0.2


def test_an_interval_of_a_part_knows_how_few_of_its_items_were_checked():
    rng = np.random.default_rng(0)
    predicted, right = rng.integers(30, size=3000), rng.random(3000) < 0.6
    widths = {}
    for seed in range(20):
        audit = Audit(predicted=predicted, seed=seed)
        check(audit, audit.ask(300), right)
        for one in audit.by_class():
            if one.share is not None:
                widths.setdefault(one.checks, []).append(one.share.high - one.share.low)
    few, many = (np.mean([w for n, ws in widths.items() if n in ns for w in ws]) for ns in (range(5, 8), range(14, 30)))
    assert few > 1.3 * many


def test_a_part_of_which_all_is_checked_is_known_exactly():
    confidence, right = overconfident(400)
    audit = audit_of(confidence)
    items = audit.ask(100)
    check(audit, items, right)
    where = np.zeros(400, dtype=bool)
    where[items[:20]] = True
    share = audit.accuracy(where)
    assert (share.estimate, share.low, share.high) == pytest.approx((right[items[:20]].mean(),) * 3)


def test_the_intervals_of_classes_hold_together_and_are_wider_for_it():
    confidence, right = overconfident(1000)
    audit = Audit(predicted=np.arange(1000) % 8, confidence=confidence)
    check(audit, audit.ask(200), right)
    shares = [one.share for one in by_class_together(audit)]
    assert {share.level for share in shares} == {1 - 0.05 / 8}
    alone = [one.share for one in audit.by_class()]
    assert all(wide.low <= one.low and one.high <= wide.high for wide, one in zip(shares, alone, strict=True))
