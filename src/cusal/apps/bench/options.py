"""The options of `cusal bench`, `cusal report` and `cusal store`. What is heavy is imported by the command itself."""

import sys
from typing import Annotated

import typer

StorePlace = Annotated[str, typer.Argument(help="A file, or the URL of a PostgreSQL database.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands about experiments to the command line."""
    app.command()(bench)
    app.command()(report)
    stores = typer.Typer(no_args_is_help=True, help="Check a store of runs, write it to compact files, and load them.")
    stores.command("check")(store_check)
    stores.command("export")(store_export)
    stores.command("load")(store_load)
    app.add_typer(stores, name="store")


def bench(
    grid: Annotated[str | None, typer.Argument(help="A preset, or the path of a grid file (.toml).")] = None,
    strategies: Annotated[str | None, typer.Option(help="Names of strategies, separated by commas.")] = None,
    seeds: Annotated[str | None, typer.Option(help="How many (5), a range (5-9) or a list (0,3).")] = None,
    rounds: Annotated[int | None, typer.Option(help="How many batches are labelled in turn.")] = None,
    pool: Annotated[int | None, typer.Option(help="How many unlabelled items to choose from; 0 means all.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Names of a suite's tasks, separated by commas.")] = None,
    on: Annotated[str | None, typer.Option(help="A preset to use in place of the one that the grid extends.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Change any other value of the grid: --set epochs=60")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes. By default one per core, or one if there is a GPU.", min=1)
    ] = None,
    store: Annotated[str, typer.Option(help="A file, or the URL of a PostgreSQL database.")] = "runs.db",
    show: Annotated[bool, typer.Option("--list", help="List the presets and exit.")] = False,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Resume runs of others too: their checkpoints can run code.")
    ] = False,
) -> None:
    """Compare strategies on a data set; a second start does only what is missing.

    Example: cusal bench mnist --strategies cusal,margin --seeds 5 --rounds 20 --pool 10000

    An ablation at the size of the paper: cusal bench ablation-bandwidth --on svhn

    Many tasks with another classifier: cusal bench light --set 'model="sklearn.ensemble:RandomForestClassifier"'
    """
    if show:
        from cusal.apps.bench.command import list_presets

        print(list_presets())
        return
    if grid is None:
        raise typer.BadParameter("give a preset (see cusal bench --list) or the path of a grid file.")
    from cusal.apps.bench import command
    from cusal.apps.bench.grid import read_grid

    named = {"strategies": strategies, "seeds": seeds, "rounds": rounds, "pool": pool, "tasks": tasks}
    options = {key: value for key, value in named.items() if value is not None}
    wanted = command.change_grid(read_grid(grid, on=on), options, change or [])
    code = command.run(wanted, place=store, workers=workers, trusted=trusted)
    _print_tables(store, [spec.id for spec in wanted.specs()])
    raise typer.Exit(code)


def _print_tables(place: str, run_ids: list[str]) -> None:
    """Print how good each strategy is at the end, for the experiments that have finished."""
    from cusal.apps.bench.report import text_table
    from cusal.apps.bench.report.from_store import load
    from cusal.apps.bench.report.shown_names import as_shown
    from cusal.apps.bench.report.suites import find_suites, text_ranks
    from cusal.apps.bench.store import Store

    with Store(place, read_only=True) as store:
        there = {row["id"] for row in store.runs()}  # not those of tasks that were left out
        found = as_shown(load(store, there.intersection(run_ids)))
    suites = find_suites(found)
    for suite in suites:
        print(f"\n{suite.name}\n{text_ranks(suite)}")
    for curves in found:
        if curves.strategies and not suites:
            print(f"\n{curves.experiment}\n{text_table(curves)}")


def report(
    store: StorePlace,
    out: Annotated[str, typer.Option(help="The folder to write to.")] = "report",
    formats: Annotated[str, typer.Option("--format", help="Any of html, md, tex, csv.")] = "html,md,tex,csv",
) -> None:
    """Write a report of the runs in a store: tables, significance tests and figures.

    Example: cusal report runs.db --out report --format html
    """
    from cusal.apps.bench.report import write
    from cusal.apps.bench.store import Store

    with Store(store, read_only=True) as source:
        wanted = [name.strip() for name in formats.split(",") if name.strip()]
        for path in write(source, out, wanted, tell=lambda text: print(text, file=sys.stderr, flush=True)):
            print(path)


def store_export(
    store: StorePlace,
    folder: Annotated[str, typer.Argument(help="The folder to write to.")],
    compact: Annotated[
        bool, typer.Option("--compact", help="Leave out picks, bins, scores on the pool, and runs that are not done.")
    ] = False,
) -> None:
    """Write the runs of a store to compact files, which cusal store load reads.

    Example: cusal store export runs.db results/mnist
    """
    from cusal.apps.bench.store import Store

    with Store(store, read_only=True) as source:
        print(source.export(folder, compact=compact))


def store_check(store: StorePlace) -> None:
    """Compare a store with the digests that were written with every round, and name what is damaged.

    Example: cusal store check runs.db
    """
    from cusal.apps.bench.store import Store

    with Store(store, read_only=True) as source:
        found = source.check()
    found.require()
    print(found)


def store_load(store: StorePlace, folder: Annotated[str, typer.Argument(help="A folder that export wrote.")]) -> None:
    """Put exported runs into a store, new or old. Unfinished runs can then be resumed.

    Example: cusal store load runs.db results/mnist
    """
    from cusal.apps.bench.store import Store

    with Store(store) as target:
        print(target.load(folder))
