"""What `cusal audit` does: read predictions and answers, say what is known, write what to check next.

Bars (`--fail-under accuracy=.9`) decide the exit code, so that a pipeline can wait for it: 0 if the low end of every
interval reaches its bar, 3 if a high end is below its bar, 4 if there are too few checks to say. Low ends were above
the truth in at most 3 % of the measured runs.
"""

import json
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cusal.audit import quantities
from cusal.audit.answer_tables import Spelling, answers, free_name, tell_verified, write_next
from cusal.audit.audit import Audit
from cusal.audit.comparison import Comparison
from cusal.audit.estimates import Needed, Score, Share
from cusal.audit.messages import judged, remarks, summary
from cusal.audit.prediction_table import PredictionTable, read_predictions
from cusal.errors import DataError, InvalidInput, NotReady
from cusal.tables import NamedColumns

MET, MISSED, OPEN = 0, 3, 4  # exit codes
FORMAT = 1  # of --json
OF_ONE = ("recall", "specificity", "precision", "rate", "f1")  # quantities of one verdict
MOST_NAMES = 5  # verdicts that an error names
CHANGES = ("accuracy", "rate", "recall", "precision", "kappa")


@dataclass(frozen=True)
class Request:
    """What the user asked for on the command line."""

    predictions: str
    labels: Sequence[str] = ()
    columns: NamedColumns = field(default_factory=NamedColumns)
    count: int = 50
    hunt: bool = False
    guarantee: float | None = None
    accept: float | None = None
    seed: int = 0
    out: str | None = "next.csv"
    report: str | None = None
    judge: str | None = None
    fail_under: Sequence[str] = ()
    as_json: bool = False
    against: str | None = None
    since: str | None = None
    save: str | None = None
    blind: bool = False


@dataclass(frozen=True)
class Outcome:
    """What to print, and the exit code."""

    text: str
    code: int = MET


@dataclass(frozen=True)
class Bar:
    """A bar that a quantity has to reach: whether it does, and how many checks it takes to say."""

    quantity: str
    bar: float
    share: Share | None
    needed: Needed | None

    @property
    def code(self) -> int:
        """The exit code for this bar alone."""
        if self.share is None:
            return OPEN
        return MET if self.share.low >= self.bar else MISSED if self.share.high < self.bar else OPEN

    def __str__(self) -> str:
        if self.share is None:
            return f"{self.quantity} >= {self.bar:g}: nothing that tells about it was checked yet."
        found = f"{self.quantity} {self.share.estimate:.3f} ({self.share.low:.3f} to {self.share.high:.3f})"
        said = {MET: "reached", MISSED: "missed", OPEN: "too few checks to say"}[self.code]
        more = f"; if it stays like this, {self.needed} would say" if self.needed is not None else ""
        return f"{self.quantity} >= {self.bar:g}: {said}, {found}{more}."


def run(request: Request) -> Outcome:
    """Do what was asked for, and return what to print."""
    wanted = [_bar(text) for text in request.fail_under]
    judged = request.judge is not None or any(name in OF_ONE for name, _ in wanted)
    request = replace(request, columns=replace(request.columns, judged=judged))
    if request.against is not None:
        return _compared(request, request.against)
    table = read_predictions(request.predictions, request.columns)
    audit = table.audit(request.seed)
    if request.judge is not None:
        as_class(audit, request.judge)
    for name, _ in wanted if request.judge is None else ():
        _check_named(audit, name)
    told = tell_verified(audit, table.ids, request.labels, only_verdicts=request.judge is not None)
    found: dict[str, Any] = {"format": FORMAT, "items": len(audit), "checks": audit.checks}
    found["checks_in_order"] = len(audit.checked_in_order)
    paragraphs = [] if request.judge is not None and found["checks_in_order"] else [summary(audit)]
    paragraphs += [*_judge(audit, request.judge, found), *remarks(audit, table, told)]
    if request.since is not None:
        paragraphs.append(_changed(audit, request.since, request.judge, found))
    bars = [_checked(audit, name, bar, request.judge) for name, bar in wanted]
    if bars:
        paragraphs.append("\n".join(str(bar) for bar in bars))
    paragraphs += _next(request, table, audit, found)
    code = _code(bars)
    if request.save is not None:
        audit.save(request.save)
        paragraphs.append(f"Saved: {request.save}; compare with it later by --since {shlex.quote(request.save)}")
    if not request.as_json:
        return Outcome("\n\n".join(paragraphs), code)
    found |= {"estimates": _estimates(audit, request.judge), "bars": [_as_record(bar) for bar in bars], "exit": code}
    return Outcome(json.dumps(found, indent=1, default=str), code)


