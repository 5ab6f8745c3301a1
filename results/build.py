"""Write the tables of the documents from the committed runs, and their reports.

python results/build.py             # tables between the marks `<!-- table NAME -->` and `<!-- end -->`
python results/build.py --reports   # also results/NAME/report.html, and the figures of results/ablations.md
python results/build.py --check     # change nothing; exit 1 if a table is not what the runs give
"""

import argparse
import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from network_tables import RECALIBRATIONS, against, candidates, halves, recalibrations
from paper_tables import LEVELS, at_equal_accuracy, debiased, differences, frequencies, misfits, proper_scores

from cusal.apps.bench.report import Curves, write_curves
from cusal.apps.bench.report.contents.learning_plots import difference_curves
from cusal.apps.bench.report.curves import ACCURACY, ECE, ESTIMATED, KNOWN, POOL_ECE, RECALIBRATED_ECE, Key
from cusal.apps.bench.report.from_store import load
from cusal.apps.bench.report.markdown import table_lines
from cusal.apps.bench.report.measures import ON_POOL, Measure
from cusal.apps.bench.report.plot import save
from cusal.apps.bench.report.styles import styles
from cusal.apps.bench.report.suites import MEASURED, Suite, find_suites, rank, rank_table, wilcoxon_p
from cusal.apps.bench.report.sweeps import Sweep, find_sweeps, sweep_tables
from cusal.apps.bench.report.tables import estimator_table, milestone_table
from cusal.apps.bench.store import ExportedRuns

RESULTS = Path(__file__).parent
ROOT = RESULTS.parent
PAPER = tomllib.loads((RESULTS / "paper.toml").read_text())
for measures in PAPER.values():
    for by_strategy in measures.values():
        if "cusal-listing" in by_strategy:  # the paper has one method: its figures stand beside the exact form too
            by_strategy["cusal"] = by_strategy["cusal-listing"]
PAPERS = ("mnist", "mnist_unit", "fashion_mnist")  # one experiment each, set beside the paper's tables
OTHERS = ("ablations", "small", "networks")  # many experiments each
SUITES = ("light",)  # suites of tasks, with several heads each
HEADS = {  # each suite, and the one of another head that it is set against
    "light-pool": "light-accuracy",
    "light-cv": "light-accuracy",
    "light-forest": "light-accuracy",
    "light-boosting": "light-accuracy",
    "light-keel-pool": "light-keel",
}
SEEDS = {"chosen": range(5), "confirm": range(5, 10)}  # what was chosen by, and what is to confirm it
WITH_TABLES = (
    *(f"docs/{name}" for name in ("results", "which-items")),
    *(f"results/{name}" for name in ("ablations", "light-heads", "networks-few-labels")),
)
DOCUMENTS = [ROOT / f"{name}.md" for name in WITH_TABLES]
DRAWN = ("ablation-recalibration", "ablation-augmentation")  # experiments with a figure of differences

HALVES = {"mnist": (420, 220), "fashion_mnist": (1020, 520)}  # labels of margin, the paper's T, and of NAME-best
PAIRS = (
    ("margin", "least_confidence"),
    ("cusal-listing", "least_confidence"),
    ("cusal-listing", "margin"),
    ("cusal", "least_confidence"),
    ("cusal", "margin"),
    ("least_confidence", "random"),
    ("badge", "margin"),
)


@cache
def exported(name: str) -> ExportedRuns:
    """Return the runs in results/NAME, read once."""
    return ExportedRuns(RESULTS / name)


def finished(name: str) -> list[dict[str, Any]]:
    """Return those of them that came to their end."""
    return [row for row in exported(name).runs() if row["status"] == "done"]


def read_curves(name: str) -> list[Curves]:
    """Return the curves of the finished runs, by experiment."""
    done = [row["id"] for row in finished(name)]
    return load(exported(name), done) if done else []


def overlap(name: str) -> list[str]:
    """Return Markdown lines: how many items cusal and least confidence both chose, by seed, and what decided."""
    lines = ["| seed | items that both chose | rounds that the error decided |", "|---|---|---|"]
    ids = {(row["strategy"], row["seed"]): row["id"] for row in finished(name)}
    for seed in sorted(seed for strategy, seed in ids if strategy == "cusal" and ("least_confidence", seed) in ids):
        ours, theirs = (exported(name).picks([ids[strategy, seed]]) for strategy in ("cusal", "least_confidence"))
        both = len({pick["item"] for pick in ours} & {pick["item"] for pick in theirs})
        rounds = sorted({pick["round"] for pick in ours if pick["decided_by"] == "calibration"})
        lines.append(f"| {seed} | {both} of {len(ours)} | {', '.join(map(str, rounds)) or 'none'} |")
    return lines


