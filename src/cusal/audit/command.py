"""What `cusal audit` does: read predictions and answers, say what is known, write what to check next."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from cusal.audit.answer_tables import free_name, tell_verified, write_next
from cusal.audit.messages import remarks, summary
from cusal.audit.prediction_table import Columns, PredictionTable, read_predictions


@dataclass(frozen=True)
class Request:
    """What the user asked for on the command line."""

    predictions: str
    labels: Sequence[str] = ()
    columns: Columns = field(default_factory=Columns)
    count: int = 50
    hunt: bool = False
    guarantee: float | None = None
    accept: float | None = None
    seed: int = 0
    out: str | None = "next.csv"
    report: str | None = None


def run(request: Request) -> str:
    """Do what was asked for, and return what to print."""
    table = read_predictions(request.predictions, request.columns)
    audit = table.audit(request.seed)
    told = tell_verified(audit, table.ids, request.labels)
    paragraphs = [summary(audit), *remarks(audit, table, told)]
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
        why, items = "accept", accepted.missing[: request.count].tolist()
    if request.guarantee is not None:
        accepted = audit.guarantee(request.guarantee, count=request.count)
        paragraphs.append(accepted.reason)
        why, items = "guarantee", accepted.missing.tolist()
    if request.report is not None:
        from cusal.audit.report import write_report

        write_report(request.report, audit, table)
        paragraphs.append(f"Report: {request.report}")
    if request.out is not None and items:
        paragraphs.append(_hand_out(request, request.out, table, items, why))
    return "\n\n".join(paragraphs)


def _hand_out(request: Request, out: str, table: PredictionTable, items: Sequence[int], why: str) -> str:
    """Write the items to check to a file that holds nothing of the user's, and return what to do with it."""
    path = free_name(out)
    write_next(path, table, items, why)
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
    words = ["cusal", "audit", request.predictions]
    for option, value in [*named.items(), *(("--labels", labels) for labels in (*request.labels, path))]:
        words += [] if value is None else [option, str(value)]
    return shlex.join(words)