def _judge(audit: Audit, name: str | None, found: dict[str, Any]) -> list[str]:
    """Return the table of a judge, and a paragraph about it."""
    if name is None:
        return []
    positive = as_class(audit, name)
    found["judge"] = {"positive": name, "called": float(np.mean(audit.predicted == positive))}
    if not len(audit.checked_in_order):
        return []
    table = audit.judge(positive)
    return [judged(table), str(table)]


def as_class(audit: Audit, name: str) -> Hashable:
    """Return the verdict of this name; an error names the verdicts there are."""
    return _find_verdict(name, audit.predicted.tolist())


def _find_verdict(name: str, verdicts: Iterable[Hashable]) -> Hashable:
    met = Counter(verdicts)
    for same in (str, lambda one: str(one).strip().lower()):
        for one in met:
            if same(one) == same(name):
                return one
    shown = ", ".join(f"{one} ({count} x)" for one, count in met.most_common(MOST_NAMES))
    more = f" and {len(met) - MOST_NAMES} more" if len(met) > MOST_NAMES else ""
    raise DataError(
        f"no verdict is {name!r}; those met are {shown}{more}. Give one of them to --judge, or name the column of the "
        "verdicts with --predicted."
    )


def judgement_record(audit: Audit, judge: str | None) -> dict[str, Any]:
    """Return what is known about predictions, or about one verdict of a judge, as `--json` writes it."""
    found: dict[str, Any] = {"format": FORMAT, "items": len(audit), "checks": audit.checks}
    found["checks_in_order"] = len(audit.checked_in_order)
    said = _judge(audit, judge, found)
    return found | {"estimates": _estimates(audit, judge), "in_words": said[0] if said else summary(audit)}


def _bar(text: str) -> tuple[str, float]:
    name, given, value = text.rpartition("=")
    try:
        bar = float(value)
    except ValueError:
        raise InvalidInput(f"--fail-under {text}: expected a quantity and a number, such as accuracy=.9.") from None
    name = name.strip() if given else "accuracy"
    if name not in quantities.NAMES:
        known = ", ".join(quantities.NAMES)
        raise InvalidInput(f"--fail-under {text}: there is no quantity {name!r}; expected {known}.")
    low = -1 if name in ("kappa", "mcc", "weighted_kappa") else 0
    if name != "mean_error" and not low <= bar <= 1:
        what = "a share from 0 to 1" if low == 0 else "a number from -1 to 1"
        meant = f"; did you mean {name}={f'{bar / 100:g}'.lstrip('0')}?" if 1 < bar <= 100 else "."
        raise InvalidInput(f"--fail-under {text}: expected {what}{meant}")
    return name, bar


def _check_named(audit: Audit, name: str) -> None:
    """Raise an error if a bar is of one verdict and none was named."""
    verdicts = list(dict.fromkeys(map(str, audit.predicted.tolist())))
    if name in OF_ONE or (name == "mcc" and len(verdicts) != 2):
        first = next((one for one in verdicts if one.lower() == "pass"), verdicts[0])
        raise InvalidInput(
            f"--fail-under {name}: this is of one verdict; name it, such as --judge {shlex.quote(first)} (the verdicts "
            f"are {', '.join(verdicts[:MOST_NAMES])}{', ...' * (len(verdicts) > MOST_NAMES)})."
        )


def _checked(audit: Audit, name: str, bar: float, judge: str | None) -> Bar:
    cls = None if judge is None or name in ("accuracy", *quantities.ORDERED) else as_class(audit, judge)
    try:
        share = audit.estimate(name, cls)
        found = Bar(name, bar, share, None)
        gap = abs(share.estimate - bar)
        if found.code == OPEN and 0 < gap < 1:
            found = Bar(name, bar, share, audit.needed(gap, of=name, cls=cls))
        return found
    except NotReady:
        return Bar(name, bar, None, None)