def cell(values: np.ndarray, scale: float, decimals: int, *, spread: bool = True) -> str:
    """Return mean and standard deviation over the seeds that are there."""
    values = values[np.isfinite(values)] * scale
    text = f"{values.mean():.{decimals}f}"
    return f"{text} ± {values.std(ddof=1):.{decimals}f}" if spread and len(values) > 1 else text


def table(curves: Curves, name: str, measure: str, key: Key) -> list[str]:
    """Return Markdown lines: one row for each strategy, four times, the paper's mean in brackets."""
    scale, decimals = (100, 1) if measure == "accuracy" else (1, 3)
    paper = PAPER[name.removesuffix("_unit")].get(measure, {})
    times = [0, *curves.milestones] if measure == "pool" else curves.milestones  # the paper has t = 0 of the pool alone
    lines = [f"| strategy | seeds | {' | '.join(f't = {t}' for t in times)} |", "|---|---|" + "---|" * len(times)]
    for place, strategy in enumerate(curves.strategies):
        values = curves.values[key][place]
        seeds = int(np.isfinite(values[:, curves.rounds]).sum())
        cells = []
        for column, t in enumerate(times):
            own = cell(values[:, t], scale, decimals)
            cells.append(f"{own} ({paper[strategy][column]:.{decimals}f})" if strategy in paper else own)
        lines.append(f"| {strategy} | {seeds} | {' | '.join(cells)} |")
    return lines


