"""What a report says about one experiment, in order, before it is set as a page, Markdown or LaTeX."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cusal.apps.bench.report.curves import Curves, mean
from cusal.apps.bench.report.exhibits import Exhibit, make_exhibits
from cusal.apps.bench.report.measures import TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED
from cusal.apps.bench.report.significance import LEAST_SEEDS, best, significant_best
from cusal.apps.bench.report.styles import Styles, styles
from cusal.apps.bench.report.suites import Suite, find_suites, suite_tables
from cusal.apps.bench.report.sweeps import Sweep, find_sweeps, sweep_plot, sweep_tables

INTRODUCTION = (
    "A model starts with a few labelled items. In each round a strategy chooses the next batch of items to "
    "label from a pool of unlabelled ones, the labels are bought, and the model is trained again. A good "
    "strategy makes the model accurate with few labels; a good model is also honest, so that its confidence "
    "says how often it is right. Every strategy is run with several seeds; runs of one seed share their "
    "start, so they are compared in pairs."
)


@dataclass(frozen=True)
class Headline:
    """The best strategy of one measure in the last round that all have reached; several where they are equal."""

    title: str
    strategy: str
    value: str
    remark: str


@dataclass(frozen=True)
class Section:
    """One experiment: facts, headlines, exhibits, settings, and the runs that did not come to their end.

    about: the title of its grid, and its data set.
    settings: those that all runs share; own_settings: by strategy, those that differ.
    """

    title: str
    about: str
    facts: str
    headlines: tuple[Headline, ...]
    exhibits: tuple[Exhibit, ...]
    settings: Mapping[str, str]
    own_settings: Mapping[str, Mapping[str, str]]
    unfinished: tuple[tuple[str, str, str, str], ...]


def sections(experiments: Iterable[Curves]) -> tuple[list[Section], Styles]:
    """Return a section for each suite, sweep and experiment, and the look of every strategy that any of them has."""
    experiments = list(experiments)
    # Those that most experiments have come first, so that they get the colours that are easiest to tell apart.
    common = Counter(strategy for curves in experiments for strategy in curves.strategies)
    looks = styles(sorted(common, key=lambda strategy: -common[strategy]))
    sweeps = [_sweep_section(sweep, looks) for sweep in find_sweeps(experiments)]
    suites = [_suite_section(suite) for suite in find_suites(experiments)]
    return suites + sweeps + [_section(curves, looks) for curves in experiments], looks


def report_title(experiments: Iterable[Curves]) -> str:
    """Return the heading of a whole report, with the title of the grid where all experiments have the same."""
    title = _shared_title(experiments)
    return f"Active learning report: {title}" if title else "Active learning report"


def _shared_title(experiments: Iterable[Curves]) -> str:
    titles = {curves.about.title for curves in experiments}
    return titles.pop() if len(titles) == 1 else ""


def told(shown: Sequence[Section], kind: str, tell: Callable[[str], None] | None) -> Iterator[Section]:
    """Yield the sections one by one, saying which comes next: drawing the figures of one takes seconds."""
    for number, section in enumerate(shown, start=1):
        if tell:
            tell(f"{kind} {number} of {len(shown)}: {section.title}")
        yield section


def listed(settings: Mapping[str, str]) -> str:
    """Return settings as one line of text."""
    return ", ".join(f"{name} = {value}" for name, value in settings.items())


def _section(curves: Curves, looks: Styles) -> Section:
    shared, own = _settings(curves)
    return Section(
        title=curves.experiment,
        about=str(curves.about),
        facts=_facts(curves),
        headlines=tuple(_headlines(curves)),
        exhibits=tuple(make_exhibits(curves, looks)) if curves.strategies else (),
        settings=shared,
        own_settings=own,
        unfinished=tuple(
            (run.strategy, str(run.seed), _progress(run.status, run.reached, run.rounds), run.traceback or "")
            for run in curves.unfinished
        ),
    )


def _suite_section(suite: Suite) -> Section:
    return Section(
        title=f"{suite.name}: all tasks",
        about=_shared_title(suite.members.values()),
        facts=f"{len(suite.members)} tasks: {', '.join(suite.members)}. Each has a section of its own below.",
        headlines=(),
        exhibits=(Exhibit("ranks", "Rank over tasks", None, suite_tables(suite)),),
        settings={},
        own_settings={},
        unfinished=(),
    )


def _sweep_section(sweep: Sweep, looks: Styles) -> Section:
    plot = sweep_plot(sweep, looks)
    return Section(
        title=f"{sweep.name}: {sweep.key}",
        about=str(next(iter(sweep.members.values())).about),
        facts=f"The experiment with {sweep.key} = {', '.join(sweep.members)}; each has a section of its own below.",
        headlines=(),
        exhibits=(Exhibit(plot.name, plot.title, plot, sweep_tables(sweep)),),
        settings={},
        own_settings={},
        unfinished=(),
    )


def _progress(status: str, reached: int, rounds: int) -> str:
    far = "before its first round was done" if reached < 0 else f"after round {reached} of {rounds}"
    return f"{ {'open': 'waiting'}.get(status, status) } {far}"


def _facts(curves: Curves) -> str:
    if not curves.strategies:
        return "No round of any run is done yet."
    counts = [
        len({run.seed for run in curves.runs if run.strategy == s and run.reached >= 0}) for s in curves.strategies
    ]
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    first, last = curves.labelled[0], curves.labelled[np.isfinite(curves.labelled)][-1]
    left = len(curves.unfinished)
    stopped = len(curves.stopped)
    early = f" {stopped} of {len(curves.runs)} runs stopped early and keep their last values." if stopped else ""
    unfinished = f" {left} of {len(curves.runs)} runs are not finished: see the end of this section." if left else ""
    return (
        f"{_count(len(curves.strategies), 'strategy', 'strategies')}, {seeds} "
        f"{'seed' if seeds == '1' else 'seeds'} each, from {first:.0f} to {last:.0f} labels. t counts the "
        f"batches that were labelled, T = {curves.rounds} in all.{early}{unfinished}"
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _headlines(curves: Curves) -> Iterable[Headline]:
    if len(curves.strategies) < 2:
        return
    for measure in (TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED):
        values = curves.of_key(measure.key)
        full = np.flatnonzero(np.isfinite(values).any(axis=1).all(axis=0))  # rounds that every strategy has
        if not len(full):
            continue
        last = values[:, :, full[-1]]
        row = best(last, higher=measure.higher)
        if row is None:
            continue
        value = measure.write(float(mean(last, axis=1)[row]))
        first = [s for s, of in zip(curves.strategies, mean(last, axis=1), strict=True) if measure.write(of) == value]
        if len(first) > 1:
            remark = "equal to the digits shown"
        elif significant_best(last, higher=measure.higher) is not None:
            remark = "significantly better than every other"
        elif len(curves.seeds) < LEAST_SEEDS:
            remark = f"not tested: fewer than {LEAST_SEEDS} seeds"
        else:
            remark = "not significantly better than every other"
        words = measure.title[0].lower() + measure.title[1:]
        yield Headline(
            title=f"{'Highest' if measure.higher else 'Lowest'} {words} at t = {full[-1]}",
            strategy=_in_words(first),
            value=value,
            remark=remark,
        )


def _settings(curves: Curves) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Split the settings into those of all runs, and those of a strategy's runs that others do not share."""
    every = [run.settings for run in curves.runs]
    names = dict.fromkeys(name for settings in every for name in settings)
    shared = {n: every[0][n] for n in names if len({settings.get(n) for settings in every}) == 1}
    own: dict[str, dict[str, str]] = {}
    for run in curves.runs:
        differing = {name: value for name, value in run.settings.items() if name not in shared}
        if differing:
            own[run.strategy] = differing
    return shared, own


def _in_words(names: Sequence[str]) -> str:
    """Return names as one phrase, such as "badge, bald and margin"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
