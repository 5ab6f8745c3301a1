"""What a runner shows while it works: a live table on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from cusal._progress import duration
from cusal.apps.bench.report.shown_names import short_name
from cusal.apps.bench.store import Run
from cusal.apps.bench.worker import News


class RunProgress:
    """The runs that are under way, how far they are, and how long all will take."""

    def __init__(self, runs: Sequence[Run], done: int, *, workers: int) -> None:
        self.runs = {run.id: run for run in runs}
        self.total, self.done, self.workers = len(runs), done, workers
        self.failed = 0
        self._running: dict[str, News] = {}
        self._left = {run.id: run.rounds + 1 for run in runs}
        self._seconds: dict[str, float] = {}  # of a round, by strategy: a running mean
        self._live: Any = None
        self._several = len({run.experiment for run in runs}) > 1

    def __enter__(self) -> "RunProgress":
        if sys.stdout.isatty():
            from rich.live import Live

            self._live = Live(self._table(), refresh_per_second=2, transient=True)
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def skip(self, run_id: str, rounds: int) -> None:
        """Count rounds that were done before."""
        self._left[run_id] = self.runs[run_id].rounds - rounds

    def show(self, news: News) -> None:
        """Take in what a worker reported, and show it."""
        if news.kind in ("done", "failed", "lost"):
            self._running.pop(news.run_id, None)
            self._left.pop(news.run_id, None)
            self.done += news.kind == "done"
            self.failed += news.kind == "failed"
        else:
            self._running[news.run_id] = news
        if news.kind == "round":
            strategy = self.runs[news.run_id].strategy
            before = self._seconds.get(strategy, news.seconds)
            self._seconds[strategy] = 0.8 * before + 0.2 * news.seconds
            self._left[news.run_id] = self.runs[news.run_id].rounds - news.round
        if self._live is not None:
            if news.kind == "started" and news.text:  # a line that stays, above the table
                self._live.console.print(self._line(news), markup=False)
            self._live.update(self._table())
        else:
            print(self._line(news), flush=True)

    def seconds_left(self) -> float | None:
        """Return the time that all runs still need; None before the first round ended."""
        if not self._seconds:
            return None
        mean = sum(self._seconds.values()) / len(self._seconds)
        work = sum(self._seconds.get(self.runs[i].strategy, mean) * left for i, left in self._left.items())
        return work / min(self.workers, max(1, len(self._left)))

    def _line(self, news: News) -> str:
        run = self.runs[news.run_id]
        start = f"{time.strftime('%H:%M:%S')}  {self._title(run)}, seed {run.seed}"
        if news.kind == "started" and news.text:
            return f"{start}: {news.text}"
        if news.kind != "round":
            return f"{start}: {news.kind}  ({self.done} of {self.total} runs done)"
        scores = f"ECE {news.ece:.3f}, accuracy {100 * news.accuracy:.1f}, {news.seconds:.1f} s"
        return f"{start}: round {news.round} of {run.rounds}, {scores}, left {duration(self.seconds_left())}"

    def _title(self, run: Run) -> str:
        strategy = short_name(run.strategy)
        return f"{short_name(run.experiment)}, {strategy}" if self._several else strategy

    def _table(self) -> Any:
        from rich.markup import escape
        from rich.table import Table

        left = duration(self.seconds_left())
        failed = f", {self.failed} failed" if self.failed else ""
        title = f"{self.done} of {self.total} runs done{failed}; time left {left}"
        table = Table(title=title, title_justify="left", expand=False)
        for column in ("strategy", "seed", "round", "ECE", "accuracy", "s / round"):
            table.add_column(column, justify="left" if column == "strategy" else "right")
        for run_id, news in self._running.items():
            run = self.runs[run_id]
            known = news.kind == "round"
            numbers = (
                [f"{news.ece:.3f}", f"{100 * news.accuracy:.1f}", f"{news.seconds:.1f}"] if known else ["", "", ""]
            )
            table.add_row(escape(self._title(run)), str(run.seed), f"{max(news.round, 0)} / {run.rounds}", *numbers)
        return table
