"""Intervals of many parts of the items that all hold at once.

Of twenty intervals of 95 % one leaves out the truth on average, and the worst of twenty parts looks worse than it is.
With m parts each interval has the level 1 - .05 / m (Bonferroni): then all hold together with 95 %. Parts with too few
checks are not counted; which ones they are depends on the order of checking, never on the answers.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from cusal._types import Indices
from cusal.audit.audit import Audit
from cusal.audit.estimates import Slice

LEVEL = 0.95
Parts = tuple[Sequence[Hashable], Indices]


def by_class_together(audit: Audit) -> list[Slice]:
    """Return the predicted classes; the intervals of all of them hold together with 95 %.

    Parameters
    ----------
    audit : Audit
        With any number of checks.

    Returns
    -------
    list of Slice
        One for each class that was predicted; `share` is None where too few items were checked.

    Examples
    --------
    >>> audit = Audit(predicted=["cat"] * 60 + ["dog"] * 40)
    >>> audit.tell(audit.ask(80), right=[True] * 80)
    >>> [(one.name, one.items, one.share.estimate) for one in by_class_together(audit)]
    [('cat', 60, 1.0), ('dog', 40, 1.0)]
    """
    names, numbers = np.unique(audit.predicted, return_inverse=True)
    return parts_together(audit, [(names.tolist(), numbers)])[0]


def parts_together(audit: Audit, groups: Sequence[Parts]) -> list[list[Slice]]:
    """Return the parts of each group of names and codes (n,) into them; all intervals hold together with 95 %."""
    checked = audit.checked_in_order
    found = []
    for names, codes in groups:
        met = np.bincount(codes[checked], minlength=len(names)) > 0
        # A part without a check says nothing, whatever the level, and needs no pass over the items.
        sizes = np.bincount(codes, minlength=len(names)).tolist()
        found.append(
            [
                audit.slice(name, codes == number) if met[number] else Slice(name, sizes[number], 0, None)
                for number, name in enumerate(names)
            ]
        )
    count = sum(one.share is not None for group in found for one in group)
    level = 1 - (1 - LEVEL) / max(1, count)
    return [
        [
            one if one.share is None else audit.slice(one.name, codes == number, level=level)
            for number, one in enumerate(group)
        ]
        for group, (_, codes) in zip(found, groups, strict=True)
    ]
