"""Agreement between people: cases worked by hand, and the example of the paper."""

import pytest
from projects import fill, label, pass_over

from cusal.apps.label.store.agreement import agreement_with_majority, cohen_kappa, krippendorff_alpha


def by_item(**people):
    """Labels by item from the rows of a table, one for each person; "." is no label."""
    columns = zip(*(row.split() for row in people.values()), strict=True)
    return [{name: int(c) for name, c in zip(people, column, strict=True) if c != "."} for column in columns]


def test_kappa_of_a_table_worked_by_hand():
    # 20 items yes-yes, 5 yes-no, 10 no-yes, 15 no-no: p_o = .7, p_e = .5 * .6 + .5 * .4 = .5, kappa = .4
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_kappa_is_one_zero_or_undefined():
    assert cohen_kappa([0, 1, 2], [0, 1, 2]) == pytest.approx(1)
    assert cohen_kappa([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0)
    assert cohen_kappa([0, 0], [0, 0]) is None
    assert cohen_kappa([], []) is None


def test_alpha_of_the_papers_two_people_without_gaps():
    # Section A of Krippendorff 2011: ten items, alpha = 1 - 19 * 8 / (2 * 14 * 6) = .095
    votes = by_item(a="0 1 0 0 0 0 0 0 1 0", b="1 1 1 0 0 1 0 0 0 0")
    assert krippendorff_alpha(votes) == pytest.approx(1 - 19 * 8 / (2 * 14 * 6))
    assert krippendorff_alpha(votes) == pytest.approx(0.095, abs=5e-4)


def test_alpha_of_the_papers_four_people_with_gaps():
    votes = by_item(  # section C
        a="1 2 3 3 2 1 4 1 2 . . .",
        b="1 2 3 3 2 2 4 1 2 5 . 3",
        c=". 3 3 3 2 3 4 2 2 5 1 .",
        d="1 2 3 3 2 4 4 1 2 5 1 .",
    )
    assert krippendorff_alpha(votes) == pytest.approx(0.743, abs=5e-4)


def test_alpha_is_undefined_for_one_class_or_nothing_in_common():
    assert krippendorff_alpha(by_item(a="1 1", b="1 1")) is None
    assert krippendorff_alpha(by_item(a="1 .", b=". 2")) is None
    assert krippendorff_alpha([]) is None


def test_agreement_with_the_majority_of_the_others():
    votes = by_item(a="1 1 1 1 2", b="1 2 2 . .", c="1 2 1 . 2", d="2 1 . . 2")
    # a: item 1 with b, c; item 2 against b, c; item 3 the others are divided, half; item 4 alone; item 5 with c, d
    assert agreement_with_majority(votes, "a") == (4, pytest.approx((1 + 0 + 0.5 + 1) / 4))


def test_the_agreement_of_a_project(project):
    fill(project)
    project.change_settings(overlap=2)
    answers = {"ann": [0, 0, 0, 0, 1, None], "bob": [0, 0, 1, 1, 1, 1]}
    for person, classes in answers.items():
        project.answers.store(
            [pass_over(i, "skip", person) if c is None else label(i, c, person) for i, c in enumerate(classes)]
        )
    found = project.answers.agreement()
    assert (found["items"], found["disagreements"]) == (5, 2)
    # p_o = 3/5, p_e = 4/5 * 2/5 + 1/5 * 3/5 = 11/25, kappa = (15 - 11) / (25 - 11)
    pair = {"people": ["ann", "bob"], "items": 5, "agreement": 0.6, "kappa": pytest.approx(4 / 14)}
    assert found["pairs"] == [pair]
    # o_00 = 4, o_11 = 2 of n = 10 labels, n_0 = 6, n_1 = 4: alpha = 1 - 9 * 4 / 48
    assert found["alpha"] == pytest.approx(1 - 9 * 4 / 48)
    assert found["people"] == {name: {"items": 5, "agreement": 0.6} for name in ("ann", "bob")}


def test_a_project_of_one_person_says_nothing_of_agreement(project):
    fill(project)
    project.answers.store([label(0, 0)])
    assert project.answers.agreement() == {"items": 0, "disagreements": 0, "alpha": None, "pairs": [], "people": {}}
