"""Whether a judge may be trusted: recall, precision, rates, kappa and ordered verdicts, with intervals that hold."""

import numpy as np
import pytest
from sklearn import metrics

from cusal import Audit
from cusal.audit.messages import judged as judged_in_words
from cusal.errors import InvalidInput, NotReady, UnknownName


def verdicts(count=3000, seed=0, kinds=("fail", "pass")):
    """Return verdicts of a judge that errs more often on what should fail, its confidence, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(kinds, size=count, p=[0.3] + [0.7 / (len(kinds) - 1)] * (len(kinds) - 1))
    confidence = rng.beta(6, 1, count)
    errs = rng.random(count) > confidence + np.where(truth == "fail", -0.05, 0.05)
    return np.where(errs, rng.choice(kinds, size=count), truth), confidence, truth


def judged(checks, seed=0, kinds=("fail", "pass"), **options):
    predicted, confidence, truth = verdicts(kinds=kinds)
    audit = Audit(predicted=predicted, confidence=confidence, seed=seed, **options)
    items = audit.ask(checks)
    audit.tell(items, truth[items])
    return audit, predicted, truth


BY_SKLEARN = {
    "accuracy": metrics.accuracy_score,
    "recall": lambda t, p: metrics.recall_score(t == "pass", p == "pass"),
    "specificity": lambda t, p: metrics.recall_score(t != "pass", p != "pass"),
    "precision": lambda t, p: metrics.precision_score(t == "pass", p == "pass"),
    "rate": lambda t, p: (t == "pass").mean(),
    "f1": lambda t, p: metrics.f1_score(t == "pass", p == "pass"),
    "kappa": lambda t, p: metrics.cohen_kappa_score(t == "pass", p == "pass"),
    "mcc": lambda t, p: metrics.matthews_corrcoef(t == "pass", p == "pass"),
}


@pytest.mark.parametrize("of", BY_SKLEARN)
def test_when_all_is_checked_every_figure_is_sklearns_and_has_no_width(of):
    audit, predicted, truth = judged(3000)
    share = audit.estimate(of, None if of == "accuracy" else "pass")
    assert share.estimate == pytest.approx(BY_SKLEARN[of](truth, predicted))
    assert share.low == pytest.approx(share.high)


@pytest.mark.parametrize("of", BY_SKLEARN)
def test_intervals_hold_about_as_often_as_they_say(of):
    covered = []
    for seed in range(100):
        audit, predicted, truth = judged(120, seed)
        share = audit.estimate(of, None if of == "accuracy" else "pass")
        covered.append(share.low <= BY_SKLEARN[of](truth, predicted) <= share.high)
    assert np.mean(covered) >= 0.9


def test_kappa_of_many_classes_is_sklearns_and_its_interval_holds():
    kinds = ("fail", "pass", "unclear", "other")
    covered = []
    for seed in range(60):
        audit, predicted, truth = judged(150, seed, kinds)
        kappa = audit.kappa()
        covered.append(kappa.low <= metrics.cohen_kappa_score(truth, predicted) <= kappa.high)
    assert np.mean(covered) >= 0.88
    audit, predicted, truth = judged(3000, 0, kinds)
    assert audit.kappa().estimate == pytest.approx(metrics.cohen_kappa_score(truth, predicted))
    assert audit.kappa().base_rate == pytest.approx(np.unique(truth, return_counts=True)[1].max() / 3000)


def test_of_two_classes_wrong_says_which_is_right():
    predicted, confidence, truth = verdicts()
    by_name = Audit(predicted=predicted, confidence=confidence)
    by_flag = Audit(predicted=predicted, confidence=confidence)
    items = by_name.ask(200)
    by_name.tell(items, truth[items])
    by_flag.tell(items, right=truth[items] == predicted[items])
    assert by_name.judge("pass") == by_flag.judge("pass")
    assert by_name.kappa() == by_flag.kappa()


def test_the_table_says_what_the_single_questions_say_and_prints():
    audit, predicted, _ = judged(200)
    table = audit.judge("pass")
    assert table.recall == audit.recall("pass")
    assert table.precision == audit.precision("pass")
    assert table.rate == audit.rate("pass")
    assert table.kappa.estimate == audit.kappa().estimate
    assert table.called == pytest.approx((predicted == "pass").mean())
    printed = str(table)
    assert "truly pass (true rate)" in printed
    assert f"{table.recall.estimate * 100:.1f} %" in printed
    assert "Always saying pass would agree in" in printed


def test_a_judge_that_always_says_the_same_has_no_agreement_beyond_luck():
    truth = np.array(["pass"] * 900 + ["fail"] * 100)
    audit = Audit(predicted=["pass"] * 1000)
    items = audit.ask(200)
    audit.tell(items, truth[items])
    assert audit.kappa().estimate == pytest.approx(0, abs=1e-9)
    assert audit.kappa().base_rate == pytest.approx(0.9, abs=0.06)
    rare = audit.recall("fail")
    assert (rare.estimate, rare.high) == (0, 0)  # whatever is truly fail, this judge never says so


def test_unknown_answers_widen_every_interval_to_both_sides():
    audit, _, _ = judged(150)
    before = audit.judge("pass")
    audit.skip(audit.ask(15))
    after = audit.judge("pass")
    for (name, one), (_, other) in zip(before.rows(), after.rows(), strict=True):
        assert other.low < one.low, name
        assert other.high > one.high, name


def test_an_interval_that_says_little_says_why():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(20_000) < 0.01, "leak", "fine")
    predicted = np.where((truth == "leak") & (rng.random(20_000) < 0.6), "leak", "fine")
    audit = Audit(predicted=predicted)
    items = audit.ask(100)
    audit.tell(items, truth[items])
    share = audit.recall("leak")
    assert share.high - share.low > 0.5
    assert "of the 100 checks" in share.remark
    assert "Known instead: rate" in share.remark
    assert str(share).endswith(share.remark)


def test_an_order_that_seeks_a_rare_class_finds_more_of_it_and_stays_honest():
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(5000) < 0.04, "leak", "fine")
    predicted = np.where((truth == "leak") & (rng.random(5000) < 0.6), "leak", "fine")
    missed = (truth == "leak") & (predicted == "fine")
    confidence = np.where(missed, rng.beta(2, 4, 5000), rng.beta(12, 1, 5000))
    recall = ((predicted == "leak") & (truth == "leak")).sum() / (truth == "leak").sum()
    widths, covered = {None: [], "leak": []}, []
    for seed in range(40):
        for order, found in widths.items():
            audit = Audit(predicted=predicted, confidence=confidence, seed=seed)
            items = audit.ask(300, order=order)
            audit.tell(items, truth[items])
            share = audit.recall("leak")
            found.append(share.high - share.low)
            covered.append(share.low <= recall <= share.high)
            assert audit.ask(5, order=order).tolist() == audit.ask(5).tolist()
    assert np.mean(widths["leak"]) < 0.9 * np.mean(widths[None])
    assert np.mean(covered) >= 0.9
    with pytest.raises(InvalidInput, match="checked in another one"):
        audit.ask(5, order="fine")


def test_a_change_between_two_audits_has_an_interval_that_holds():
    covered = []
    for seed in range(60):
        audits, rates = [], []
        for month, errs in enumerate((0.1, 0.2)):
            rng = np.random.default_rng([seed, month])
            truth = rng.integers(2, size=2000)
            predicted = np.where(rng.random(2000) < errs, 1 - truth, truth)
            audit = Audit(predicted=predicted, seed=seed)
            items = audit.ask(100)
            audit.tell(items, truth[items])
            audits.append(audit)
            rates.append((predicted == truth).mean())
        found = audits[1].change(audits[0])
        covered.append(found.low <= rates[1] - rates[0] <= found.high)
    assert np.mean(covered) >= 0.9
    assert audits[1].change(audits[1]).estimate == 0


def test_ordered_verdicts_are_sklearns_when_all_is_checked_and_hold_before():
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, size=2000)
    predicted = np.clip(truth + rng.choice([-2, -1, 0, 0, 0, 1], size=2000), 1, 5)
    true = {
        "weighted_kappa": metrics.cohen_kappa_score(truth, predicted, weights="quadratic"),
        "mean_error": np.abs(truth - predicted).mean(),
        "within_one": (np.abs(truth - predicted) <= 1).mean(),
    }
    audit = Audit(predicted=predicted)
    audit.tell(np.arange(2000), truth)
    for name, value in true.items():
        assert audit.estimate(name).estimate == pytest.approx(value)
    covered = {name: [] for name in true}
    for seed in range(60):
        audit = Audit(predicted=predicted, seed=seed)
        items = audit.ask(100)
        audit.tell(items, truth[items])
        for name, value in true.items():
            share = audit.estimate(name)
            covered[name].append(share.low <= value <= share.high)
    assert min(np.mean(found) for found in covered.values()) >= 0.88
    assert audit.mean_error() == audit.estimate("mean_error")
    assert audit.weighted_kappa().estimate > audit.kappa().estimate


def test_whole_groups_are_checked_and_their_likeness_is_allowed_for():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 6)
    right = rng.random(300)[groups] < 0.8  # all items of a group are alike
    held, naive = [], []
    for seed in range(60):
        audit = Audit(predicted=np.zeros(1800, dtype=int), groups=groups, seed=seed)
        items = audit.ask(120)
        assert len(np.unique(groups[items])) == 20
        audit.tell(items, right=right[items])
        share = audit.accuracy()
        held.append(share.low <= right.mean() <= share.high)
        alone = Audit(predicted=np.zeros(1800, dtype=int), seed=seed)
        alone.tell(alone.ask(120), right=right[items])  # as if they had been drawn one by one
        share = alone.accuracy()
        naive.append(share.low <= right.mean() <= share.high)
    assert np.mean(held) >= 0.88
    assert np.mean(naive) < 0.8
    audit.tell(audit.ask(3), right=[True] * 3)  # half a group is not counted yet
    assert len(audit.checked_in_order) == 120


def test_needed_foresees_the_checks_of_any_quantity():
    audit, _, truth = judged(200)
    wanted = audit.needed(0.05, of="recall", cls="fail")
    assert 200 < wanted.checks < 3000
    more = audit.ask(wanted.checks - 200)
    audit.tell(more, truth[more])
    share = audit.recall("fail")
    assert 0.03 < (share.high - share.low) / 2 < 0.08


def test_a_saved_judge_continues_in_its_own_order(tmp_path):
    predicted, confidence, truth = verdicts(600)
    for options in ({"trust": 0.5}, {"trust": 0}, {"groups": np.arange(600) // 3}):
        audit = Audit(predicted=predicted, confidence=confidence, seed=4, **options)
        items = audit.ask(60, order=None if "groups" in options else "fail")
        audit.tell(items, truth[items])
        audit.save(tmp_path / "judge.audit")
        again = Audit.load(tmp_path / "judge.audit")
        assert again.ask(50).tolist() == audit.ask(50).tolist()
        assert again.judge("pass") == audit.judge("pass")
        assert again.trust == audit.trust


def test_questions_that_have_no_answer_are_refused():
    audit, _, _ = judged(50)
    with pytest.raises(UnknownName, match="did you mean 'recall'"):
        audit.estimate("recal", "pass")
    with pytest.raises(UnknownName):
        audit.recall("perhaps")
    with pytest.raises(InvalidInput, match="recall is of one class"):
        audit.estimate("recall")
    with pytest.raises(InvalidInput, match="is no number"):
        audit.mean_error()
    with pytest.raises(NotReady):
        Audit(predicted=["pass", "fail"]).recall("pass")
    three = Audit(predicted=["a", "b", "c"])
    three.tell([0, 1, 2], right=[True, True, False])
    with pytest.raises(NotReady, match="without its true label"):
        three.kappa()
    with pytest.raises(InvalidInput, match="groups has 1"):
        Audit(predicted=["a", "b"], groups=["x"])


def test_the_accuracy_of_several_verdicts_is_one_figure():
    rng = np.random.default_rng(0)
    truth = rng.choice(["fail", "pass", "unsure"], 900)
    predicted = np.where(rng.random(900) < 0.4, rng.permutation(truth), truth)
    audit = Audit(predicted=predicted)
    items = audit.ask(200)
    audit.tell(items, truth[items])
    table = audit.judge("pass")
    assert table.accuracy == audit.accuracy() == audit.estimate("accuracy")
    assert table.gain.estimate > table.accuracy.estimate - table.kappa.base_rate + 0.05
    assert "In telling pass from all others it is surely better than always saying not pass" in judged_in_words(table)


def test_the_precision_of_what_nothing_is_called_is_undefined():
    audit = Audit(predicted=["pass"] * 100 + ["fail"] * 100)
    items = audit.ask(50)
    audit.tell(items, ["leak" if item < 20 else "fail" for item in items])
    found = audit.precision("leak")
    assert np.isnan(found.estimate)
    assert (found.low, found.high) == (0, 1)
    assert str(found) == "undefined. Nothing is called leak, so that its precision is undefined."
    table = audit.judge("leak")
    assert "(precision) undefined" in " ".join(str(table).split())
    assert "It calls nothing leak;" in judged_in_words(table)
    assert audit.precision("pass").estimate < 0.2
