"""The tasks of a suite taken together: how far each strategy is from margin, over tasks and seeds.

    a(s, k, r)  = mean over the rounds 1 .. T of a measure, for strategy s on task k with seed r
    d(s, k, r)  = a(s, k, r) - a(margin, k, r), for every seed that both have finished
    d(s, k)     = mean of d(s, k, r) over seeds       d(s) = mean of d(s, k) over tasks

Round 0 is left out: no strategy has chosen anything yet. The p values are those of Wilcoxon's signed-rank test,
two-sided, of the d(s, k) over tasks, and of all d(s, k, r) over pairs of task and seed. Seeds of one task are no
independent evidence about other tasks, so that the first is the one to go by; neither is corrected for the number of
strategies.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from cusal.apps.bench.report.curves import Curves, Values, mean
from cusal.apps.bench.report.measures import TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED, Measure
from cusal.apps.bench.report.tables import MISSING, Cell, Table

AGAINST = ("margin", "random")  # the first of these that a suite has; else its first strategy
MEASURED = (TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED)
POINTS = 100.0  # differences are shown in points of a per cent
NOTE = (
    "Every number is a mean over the rounds after the first choice. Differences are paired by task and seed; the mean "
    "is over the runs that a strategy has, and compares only where all have the same. p: Wilcoxon's signed-rank test, "
    "two-sided, over tasks and over pairs of task and seed, not corrected for the number of strategies. Seeds of one "
    "task are not independent evidence about other tasks: go by the first."
)


@dataclass(frozen=True)
class Suite:
    """The experiments of one suite by the name of their task, and the group that each belongs to."""

    name: str
    members: dict[str, Curves]
    groups: dict[str, str]

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies that any task has, in the order in which they first come."""
        return tuple(dict.fromkeys(s for curves in self.members.values() for s in curves.strategies))

    @property
    def against(self) -> str:
        """The strategy that all others are compared with."""
        return next((name for name in AGAINST if name in self.strategies), self.strategies[0])

    def with_seeds(self, seeds: Collection[int]) -> "Suite | None":
        """Return the suite of the runs with these seeds; None where fewer than two tasks have any."""
        cut = [
            Curves.of(curves.experiment, [run for run in curves.runs if run.seed in seeds], task=curves.task)
            for curves in self.members.values()
        ]
        return next(iter(find_suites(cut)), None)

    def parts(self) -> dict[str, tuple[str, ...]]:
        """Return the tasks of each group, all of them first, under ""; nothing else where there are no two groups."""
        own = list(dict.fromkeys(self.groups[task] for task in self.members))
        every: dict[str, tuple[str, ...]] = {"": tuple(self.members)}
        if len(own) > 1:
            every |= {name: tuple(t for t in self.members if self.groups[t] == name) for name in own if name}
        return every


@dataclass(frozen=True)
class Rank:
    """How one strategy does against another over tasks, in one measure.

    Attributes
    ----------
    strategy : str
        Its label.
    level : float
        Its own mean over tasks; NaN where it has no finished run.
    difference : float
        d(s), in the measure's own unit; NaN for the strategy that others are compared with.
    worst_task, worst : str, float
        The task on which it does worst in comparison, and d(s, k) there.
    won, tasks : int
        On how many tasks it is better, of how many.
    pairs : int
        Number of pairs of task and seed.
    p_tasks, p_pairs : float
        Of Wilcoxon's test over tasks, and over pairs.
    """

    strategy: str
    level: float
    difference: float
    worst_task: str
    worst: float
    won: int
    tasks: int
    pairs: int
    p_tasks: float
    p_pairs: float


def find_suites(experiments: Iterable[Curves]) -> list[Suite]:
    """Return the suites among some experiments, each of two tasks or more."""
    found: dict[str, dict[str, Curves]] = defaultdict(dict)
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for curves in experiments:
        if curves.task is not None and curves.strategies:
            found[curves.task.suite][curves.task.name] = curves
            groups[curves.task.suite][curves.task.name] = curves.task.group
    return [Suite(name, members, groups[name]) for name, members in found.items() if len(members) > 1]


def rank(suite: Suite, measure: Measure, tasks: Iterable[str] | None = None) -> list[Rank]:
    """Return how every strategy does in one measure, the best first.

    Parameters
    ----------
    suite : Suite
        Tasks and their curves.
    measure : Measure
        What is compared.
    tasks : iterable of str, optional
        The tasks to look at; by default all.

    Returns
    -------
    list of Rank
        In order of the mean difference; the strategy that others are compared with has a difference of 0.
    """
    chosen = list(suite.members) if tasks is None else list(tasks)
    ranks = [_rank(suite, strategy, measure, chosen) for strategy in suite.strategies]
    there = [one for one in ranks if np.isfinite(one.level)]
    return sorted(there, key=lambda one: (np.nan_to_num(one.difference, nan=0.0)) * (-1 if measure.higher else 1))


