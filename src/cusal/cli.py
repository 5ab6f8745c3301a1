"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

import sys
from typing import Annotated, NoReturn

import typer

from cusal._version import __version__
from cusal.errors import CusalError

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True, help="List the data sets, find their folder, download them.")
store_app = typer.Typer(no_args_is_help=True, help="Write a store of runs to compact files, and load them back.")
app.add_typer(data_app, name="data")
app.add_typer(store_app, name="store")

StorePlace = Annotated[str, typer.Argument(help="A file, or the URL of a PostgreSQL database.")]
DataName = Annotated[str, typer.Argument(help="The name of a data set: see cusal data list.")]


def main() -> None:
    """Run the command line; a CusalError becomes one line and exit code 1."""
    try:
        app()
    except CusalError as error:
        _fail(error)


def _fail(error: CusalError) -> NoReturn:
    print(f"cusal: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(1)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"cusal {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Label fewer items, and get a classifier that is accurate and honest about its confidence.

    Example: cusal bench demo, then cusal report runs.db

    To complete commands and options with the Tab key, run once: cusal --install-completion
    """


@app.command()
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
) -> None:
    """Compare strategies on a data set; a second start does only what is missing.

    Example: cusal bench mnist --strategies cusal,margin --seeds 5 --rounds 20 --pool 10000

    An ablation at the size of the paper: cusal bench ablation-bandwidth --on svhn

    Many tasks with another classifier: cusal bench light --set 'model="sklearn.ensemble:RandomForestClassifier"'
    """
    if show:
        from cusal.bench.command import list_presets

        print(list_presets())
        return
    if grid is None:
        raise typer.BadParameter("give a preset (see cusal bench --list) or the path of a grid file.")
    from cusal.bench import command
    from cusal.bench.grid import read_grid

    named = {"strategies": strategies, "seeds": seeds, "rounds": rounds, "pool": pool, "tasks": tasks}
    options = {key: value for key, value in named.items() if value is not None}
    wanted = command.change_grid(read_grid(grid, on=on), options, change or [])
    code = command.run(wanted, place=store, workers=workers)
    _print_tables(store, [spec.id for spec in wanted.specs()])
    raise typer.Exit(code)


def _print_tables(place: str, run_ids: list[str]) -> None:
    """Print how good each strategy is at the end, for the experiments that have finished."""
    from cusal.bench.report import text_table
    from cusal.bench.report.from_store import load
    from cusal.bench.report.suites import find_suites, text_ranks
    from cusal.bench.store import Store

    with Store(place, create=False) as store:
        there = {row["id"] for row in store.runs()}  # not those of tasks that were left out
        found = load(store, there.intersection(run_ids))
    suites = find_suites(found)
    for suite in suites:
        print(f"\n{suite.name}\n{text_ranks(suite)}")
    for curves in found:
        if curves.strategies and not suites:
            print(f"\n{curves.experiment}\n{text_table(curves)}")


@app.command()
def report(
    store: StorePlace,
    out: Annotated[str, typer.Option(help="The folder to write to.")] = "report",
    formats: Annotated[str, typer.Option("--format", help="Any of html, md, tex, csv.")] = "html,md,tex,csv",
) -> None:
    """Write a report of the runs in a store: tables, significance tests and figures.

    Example: cusal report runs.db --out report --format html
    """
    from cusal.bench.report import write
    from cusal.bench.store import Store

    with Store(store, create=False) as source:
        wanted = [name.strip() for name in formats.split(",") if name.strip()]
        for path in write(source, out, wanted, tell=lambda text: print(text, file=sys.stderr, flush=True)):
            print(path)


@app.command()
def score(
    pool: Annotated[
        str, typer.Option(help="A file of probabilities (.npy, .npz, .parquet), or a folder of such files.")
    ],
    batch_size: Annotated[int, typer.Option("-k", "--batch-size", help="How many items to pick.")],
    labelled: Annotated[
        str | None, typer.Option(help="The labelled points, with labels. The strategy cusal needs them.")
    ] = None,
    out: Annotated[str, typer.Option(help="The CSV file to write.")] = "picks.csv",
    strategy: Annotated[
        str, typer.Option(help="cusal, least_confidence, margin, entropy, random, or your own package.module:Name.")
    ] = "cusal",
    bandwidth: Annotated[float | None, typer.Option(help="Of the kernel of cusal. By default 0.001.")] = None,
    seed: Annotated[int, typer.Option(help="For strategies that draw at random.")] = 0,
    engine: Annotated[str, typer.Option(help="local, or ray for a Ray cluster.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster. By default a new one on this machine.")] = None,
) -> None:
    """Pick from a pool in files, however large. If it is stopped, the same command resumes.

    Example: cusal score --pool pool/ --labelled labelled.npz -k 1000 --out picks.csv

    In Python: cusal.score_files("pool/", "labelled.npz", batch_size=1000, out="picks.csv")
    """
    from cusal import scale
    from cusal import strategies as known

    settings = {} if bandwidth is None else {"bandwidth": bandwidth}
    scale.score_files(
        pool,
        labelled,
        batch_size=batch_size,
        out=out,
        strategy=known.make(strategy, **settings),
        engine=scale.find_engine(engine, address),
        seed=seed,
    )
    print(out)


@app.command()
def strategies() -> None:
    """List the strategies, each with what it does and for whom it is.

    Example: cusal strategies
    """
    from cusal import strategies as known

    found = {name: known.find(name) for name in known.names()}
    does = {name: (kind.__doc__ or "").partition("\n")[0] for name, kind in found.items()}
    width = max(map(len, does.values()))
    for name, kind in found.items():
        print(f"{name:18} {does[name]:{width}}  For {kind.for_whom}.")


@data_app.command("list")
def data_list() -> None:
    """List the data sets, and say which of them are on this machine.

    Example: cusal data list
    """
    from cusal import datasets

    for row in datasets.describe():
        shape = " x ".join(map(str, row.shape)) or "text"
        size = f"{row.train} + {row.test} items, {shape}, {row.classes} classes"
        print(f"{row.name:14} {'here' if row.present else 'to get':7} {size:48} {row.title}")


@data_app.command("where")
def data_where(name: DataName) -> None:
    """Print the folder in which the files of a data set lie, or belong.

    Example: cusal data where mnist
    """
    from cusal import datasets

    print(datasets.where(name))


@data_app.command("get")
def data_get(name: DataName) -> None:
    """Download a data set, check it, and print its folder. A stopped download resumes.

    Example: cusal data get mnist
    """
    from cusal import datasets

    print(datasets.get(name))


@store_app.command("export")
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
    from cusal.bench.store import Store

    with Store(store, create=False) as source:
        print(source.export(folder, compact=compact))


@store_app.command("load")
def store_load(store: StorePlace, folder: Annotated[str, typer.Argument(help="A folder that export wrote.")]) -> None:
    """Put exported runs into a store, new or old. Unfinished runs can then be resumed.

    Example: cusal store load runs.db results/mnist
    """
    from cusal.bench.store import Store

    with Store(store) as target:
        print(target.load(folder))
