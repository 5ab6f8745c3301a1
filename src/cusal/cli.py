"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

import sys
from typing import Annotated, NoReturn

from cusal.errors import CusalError, MissingExtra

try:
    import typer
except ImportError:
    print(f"cusal: {MissingExtra('the command line', 'bench')}", file=sys.stderr)
    sys.exit(1)

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True, help="The data sets: which there are, where they lie, how to get them.")
store_app = typer.Typer(no_args_is_help=True, help="Stores of runs as compact files, to keep or to move.")
app.add_typer(data_app, name="data")
app.add_typer(store_app, name="store")

StorePlace = Annotated[str, typer.Argument(help="A file, or the URL of a PostgreSQL database.")]


def main() -> None:
    """Run the command line; a CusalError becomes one line and exit code 1."""
    try:
        app()
    except CusalError as error:
        _fail(error)


def _fail(error: CusalError) -> NoReturn:
    print(f"cusal: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(1)


@app.callback()
def about() -> None:
    """Label fewer items, and get a classifier that is accurate and honest about its confidence."""


@app.command()
def bench(
    grid: Annotated[str | None, typer.Argument(help="A preset, or the path of a grid file (.toml).")] = None,
    strategies: Annotated[str | None, typer.Option(help="Names, separated by commas.")] = None,
    seeds: Annotated[str | None, typer.Option(help="How many (5), a range (5-9) or a list (0,3).")] = None,
    rounds: Annotated[int | None, typer.Option(help="How many batches are asked for.")] = None,
    pool: Annotated[int | None, typer.Option(help="How many items are open besides the warm-up; 0 is all.")] = None,
    on: Annotated[str | None, typer.Option(help="Another preset in place of the one that the grid extends.")] = None,
    change: Annotated[list[str] | None, typer.Option("--set", help="Any other value: --set epochs=60")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; as many as cores, or one with a GPU.", min=1)] = None,
    store: Annotated[str, typer.Option(help="A file, or the URL of a PostgreSQL database.")] = "runs.db",
    show: Annotated[bool, typer.Option("--list", help="List the presets and end.")] = False,
) -> None:
    """Run an experiment; starting it again does only what is missing.

    Example: cusal bench mnist --strategies cusal,margin --seeds 5 --rounds 20 --pool 10000

    An ablation at the paper's size: cusal bench ablation-bandwidth --on svhn
    """
    if show:
        from cusal.bench.command import list_presets

        print(list_presets())
        return
    if grid is None:
        raise typer.BadParameter("give a preset (see cusal bench --list) or the path of a grid file.")
    from cusal.bench import command
    from cusal.bench.grid import read_grid

    named = {"strategies": strategies, "seeds": seeds, "rounds": rounds, "pool": pool}
    options = {key: value for key, value in named.items() if value is not None}
    wanted = command.change_grid(read_grid(grid, on=on), options, change or [])
    code = command.run(wanted, place=store, workers=workers)
    _print_tables(store, [spec.id for spec in wanted.specs()])
    raise typer.Exit(code)


def _print_tables(place: str, run_ids: list[str]) -> None:
    """Print how good each strategy is at the end, for the experiments that came to it."""
    from cusal.bench.report import text_table
    from cusal.bench.report.from_store import load
    from cusal.bench.store import Store

    with Store(place, create=False) as store:
        for curves in load(store, run_ids):
            if curves.strategies:
                print(f"\n{curves.experiment}\n{text_table(curves)}")


@app.command()
def report(
    store: StorePlace,
    out: Annotated[str, typer.Option(help="The folder to write to.")] = "report",
    formats: Annotated[str, typer.Option("--format", help="Any of html, md, tex, csv.")] = "html,md,tex,csv",
) -> None:
    """Write tables, tests and figures of the runs in a store.

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
    pool: Annotated[str, typer.Option(help="The pool: .npy, .npz, Parquet, or a folder of such parts.")],
    batch_size: Annotated[int, typer.Option("-k", "--batch-size", help="How many picks.")],
    labelled: Annotated[str | None, typer.Option(help="The labelled points, with labels; for cusal.")] = None,
    out: Annotated[str, typer.Option(help="The file to write.")] = "picks.csv",
    strategy: Annotated[str, typer.Option(help="cusal, least_confidence, margin, entropy or random.")] = "cusal",
    bandwidth: Annotated[float, typer.Option(help="Of the kernel of cusal.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="For random.")] = 0,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster; a new one here unless told.")] = None,
) -> None:
    """Pick from a pool in files, however large; stopped and started again, it goes on where it was.

    Example: cusal score --pool pool/ --labelled labelled.npz -k 1000 --out picks.csv
    """
    from cusal import scale

    request = scale.Request(batch_size, strategy=strategy, bandwidth=bandwidth, seed=seed)
    scale.score(scale.Files(pool, out, labelled), request, engine=scale.find_engine(engine, address))
    print(out)


@app.command()
def strategies() -> None:
    """List the strategies and what each does.

    Example: cusal strategies
    """
    from cusal import strategies as known

    for name in known.names():
        print(f"{name:18} {(known.find(name).__doc__ or '').splitlines()[0]}")


@data_app.command("list")
def data_list() -> None:
    """List the data sets, and which are there.

    Example: cusal data list
    """
    from cusal import datasets

    for row in datasets.describe():
        shape = " x ".join(map(str, row.shape))
        size = f"{row.train} + {row.test} items, {shape}, {row.classes} classes"
        print(f"{row.name:14} {'here' if row.present else 'to get':7} {size:48} {row.title}")


@data_app.command("where")
def data_where(name: Annotated[str, typer.Argument(help="The name of a data set.")]) -> None:
    """Print the folder of a data set.

    Example: cusal data where mnist
    """
    from cusal import datasets

    print(datasets.where(name))


@data_app.command("get")
def data_get(name: Annotated[str, typer.Argument(help="The name of a data set.")]) -> None:
    """Download a data set, check it, and print its folder; goes on where it stopped.

    Example: cusal data get mnist
    """
    from cusal import datasets

    print(datasets.get(name))


@store_app.command("export")
def store_export(store: StorePlace, folder: Annotated[str, typer.Argument(help="The folder to write to.")]) -> None:
    """Write the runs of a store to compact files that load back.

    Example: cusal store export runs.db results/mnist
    """
    from cusal.bench.store import Store

    with Store(store, create=False) as source:
        print(source.export(folder))


@store_app.command("load")
def store_load(store: StorePlace, folder: Annotated[str, typer.Argument(help="A folder that export wrote.")]) -> None:
    """Put exported runs into a store, new or not; unfinished ones go on from there.

    Example: cusal store load runs.db results/mnist
    """
    from cusal.bench.store import Store

    with Store(store) as target:
        print(target.load(folder))