def _rank(suite: Suite, strategy: str, measure: Measure, tasks: list[str]) -> Rank:
    levels, differences = [], {}
    for task in tasks:
        curves = suite.members[task]
        if strategy not in curves.strategies:
            continue
        own = _areas(curves, strategy, measure)
        levels.append(float(mean(own)))
        if suite.against in curves.strategies and strategy != suite.against:
            both = own - _areas(curves, suite.against, measure)
            if np.isfinite(both).any():
                differences[task] = both[np.isfinite(both)]
    level = float(mean(np.array(levels, dtype=np.float64))) if levels else float("nan")
    if not differences:
        return Rank(strategy, level, float("nan"), "", float("nan"), 0, 0, 0, float("nan"), float("nan"))
    by_task = {task: float(values.mean()) for task, values in differences.items()}
    sign = 1 if measure.higher else -1
    worst = min(by_task, key=lambda task: sign * by_task[task])
    pairs = np.concatenate(list(differences.values()))
    means = np.array(list(by_task.values()))
    return Rank(
        strategy,
        level,
        float(means.mean()),
        worst,
        by_task[worst],
        int((sign * means > 0).sum()),
        len(means),
        len(pairs),
        wilcoxon_p(means),
        wilcoxon_p(pairs),
    )


def _areas(curves: Curves, strategy: str, measure: Measure) -> Values:
    """Return the mean over the rounds 1 .. T for each seed, NaN for runs that stopped early."""
    values = curves.of_key(measure.key)[curves.strategies.index(strategy)]
    areas: Values = values[:, 1:].mean(axis=1) if curves.rounds else values[:, 0]
    return areas


def wilcoxon_p(differences: Values) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test; 1 where nothing differs.

    >>> round(wilcoxon_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0])), 4)
    0.0625
    """
    from scipy import stats  # a second to import, and only suites need it

    return float(stats.wilcoxon(differences).pvalue) if np.any(differences) else 1.0


def suite_tables(suite: Suite) -> tuple[Table, ...]:
    """Return a table for each measure that the suite has, and for each group of tasks."""
    measured = [m for m in MEASURED if all(curves.has(m.key) for curves in suite.members.values())]
    return tuple(rank_table(suite, measure, group) for measure in measured for group in suite.parts())


def rank_table(suite: Suite, measure: Measure, group: str = "") -> Table:
    """Return the table of one measure for all tasks, or for those of a group."""
    tasks = suite.parts()[group]
    where = f"{len(tasks)} tasks" + (f" {group}" if group else "")
    return Table(
        name=f"rank_{measure.name}" + (f"_{'_'.join(group.split())}" if group else ""),
        title=f"{measure.title} against {suite.against} over {where}, {measure.better}",
        caption="The mean over tasks in per cent, the mean difference in points, the task with the worst difference, "
        f"on how many tasks the strategy is better than {suite.against}, and how likely chance alone gives such "
        "differences.",
        note=NOTE,
        head="Strategy",
        columns=("Mean", f"Against {suite.against}", "Worst task", "Tasks won", "p by task", "p by task x seed"),
        rows=tuple((one.strategy, _cells(one)) for one in rank(suite, measure, tasks)),
    )


def _cells(one: Rank) -> tuple[Cell, ...]:
    level = Cell(f"{POINTS * one.level:.1f}")
    if not one.tasks:
        return (level, *(Cell(MISSING) for _ in range(5)))
    return (
        level,
        Cell(f"{POINTS * one.difference:+.2f}"),
        Cell(f"{POINTS * one.worst:+.1f}", note=one.worst_task),
        Cell(f"{one.won} of {one.tasks}"),
        Cell(_p(one.p_tasks)),
        Cell(_p(one.p_pairs), note=f"{one.pairs} pairs"),
    )


def _p(value: float) -> str:
    return "< .0001" if value < 1e-4 else f"{value:.4f}".removeprefix("0")


def text_ranks(suite: Suite) -> str:
    """Return the tables of all tasks, and those of groups, as plain text for a terminal."""
    blocks = []
    for table in suite_tables(suite):
        lines = [[table.head, *table.columns]]
        lines += [
            [label, *(f"{c.text} ({c.note})" if c.note else c.text for c in cells)] for label, cells in table.rows
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        rows = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        blocks.append("\n".join([table.title, rows[0], "-" * len(rows[0]), *rows[1:]]))
    return "\n\n".join([*blocks, NOTE])