def _code(bars: Sequence[Bar]) -> int:
    codes = {bar.code for bar in bars}
    return MISSED if MISSED in codes else OPEN if OPEN in codes else MET


def _as_record(bar: Bar) -> dict[str, Any]:
    state = {MET: "reached", MISSED: "missed", OPEN: "open"}[bar.code]
    needed = None if bar.needed is None else bar.needed.checks
    share = None if bar.share is None else _figures(bar.share)
    return {"quantity": bar.quantity, "bar": bar.bar, "state": state, "estimate": share, "checks_needed": needed}


def _estimates(audit: Audit, judge: str | None) -> dict[str, Any]:
    """Return every estimate there is, by its name."""
    if not len(audit.checked_in_order):
        return {}
    found = {"accuracy": audit.accuracy(), "accuracy_anytime": audit.accuracy(anytime=True)}
    if judge is not None:
        cls = as_class(audit, judge)
        found |= {name: audit.estimate(name, cls) for name in quantities.METRICS if name != "accuracy"}
    else:
        with suppress(NotReady):
            found["kappa"] = audit.kappa()
    return {name: _figures(share) for name, share in found.items()}


def _figures(share: Share) -> dict[str, Any]:
    return {name: value for name, value in asdict(share).items() if value not in ("", None)}


def _changed(audit: Audit, path: str, judge: str | None, found: dict[str, Any]) -> str:
    """Return how much grew since an earlier audit."""
    earlier = Audit.load(path)
    cls = None if judge is None else as_class(audit, judge)
    lines, found["since"] = [f"Since {path}:"], {}
    for of in CHANGES if cls is not None else CHANGES[:1]:
        change = audit.change(earlier, of=of, cls=None if of == "accuracy" else cls)
        found["since"][of] = _figures(change)
        said = "up" if change.low > 0 else "down" if change.high < 0 else "no change is shown"
        lines.append(f"  {of} {_points(change)}: {said}")
    return "\n".join(lines)


def _points(score: Score) -> str:
    return f"{score.estimate:+.3f} ({score.low:+.3f} to {score.high:+.3f})"


def _next(request: Request, table: PredictionTable, audit: Audit, found: dict[str, Any]) -> list[str]:
    """Write the items to check next and the report, and return what to say about them."""
    paragraphs = []
    why, items = "audit", [] if audit.checks >= len(audit) else audit.ask(request.count).tolist()
    if request.hunt:
        suspects = audit.hunt(request.count)
        why, items = "hunt", suspects.indices.tolist()
        paragraphs.append(
            f"The {len(suspects)} most suspicious items follow; about {suspects.chances.sum():.0f} of them are wrong, "
            "by what was checked so far."
        )
    if request.accept is not None:
        accepted = audit.accept(request.accept)
        paragraphs.append(accepted.reason)
        found["accept"] = {"items": len(accepted), "threshold": accepted.threshold, "reason": accepted.reason}
        why, items = "accept", accepted.missing[: request.count].tolist()
    if request.guarantee is not None:
        accepted = audit.guarantee(request.guarantee, count=request.count)
        paragraphs.append(accepted.reason)
        found["guarantee"] = {"items": len(accepted), "threshold": accepted.threshold, "reason": accepted.reason}
        why, items = "guarantee", accepted.missing.tolist()
    if request.report is not None:
        from cusal.audit.report import write_report

        positive = None if request.judge is None else as_class(audit, request.judge)
        write_report(request.report, audit, table, positive)
        paragraphs.append(f"Report: {request.report}")
    if request.out is not None and items:
        paragraphs.append(_hand_out(request, request.out, table, items, why, found))
    return paragraphs


