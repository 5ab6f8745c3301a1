"""What `cusal audit` does: read predictions and answers, say what is known, write what to check next."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from cusal._cells import safe_cell
from cusal._files import write_whole
from cusal.audit.in_words import summary
from cusal.audit.prediction_table import Columns, PredictionTable, read_predictions
from cusal.audit.verified import tell_verified


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
    tell_verified(audit, table.ids, request.labels)
    paragraphs = [summary(audit)]
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
        write_next(request.out, table, items, why)
        paragraphs.append(
            f"Next: check the {len(items)} items in {request.out}: write the true label of each into the column "
            f"true_label (or ? if nobody can tell), then run: {command_line(request)}"
        )
    return "\n\n".join(paragraphs)


def command_line(request: Request) -> str:
    """Return the command for the next day."""
    given = "".join(f" --labels {path}" for path in (*request.labels, "CHECKED.csv"))
    return f"cusal audit {request.predictions}{given}"


def write_next(path: str, table: PredictionTable, items: Sequence[int], why: str) -> None:
    """Write the items to check as CSV, with an empty column for the answer."""
    content = io.StringIO()
    writer = csv.writer(content)
    texts = table.texts
    writer.writerow(["id", *(["text"] if texts is not None else []), "predicted", "confidence", "true_label", "why"])
    for item in items:
        shown = [safe_cell(texts[item])] if texts is not None else []
        confidence = f"{table.confidence[item]:.6g}"
        writer.writerow([safe_cell(table.ids[item]), *shown, safe_cell(table.labels[item]), confidence, "", why])
    write_whole(path, content.getvalue().encode("utf-8", "surrogatepass"))
