"""How far people agree who labelled the same items.

    kappa = (p_o - p_e) / (1 - p_e)             Cohen 1960, "A coefficient of agreement for nominal scales", eq. 1
    p_o   = share of the items with the same label by both,  p_e = sum_c share_a(c) share_b(c)

    alpha = 1 - D_o / D_e                       Krippendorff 2011, "Computing Krippendorff's alpha-reliability", sec. C
    D_o   = sum_{c != k} o_ck / n,              D_e = sum_{c != k} n_c n_k / (n (n - 1))
    o_ck  = sum_u (ordered pairs of labels c, k of item u) / (m_u - 1)

symbol   name       meaning
u        item       an item with two labels or more; others say nothing about agreement
m_u      len(votes) the number of its labels
o_ck     matched    the coincidence matrix; only its diagonal is needed, since the rest is n less its sum
n_c, n   counts     labels of class c, and of any class, on items with two or more

Both are 1 where all agree and 0 where they agree as often as labels drawn at random would. They are None where every
label is of one class: then nothing can be told from agreeing.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store.schema import ANSWERS, LABELS

Votes = Mapping[str, int]  # the class that each person gave to one item


def agreement_of(connection: sa.Connection) -> dict[str, Any]:
    """Return how far people agree, as `Answers.agreement` says."""
    several = sa.select(ANSWERS.c.item).where(ANSWERS.c.kind == "label")
    several = several.group_by(ANSWERS.c.item).having(sa.func.count() > 1)
    query = sa.select(ANSWERS.c.item, ANSWERS.c.person, ANSWERS.c["class"])
    query = query.where(ANSWERS.c.kind == "label", ANSWERS.c.item.in_(several))
    disputed = sa.select(sa.func.count()).select_from(LABELS).where(LABELS.c.disagree)
    votes: dict[int, dict[str, int]] = defaultdict(dict)
    for item, person, class_id in connection.execute(query):
        votes[item][person] = class_id
    disagreements = connection.scalar(disputed)
    given = list(votes.values())
    people = sorted({person for one in given for person in one})
    return {
        "items": len(given),
        "disagreements": disagreements,
        "alpha": krippendorff_alpha(given),
        "pairs": [_pair(given, first, second) for first, second in _pairs(given)],
        "people": {person: _with_the_others(given, person) for person in people},
    }


def cohen_kappa(first: list[int], second: list[int]) -> float | None:
    """Return Cohen's kappa of the labels that two people gave to the same items, or None where it is not defined."""
    items = len(first)
    if not items:
        return None
    equal = sum(a == b for a, b in zip(first, second, strict=True)) / items
    counts, others = Counter(first), Counter(second)
    expected = sum(counts[c] * others[c] for c in counts) / items**2
    return None if expected == 1 else (equal - expected) / (1 - expected)


def krippendorff_alpha(votes: list[dict[str, int]]) -> float | None:
    """Return Krippendorff's alpha for nominal labels, of any number of people to an item, or None."""
    matched, counts = 0.0, Counter[int]()
    for one in votes:
        if len(one) > 1:
            classes = Counter(one.values())
            counts += classes
            matched += sum(number * (number - 1) for number in classes.values()) / (len(one) - 1)
    total = counts.total()
    unlike = total**2 - sum(number**2 for number in counts.values())
    return None if unlike == 0 else 1 - (total - 1) * (total - matched) / unlike


def agreement_with_majority(votes: list[dict[str, int]], person: str) -> tuple[int, float | None]:
    """Return how many items others labelled too, and the share on which the person is with the majority of the others.

    Where the others are divided between several classes, each of these counts as an equal part of an agreement.
    """
    items, agreed = 0, 0.0
    for one in votes:
        others = Counter(class_id for name, class_id in one.items() if name != person)
        if person in one and others:
            most = max(others.values())
            majority = [class_id for class_id, number in others.items() if number == most]
            items, agreed = items + 1, agreed + (one[person] in majority) / len(majority)
    return items, agreed / items if items else None


def _pairs(votes: list[dict[str, int]]) -> list[tuple[str, str]]:
    return sorted({pair for one in votes for pair in combinations(sorted(one), 2)})


def _pair(votes: list[dict[str, int]], first: str, second: str) -> dict[str, Any]:
    both = [one for one in votes if first in one and second in one]
    left, right = [one[first] for one in both], [one[second] for one in both]
    equal = sum(a == b for a, b in zip(left, right, strict=True)) / len(both)
    return {"people": [first, second], "items": len(both), "agreement": equal, "kappa": cohen_kappa(left, right)}


def _with_the_others(votes: list[dict[str, int]], person: str) -> dict[str, Any]:
    items, share = agreement_with_majority(votes, person)
    return {"items": items, "agreement": share}