def _hand_out(
    request: Request, out: str, table: PredictionTable, items: Sequence[int], why: str, found: dict[str, Any]
) -> str:
    """Write the items to check to a file that holds nothing of the user's, and return what to do with it."""
    path = free_name(out)
    write_next(path, table, items, why, blind=request.blind or request.against is not None)
    found["next"] = {"file": path, "items": len(items), "why": why}
    kept = "" if path == out else f" ({out} was left as it is)"
    what = "1 item" if len(items) == 1 else f"{len(items)} items"
    return (
        f"Next: check the {what} in {path}{kept}: write the true label of each into the column true_label (or ? if "
        f"nobody can tell), then run: {command_line(request, path)}"
    )


def command_line(request: Request, path: str) -> str:
    """Return the command for the next day, with the file that was filled in."""
    named: dict[str, object] = {"--label": request.columns.label, "--confidence": request.columns.confidence}
    named |= {"--id": request.columns.id, "--text": request.columns.text, "--seed": request.seed or None}
    named |= {"--judge": request.judge, "--against": request.against}
    words = ["cusal", "audit", request.predictions, *(["--no-header"] if request.columns.header is False else [])]
    words += ["--blind"] if request.blind else []
    for option, value in [*named.items(), *(("--labels", labels) for labels in dict.fromkeys([*request.labels, path]))]:
        words += [] if value is None else [option, str(value)]
    return shlex.join(words)


# ---- A against B


def _compared(request: Request, other: str) -> Outcome:
    """Compare two tables of predictions of the same items."""
    if request.fail_under or request.since or request.save or request.hunt or request.report:
        raise InvalidInput("--against compares two tables alone; give --fail-under, --since and the rest without it.")
    tables = [read_predictions(path, request.columns) for path in (request.predictions, other)]
    labels = [dict(zip(table.ids, table.labels, strict=True)) for table in tables]
    ids = [one for one in labels[0] if one in labels[1]]
    if not ids:
        raise DataError(f"{request.predictions} and {other} share no id; name the column of the ids with --id.")
    names = _names(request.predictions, other)
    verdicts = {name: [side[one] for one in ids] for name, side in zip(names, labels, strict=True)}
    both = Comparison(verdicts, ids=ids, seed=request.seed)
    met = [verdict for side in verdicts.values() for verdict in side]
    judge = None if request.judge is None else str(_find_verdict(request.judge, met))
    known = Spelling(met)
    for item, given, right, _, where in answers(ids, request.labels, ignore=set(labels[0]) | set(labels[1])):
        label = known.read(given)
        if right and not label:
            raise DataError(f"{where} says whether a prediction is right; a comparison needs the true label.")
        both.skip([item]) if label == "?" else both.tell([item], [label])
    if judge is not None:
        known.check()
    found: dict[str, Any] = {"format": FORMAT, "items": len(ids), "checks": both.checks, "judges": names}
    found["disagree"] = float(both.disputed.mean())
    paragraphs = [str(both), *_differences(both, judge, found)]
    paragraphs += [known.remark] if known.remark else []
    left = [len(side) - len(ids) for side in labels]
    if any(left):
        paragraphs.append(f"{sum(left)} items are in one of the tables only, and were left out.")
    if both.checks < len(ids) and request.out is not None:
        rows = {one: place for place, one in enumerate(tables[0].ids)}
        items = [rows[ids[item]] for item in both.ask(request.count).tolist()]
        paragraphs.append(_hand_out(request, request.out, tables[0], items, "compare", found))
    return Outcome(json.dumps(found, indent=1, default=str) if request.as_json else "\n\n".join(paragraphs))


def _names(first: str, second: str) -> list[str]:
    stems = [Path(path).name.split(".")[0] for path in (first, second)]
    return stems if stems[0] != stems[1] else [first, second] if first != second else ["first", "second"]


def _differences(both: Comparison, cls: str | None, found: dict[str, Any]) -> list[str]:
    one, other = both.judges
    lines, found["differences"] = [], {}
    for of in ("accuracy",) if cls is None else ("accuracy", "recall", "precision", "kappa", "rate"):
        try:
            score = both.difference(of, None if of == "accuracy" else cls)
        except NotReady:
            return []
        found["differences"][of] = _figures(score)
        lines.append(f"  {of}: {_points(score)}")
    return ["\n".join([f"{one} minus {other}:", *lines])] if cls is not None else []
