"""What an audit found, as a paragraph that needs no statistics to be understood."""

from cusal.audit.audit import Audit
from cusal.audit.estimates import Share, Slice
from cusal.audit.together import by_class_together
from cusal.errors import NotReady

ENOUGH = 0.02  # half the width of an interval with which most people are content
WORST = 3  # classes that are named


def summary(audit: Audit) -> str:
    """Return what is known about the predictions, and what to do next."""
    if audit.checks == 0:
        there = "is 1 prediction" if len(audit) == 1 else f"are {len(audit):,} predictions"
        return (
            f"There {there} and no checks yet. Check the items that follow, in their order, and come back with the "
            "answers: 50 show roughly how good the predictions are, 200 to 400 show it well."
        )
    try:
        share, anytime = audit.accuracy(), audit.accuracy(anytime=True)
    except NotReady:
        return f"{audit.checks} items were checked, but not the first ones of the audit's order: check those first."
    if audit.checks >= len(audit):
        return f"All {len(audit):,} predictions are checked: {share.estimate:.2%} of them are right."
    wider = "wider " if anytime.low <= share.low and share.high <= anytime.high else ""  # not always, with few checks
    sentences = [
        f"About {_per_cent(share.estimate)} of the {len(audit):,} predictions are right: between "
        f"{_per_cent(share.low)} and {_per_cent(share.high)}, with 95 % confidence, from {share.checks} checks.",
        f"If you look at this after every few checks, read the {wider}range {_per_cent(anytime.low)} to "
        f"{_per_cent(anytime.high)}, which holds however often you look.",
        _worst(by_class_together(audit), share.estimate),
        _next_step(audit, share),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _per_cent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _worst(classes: list[Slice], overall: float) -> str:
    """Return a sentence about the classes that are surely worse than the whole."""
    weak = [(one.share.high, one) for one in classes if one.share is not None and one.share.high < overall]
    if not weak:
        return ""
    named = ", ".join(
        f"{one.name} (at most {_per_cent(high)})" for high, one in sorted(weak, key=lambda pair: pair[0])[:WORST]
    )
    kind = "class" if len(weak) == 1 else "classes"
    more = f" and {len(weak) - WORST} more" if len(weak) > WORST else ""
    return f"Worse than the rest {'is' if len(weak) == 1 else 'are'} the predicted {kind} {named}{more}."


def _next_step(audit: Audit, share: Share) -> str:
    half = (share.high - share.low) / 2
    if half <= ENOUGH:
        return "That is precise enough for most purposes."
    return f"To know it within {ENOUGH * 100:.0f} points takes {audit.needed(ENOUGH)}."
