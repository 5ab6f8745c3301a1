"""The beginning of an audit in the browser: its classes, its predictions, and the queue in its order.

The predictions of the only round carry the place of each item in the audit's order as their margin. The server
lengthens the queue by the smallest margin first, so that it always follows that order.
"""

import numpy as np

from cusal import Audit
from cusal.apps.label.sources import ReadIn, Source, read_in
from cusal.apps.label.sources.prediction_rows import PredictionRows
from cusal.apps.label.store.known_labels import natural
from cusal.apps.label.store.predictions import Predictions
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import Pick, Round
from cusal.audit import PredictionTable
from cusal.errors import ProjectError

WRONG = "(wrong)"
LENGTH = 500  # picks at the start; the server adds more as people answer
REASON = {"kind": "audit"}


def begin_audit(project: Project, source: Source) -> ReadIn:
    """Read in the predictions, whose order never changes afterwards, and fill the queue in that order.

    Called again, it completes what a killed start has left undone.
    """
    assert isinstance(source, PredictionRows)
    known = project.status.all().get("items", {}).get("fingerprint")
    if known is not None and known != source.fingerprint():
        raise ProjectError(
            f"the predictions in {project.settings.data} are others than when {project.place} was begun, and other "
            "predictions need an order of their own; restore the table, or begin another project by --store."
        )
    read = read_in(project, source)
    _write_beginning(project, source.table)
    _fill_queue(project)
    return read


def _write_beginning(project: Project, table: PredictionTable) -> None:
    """Write the classes, the predictions and the order, unless they are there."""
    if project.rounds.last_number() is None:
        names = sorted(set(table.labels), key=natural)
        if not project.classes.all():
            project.classes.bring([*names, WRONG if WRONG not in names else f"{WRONG} 2"])
        _write_round(project, table, {name: number for number, name in enumerate(names)})


def _fill_queue(project: Project) -> None:
    """Ask for the next items of the order."""
    found = project.rounds.predictions()
    if found is None:
        raise ProjectError(f"{project.place} holds no predictions to check; begin another project by --store.")
    order = found.items[np.argsort(found.margin, kind="stable")]
    done = np.array([*project.answers.labels(), *project.answers.skipped()], dtype=np.int64)
    usable = order[np.isin(order, project.items.ids("ok")) & ~np.isin(order, done)]
    project.queue.put([Pick(int(item), "audit", REASON) for item in usable[:LENGTH]], round=1)


def _write_round(project: Project, table: PredictionTable, classes: dict[str, int]) -> None:
    """Write the only round; positions in the audit are the ids of the items."""
    keys = project.items.find(table.ids)
    rows = np.argsort([keys[one] for one in table.ids], kind="stable")  # a killed start may have met another order
    ids, labels = [table.ids[row] for row in rows.tolist()], [table.labels[row] for row in rows.tolist()]
    confidence = np.array(table.confidence)[rows]
    audit = Audit(predicted=labels, confidence=confidence, ids=ids, seed=project.settings.seed)
    places = np.empty(len(ids), dtype=np.float32)  # whole numbers up to 2 ** 24 are exact
    places[audit.ask(len(ids))] = np.arange(len(ids))
    top = np.array([classes[label] for label in labels], dtype=np.int32)
    made = Predictions(np.arange(len(ids)), top, top, confidence.astype(np.float32), places)
    project.rounds.add(Round(1, 0, {}, made.to_bytes(), audit.to_bytes()))
