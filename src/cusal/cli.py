"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

import sys
from typing import Annotated, NoReturn

import typer

from cusal._version import __version__
from cusal.errors import CusalError

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True, help="List the data sets, find their folder, download them.")
store_app = typer.Typer(no_args_is_help=True, help="Check a store of runs, write it to compact files, and load them.")
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

    with Store(place, read_only=True) as store:
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

    with Store(store, read_only=True) as source:
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
def label(
    data: Annotated[str, typer.Argument(help="A folder of images, or a table: CSV, TSV, JSONL or Parquet.")],
    classes: Annotated[str | None, typer.Option(help="Names of classes, separated by commas. More can follow.")] = None,
    text: Annotated[str | None, typer.Option(help="The column with the text. By default it is found.")] = None,
    known: Annotated[str | None, typer.Option("--label", help="A column with labels that are known already.")] = None,
    labels: Annotated[str | None, typer.Option(help="A CSV file with known labels: file,label on each line.")] = None,
    folders_are_labels: Annotated[bool, typer.Option(help="The names of sub-folders are known labels.")] = False,
    port: Annotated[int | None, typer.Option(help="By default 8765, or the next free one.", min=0, max=65535)] = None,
    host: Annotated[
        str | None, typer.Option(help="Let others in, by a link with a token: an address or name, or 0.0.0.0 for all.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="The project file, or the URL of a PostgreSQL database. By default beside DATA.")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Labels between two rounds of learning. By default 10.", min=1)
    ] = None,
    budget: Annotated[int | None, typer.Option(help="How many labels you plan.", min=1)] = None,
    overlap: Annotated[int | None, typer.Option(help="How many people answer each item. By default 1.", min=1)] = None,
    features: Annotated[str | None, typer.Option(help="Your own: FILE.npy or package.module:function.")] = None,
    model: Annotated[str | None, typer.Option(help="Such as sklearn.linear_model:LogisticRegression.")] = None,
    seed: Annotated[int | None, typer.Option(help="For everything that is drawn. By default 0.", min=0)] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Label images or texts in the browser, while a model learns and chooses what to ask.

    Example: cusal label photos/ --classes cat,dog,neither

    Texts of a table: cusal label reviews.csv --text review --budget 500. Starting again continues the project.

    With others: cusal label photos/ --host 0.0.0.0 --overlap 2
    """
    from cusal.label.command import Listening, Options, SourceOptions, label

    named = {"batch": batch, "budget": budget, "overlap": overlap, "features": features, "model": model, "seed": seed}
    options = Options(
        data,
        store=store,
        source=SourceOptions(text, known, folders_are_labels, labels),
        classes=tuple(classes.split(",")) if classes else (),
        changes={name: value for name, value in named.items() if value is not None},
    )
    label(options, Listening(host, port, browser))


@app.command()
def export(
    project: Annotated[str, typer.Argument(help="A project file, its URL, or the data that it is about.")],
    out: Annotated[str | None, typer.Option(help="The folder to write. By default a new one.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Any of csv, jsonl, parquet, labelstudio, imagefolder, model.")
    ] = "csv",
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is there.")] = False,
) -> None:
    """Write the labels of a project, predictions of everything else, and the model with a card.

    Example: cusal export photos.cusal.db --format csv,imagefolder

    In Python: cusal.label.write_export(project, "photos-export", ["csv"])
    """
    from cusal.label.export import command

    for path in command.export(project, out, command.as_formats(formats), force=force):
        print(path)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A model file that cusal export wrote, or a project.")],
    data: Annotated[str, typer.Argument(help="A folder of images, or a table, as for cusal label.")],
    out: Annotated[str, typer.Option(help="The table to write: .csv, .jsonl or .parquet.")] = "predictions.csv",
    text: Annotated[str | None, typer.Option(help="The column with the texts, if it is not found.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run code of yours that the model file names, such as own features.")
    ] = False,
) -> None:
    """Classify new data: the class of each item, how sure it is, and the probability of every class.

    Example: cusal predict model.cusal new_photos --out predictions.csv

    In Python: cusal.load_model("model.cusal").predict_proba(items)
    """
    from cusal.label.export import command

    print(command.predict(model, data, out, text=text, trusted=trust))


@app.command()
def audit(
    predictions: Annotated[
        str, typer.Argument(help="A table (.csv, .tsv, .jsonl, .parquet): a prediction in each row.")
    ],
    labels: Annotated[
        list[str] | None, typer.Option(help="A table of checked items, as --out wrote it. May be given several times.")
    ] = None,
    count: Annotated[int, typer.Option("-k", "--count", help="How many items to check next.", min=1)] = 50,
    hunt: Annotated[bool, typer.Option("--hunt", help="Ask for the items that are most likely wrong.")] = False,
    guarantee: Annotated[
        float | None, typer.Option(help="Find the part that is right to this share: --guarantee .98")
    ] = None,
    accept: Annotated[
        float | None, typer.Option(help="Find the part to accept so that at most this share of all is wrong.")
    ] = None,
    out: Annotated[str, typer.Option(help="The CSV file to write the next items to.")] = "next.csv",
    report: Annotated[str | None, typer.Option(help="Write a page with all results: --report audit.html")] = None,
    label: Annotated[str | None, typer.Option(help="The column of the predicted label, if it is not found.")] = None,
    confidence: Annotated[str | None, typer.Option(help="The column of the confidence, if it is not found.")] = None,
    key: Annotated[str | None, typer.Option("--id", help="The column of the id, if it is not found.")] = None,
    text: Annotated[str | None, typer.Option(help="The column of the text or image path, if it is not found.")] = None,
    seed: Annotated[int, typer.Option(help="Of the order of checking: keep it from day to day.", min=0)] = 0,
) -> None:
    """Say how good given predictions are, from few checks, and which items to check next.

    Example: cusal audit predictions.csv -k 50, fill in next.csv, then cusal audit predictions.csv --labels next.csv

    In Python: cusal.Audit(probs).ask(50)
    """
    from cusal.audit.command import Request, run
    from cusal.audit.prediction_table import Columns

    columns = Columns(label, confidence, key, text)
    wanted = Request(predictions, labels or (), columns, count, hunt, guarantee, accept, seed, out, report)
    print(run(wanted))


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

    with Store(store, read_only=True) as source:
        print(source.export(folder, compact=compact))


@store_app.command("check")
def store_check(store: StorePlace) -> None:
    """Compare a store with the digests that were written with every round, and name what is damaged.

    Example: cusal store check runs.db
    """
    from cusal.bench.store import Store

    with Store(store, read_only=True) as source:
        found = source.check()
    found.require()
    print(found)


@store_app.command("load")
def store_load(store: StorePlace, folder: Annotated[str, typer.Argument(help="A folder that export wrote.")]) -> None:
    """Put exported runs into a store, new or old. Unfinished runs can then be resumed.

    Example: cusal store load runs.db results/mnist
    """
    from cusal.bench.store import Store

    with Store(store) as target:
        print(target.load(folder))
