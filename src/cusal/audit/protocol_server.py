"""A server of the Model Context Protocol over one saved audit: an agent asks a person for the checks that count.

It speaks over standard input and output, opens the audit and the table it was begun from, and no other file; both must
lie in one folder. Without leave to write it offers no way to store an answer. What a check says has to come from a
person: an audit of a model by the same model says nothing.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cusal._checks import as_count
from cusal.audit.answer_tables import HIDDEN
from cusal.audit.audit import Audit
from cusal.audit.command import judgement_record
from cusal.audit.order import identities
from cusal.audit.prediction_table import PredictionTable, read_predictions
from cusal.errors import CusalError, DataError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from mcp.server import MCPServer

MOST = 50  # items that are handed out together
INSTRUCTIONS = (
    "An audit of given predictions. Take items from next_checks, show each to a person without the prediction, and "
    "pass on what the person says; never answer for them. Fix the number of checks beforehand. judge and accept say "
    "what is known."
)


class OpenAudit:
    """A saved audit with the table of its predictions, both inside one folder.

    Parameters
    ----------
    audit : str
        The file that `cusal audit --save` or `Audit.save` wrote.
    source : str, optional
        The table of the predictions, which has the ids and the texts.
    folder : str, optional
        Where both must lie; by default the folder of the audit.
    """

    def __init__(self, audit: str, source: str | None = None, folder: str | None = None) -> None:
        self.folder = Path(folder or Path(audit).parent).resolve()
        self.path = self._inside(audit)
        self.audit = Audit.load(self.path)
        self.table: PredictionTable | None = None
        if source is not None:
            self.table = read_predictions(str(self._inside(source)))
            self._check_same(self.table, source)

    def _inside(self, name: str) -> Path:
        """Return a path with all links followed, or raise an error if it lies outside the folder."""
        path = Path(name).resolve()
        if not path.is_relative_to(self.folder):
            raise InvalidInput(f"{name} lies outside {self.folder}; give files of one folder, or another --folder.")
        return path

    def _check_same(self, table: PredictionTable, source: str) -> None:
        same = len(table.ids) == len(self.audit) and np.array_equal(table.labels, self.audit.predicted.astype(str))
        if not same or not np.array_equal(identities(len(table.ids), table.ids), self.audit._checks.identities):
            raise DataError(
                f"{source} holds other predictions than {self.path.name}; give the table it was begun from."
            )

    def next_checks(self, count: int = 5) -> list[dict[str, Any]]:
        """Return the next items to check, without their predictions."""
        count = as_count(count, "count", least=1)
        if self.audit.checks >= len(self.audit):
            return []
        items = self.audit.ask(min(count, MOST)).tolist()
        if self.table is None:
            return [{"id": str(item)} for item in items]
        names = [name for name in self.table.columns if name.lower() not in HIDDEN]
        rows = self.table.source_rows(items)
        return [
            {"id": self.table.ids[item], **{name: row.get(name) for name in names}}
            for item, row in zip(items, rows, strict=True)
        ]

    def tell(self, item: str, label: str) -> dict[str, Any]:
        """Store what a person says an item is ("?" if nobody can tell), and save the audit."""
        place = self._place(item)
        if label.strip() == "?":
            self.audit.skip([place])
        elif label.strip():
            names = {str(name): name for name in self.audit.predicted.tolist()}
            self.audit.tell([place], [names.get(label.strip(), label.strip())])
        else:
            raise InvalidInput("the label is empty; give the true label, or ? if nobody can tell.")
        self.audit.save(self.path)
        return {"checks": self.audit.checks, "checks_in_order": len(self.audit.checked_in_order)}

    def judge(self, positive: str | None = None) -> dict[str, Any]:
        """Return what is known about the predictions, or about one verdict of a judge."""
        return judgement_record(self.audit, positive)

    def accept(self, max_wrong: float = 0.05) -> dict[str, Any]:
        """Return which part can be accepted if all others are checked, so that few of all are wrong."""
        found = self.audit.accept(max_wrong)
        return {"items": len(found), "threshold": found.threshold, "others": len(found.missing), "reason": found.reason}

    def _place(self, item: str) -> int:
        known = [str(place) for place in range(len(self.audit))] if self.table is None else self.table.ids
        if item not in known:
            raise InvalidInput(f"there is no item {item!r}; give an id that next_checks returned.")
        return known.index(item)


def server(opened: OpenAudit, *, write: bool = False) -> "MCPServer[Any]":
    """Return the server; `tell` is there only with leave to write."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise MissingExtra("the server for agents", "mcp") from error

    def said(question: Callable[..., Any], *values: Any) -> str:
        try:
            return json.dumps(question(*values), ensure_ascii=False, default=str)
        except CusalError as error:  # the agent reads what was wrong
            raise ToolError(str(error)) from error

    found: MCPServer[Any] = MCPServer("cusal", instructions=INSTRUCTIONS, log_level="ERROR")

    @found.tool(description="The next items that a person has to check, in the audit's order, without predictions.")
    def next_checks(count: int = 5) -> str:
        return said(opened.next_checks, count)

    @found.tool(description="What is known: accuracy, and for one verdict recall, precision, true rate and kappa.")
    def judge(positive: str | None = None) -> str:
        return said(opened.judge, positive)

    @found.tool(description="The part to accept without looking, so that at most max_wrong of all items are wrong.")
    def accept(max_wrong: float = 0.05) -> str:
        return said(opened.accept, max_wrong)

    if write:

        @found.tool(description="Store what a person said an item truly is; ? if nobody can tell.")
        def tell(item: str, label: str) -> str:
            return said(opened.tell, item, label)

    return found


def serve(opened: OpenAudit, *, write: bool = False) -> None:
    """Serve over standard input and output until the input ends."""
    server(opened, write=write).run("stdio")