def summary(curves: Curves) -> list[str]:
    """Return Markdown lines: the end of the budget, and the mean over all rounds."""
    lines = [
        "| strategy | seeds | accuracy % at T | ECE | recalibrated | over rounds: accuracy % | ECE | recalibrated |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for place, strategy in enumerate(curves.strategies):
        accuracy, ece, recalibrated = (curves.values[key][place] for key in (ACCURACY, ECE, RECALIBRATED_ECE))
        last = curves.rounds
        seeds = int(np.isfinite(accuracy[:, last]).sum())
        cells = [cell(accuracy[:, last], 100, 1), cell(ece[:, last], 1, 3), cell(recalibrated[:, last], 1, 3)]
        cells += [
            cell(accuracy.mean(axis=1), 100, 1),
            cell(ece.mean(axis=1), 1, 3),
            cell(recalibrated.mean(axis=1), 1, 3),
        ]
        lines.append(f"| {strategy} | {seeds} | {' | '.join(cells)} |")
    return lines


def decided(curves: Curves) -> list[str]:
    """Return Markdown lines: picks of a batch that the calibration error alone decided, by eighths of the batches."""
    values = curves.of_key(("picks", "decided_by", "calibration"))[:, :, : curves.rounds]  # batch t is asked in t - 1
    parts = np.array_split(np.arange(curves.rounds), 8)
    titles = [f"{part[0] + 1}-{part[-1] + 1}" for part in parts]
    lines = [f"| picks by the error, batches | {' | '.join(titles)} |", "|---|" + "---|" * len(parts)]
    for row, strategy in enumerate(curves.strategies):
        if np.isfinite(values[row]).any():
            cells = [cell(values[row][:, part].mean(axis=1), 1, 1) for part in parts]
            lines.append(f"| {strategy} | {' | '.join(cells)} |")
    return lines


def gaps(curves: Curves) -> list[str]:
    """Return Markdown lines: how far the estimated error of the pool is from the one that knows the labels."""
    gap = np.abs(curves.of_key(ESTIMATED) - curves.of_key(KNOWN))
    times = np.flatnonzero(np.isfinite(gap).any(axis=(0, 1)))
    times = times[np.linspace(0, len(times) - 1, 5).round().astype(int)]
    lines = [f"| gap of the two estimates | {' | '.join(f't = {t}' for t in times)} |", "|---|" + "---|" * len(times)]
    for row, strategy in enumerate(curves.strategies):
        lines.append(f"| {strategy} | {' | '.join(cell(gap[row, :, t], 1, 3) for t in times)} |")
    return lines


def other_tables(experiments: list[Curves]) -> dict[str, str]:
    """Return the tables of experiments that the paper has no numbers for, by `EXPERIMENT kind`."""
    made = {}
    for curves in experiments:
        name = curves.experiment
        if f"{name} summary" in made:
            raise ValueError(f"two experiments would fill the tables of {name}: keep one of them in results/")
        made[f"{name} summary"] = "\n".join(summary(curves))
        made[f"{name} decided"] = "\n".join(decided(curves))
        made |= {f"{name} {kind}": "\n".join(lines) for kind, lines in network_tables(curves).items()}
        if curves.has(ESTIMATED) and curves.has(KNOWN):
            made[f"{name} gaps"] = "\n".join(gaps(curves))
        found = {"pool": milestone_table(curves, ON_POOL), "estimator": estimator_table(curves)}
        made |= {f"{name} {kind}": "\n".join(table_lines(one)) for kind, one in found.items() if one is not None}
    for sweep in find_sweeps(experiments):
        for one in sweep_tables(sweep):
            made[f"{sweep.name} {one.name}"] = "\n".join(table_lines(one))
        if sweep.name == "mnist-setting":
            made[f"{sweep.name} settings"] = "\n".join(settings(sweep, "mnist"))
    return made


def settings(sweep: Sweep, name: str) -> list[str]:
    """Return Markdown lines: random choice under each value of a setting, beside the paper's figures of a data set."""
    first = next(iter(sweep.members.values()))
    titles = [f"t = {t}: ECE, accuracy %" for t in first.milestones]
    lines = [
        f"| {sweep.key} | seeds | pool's ECE at t = 0 | {' | '.join(titles)} |",
        "|---|---|---|" + "---|" * len(titles),
    ]
    paper = {measure: PAPER[name][measure]["random"] for measure in ("pool", "ece", "accuracy")}
    theirs = [f"{ece:.3f}, {right:.1f}" for ece, right in zip(paper["ece"], paper["accuracy"], strict=True)]
    lines.append(f"| the paper | 10 | {paper['pool'][0]:.3f} | {' | '.join(theirs)} |")
    for value, curves in sweep.members.items():
        pool, ece, accuracy = (curves.of_key(key)[0] for key in (POOL_ECE, ECE, ACCURACY))
        cells = [cell(pool[:, 0], 1, 3)]
        cells += [f"{cell(ece[:, t], 1, 3)}, {cell(accuracy[:, t], 100, 1)}" for t in curves.milestones]
        lines.append(f"| {_network_in_words(value)} | {len(curves.seeds)} | {' | '.join(cells)} |")
    return lines


def _network_in_words(value: str) -> str:
    """Return where a network drops out, from its settings as a sweep keeps them."""
    given = ast.literal_eval(value)
    last, channels = given.get("dropout", 0.0), given.get("channel_dropout", given.get("dropout", 0.0))
    return f"dropout {last}, of channels {channels}" if last or channels else "no dropout"


def head_lines(own: Suite, other: Suite) -> list[str]:
    """Return Markdown lines: how far each strategy is above itself with another head, over the tasks of both."""
    (measure,) = (one for one in MEASURED if one.key == ACCURACY)
    lines = ["| strategy | points | worst task | tasks won | p by task |", "|---|---:|---:|---:|---:|"]
    tasks = [task for task in own.members if task in other.members]
    for strategy in own.strategies:
        gains = {}
        for task in tasks:
            levels = [
                one.level for suite in (own, other) for one in rank(suite, measure, [task]) if one.strategy == strategy
            ]
            if len(levels) == 2:
                gains[task] = 100 * (levels[0] - levels[1])
        if len(gains) < 2:
            continue
        values, worst = np.array(list(gains.values())), min(gains, key=lambda task: gains[task])
        lines.append(
            f"| {strategy} | {values.mean():+.1f} | {gains[worst]:+.1f} ({worst}) | "
            f"{(values > 0).sum()} of {len(values)} | {wilcoxon_p(values):.2g} |"
        )
    return lines


def suite_tables(name: str) -> dict[str, str]:
    """Return the ranks of every suite in results/NAME, by `SUITE SEEDS MEASURE`, and the tasks one by one."""
    made, found = {}, {}
    for whole in find_suites(read_curves(name)):
        for seeds, numbers in SEEDS.items():
            suite = whole.with_seeds(numbers)
            if suite is None:
                continue
            found[suite.name, seeds] = suite
            for measure in MEASURED:
                for group in suite.parts():
                    mark = " ".join(part for part in (suite.name, seeds, measure.name, group) if part)
                    made[mark] = "\n".join(table_lines(rank_table(suite, measure, group)))
                made[f"{suite.name} {seeds} {measure.name} tasks"] = "\n".join(task_lines(suite, measure))
    for (own, seeds), suite in found.items():
        if (HEADS.get(own), seeds) in found:
            made[f"{own} {seeds} head"] = "\n".join(head_lines(suite, found[HEADS[own], seeds]))
    return made


def task_lines(suite: Suite, measure: Measure) -> list[str]:
    """Return Markdown lines: the level of the common opponent on each task, and how far the others are from it."""
    others = [one.strategy for one in rank(suite, measure) if one.strategy != suite.against]
    lines = [f"| task | seeds | {' | '.join([suite.against, *others])} |", "|---|---|" + "---|" * (1 + len(others))]
    for task, curves in suite.members.items():
        ranks = {one.strategy: one for one in rank(suite, measure, [task])}
        if suite.against not in ranks:
            continue
        cells = [f"{100 * ranks[suite.against].level:.1f}"]
        cells += [f"{100 * ranks[one].difference:+.1f}" if one in ranks and ranks[one].tasks else "" for one in others]
        lines.append(f"| {task} | {len(curves.seeds)} | {' | '.join(cells)} |")
    return lines


def network_tables(curves: Curves) -> dict[str, list[str]]:
    """Return the tables of results/networks-few-labels.md that an experiment has the numbers for, by kind."""
    made = {}
    if "diverse_margin" in curves.strategies:
        made["against"] = against(curves, "diverse_margin", ("margin", "badge", "cusal", "random"))
    if curves.has(RECALIBRATIONS):
        made |= {"recalibrations": recalibrations(curves), "candidates": candidates(curves)}
    for name in PAPERS:
        if curves.experiment == f"{name}-best":
            (whole,) = read_curves(name)
            made["halves"] = halves(curves, whole, "margin", HALVES[name])
    return made


def beside_paper(name: str, curves: Curves) -> dict[str, list[str]]:
    """Return the tables with intervals of an experiment of the paper, by kind."""
    data = name.removesuffix("_unit")
    return {
        "differences in accuracy": differences(curves, PAPER[data], "accuracy", PAIRS),
        "differences in ece": differences(curves, PAPER[data], "ece", PAIRS),
        "misfits": misfits(curves, PAPER[data]),
        "scores": proper_scores(curves),
        "equal accuracy": at_equal_accuracy(curves, LEVELS[data]),
        "debiased": debiased(curves),
        "frequency": frequencies(exported(name), finished(name), curves.rounds),
    }


def tables() -> dict[str, str]:
    """Return every table by the name of its mark."""
    made = {}
    for name in PAPERS:
        for curves in read_curves(name):
            made[f"{name} summary"] = "\n".join(summary(curves))
            made |= {f"{name} {kind}": "\n".join(lines) for kind, lines in beside_paper(name, curves).items()}
            made[f"{name} overlap"] = "\n".join(overlap(name))
            measures = {"ece": ECE, "accuracy": ACCURACY, "recalibrated": RECALIBRATED_ECE, "pool": POOL_ECE}
            for measure, key in measures.items():
                made[f"{name} {measure}"] = "\n".join(table(curves, name, measure, key))
    for name in OTHERS:
        made |= other_tables(read_curves(name))
    for name in SUITES:
        made |= suite_tables(name)
    return made


def draw_differences() -> None:
    """Draw what recalibration and augmentation change, round by round, for results/ablations.md."""
    for curves in read_curves("ablations"):
        if curves.experiment in DRAWN:
            plot = difference_curves(curves, styles(curves.strategies))
            assert plot is not None
            save(plot, ROOT / "docs" / "images" / f"difference-{curves.experiment}.svg")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a table is out of date")
    parser.add_argument("--reports", action="store_true", help="write the reports too")
    arguments = parser.parse_args()
    made, stale = tables(), []
    for path in DOCUMENTS:
        text = path.read_text()
        new = re.sub(
            r"<!-- table (.*?) -->\n.*?<!-- end -->",
            lambda mark: f"<!-- table {mark[1]} -->\n{made.get(mark[1], '*No complete run yet.*')}\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
        if new != text:
            stale.append(path.name)
            if not arguments.check:
                path.write_text(new)
    print(f"{'out of date' if arguments.check else 'rewritten'}: {', '.join(stale) or 'nothing'}")
    if arguments.reports:
        for name in PAPERS:
            for path in write_curves(read_curves(name), RESULTS / name, ("html", "tex")):
                print(path.relative_to(ROOT))
        draw_differences()
    return int(arguments.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
