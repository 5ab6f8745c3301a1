"""The command line: parse, call, print. Everything heavy is imported by the command that needs it.

The commands of a room that has a file `options.py` are there.
"""

import sys
from typing import Annotated, NoReturn

import typer

from cusal._progress import term_like_interrupt
from cusal._version import __version__
from cusal.adapters import options as adapter_options
from cusal.apps.bench import options as bench_options
from cusal.errors import CusalError
from cusal.scale import options as scale_options

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)
data_app = typer.Typer(no_args_is_help=True, help="List the data sets, find their folder, download them.")
app.add_typer(data_app, name="data")

NO_HEADER = "The first line of a CSV is a row and names no columns. By default that is found."
DataName = Annotated[str, typer.Argument(help="The name of a data set: see cusal data list.")]


def main() -> None:
    """Run the command line; a CusalError becomes one line and exit code 1, and SIGTERM does what Ctrl-C does."""
    try:
        with term_like_interrupt():
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


bench_options.add_to(app)
scale_options.add_to(app)
adapter_options.add_to(app)


@app.command()
def label(
    data: Annotated[str, typer.Argument(help="A folder of images, or a table: CSV, TSV, JSONL, Parquet, or .txt.")],
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
    audit: Annotated[
        bool, typer.Option("--audit", help="DATA is a table of predictions, as for cusal audit: check them.")
    ] = False,
    confidence: Annotated[str | None, typer.Option(help="With --audit: the column of the confidence.")] = None,
    key: Annotated[str | None, typer.Option("--id", help="The column of the id. By default it is found.")] = None,
    no_header: Annotated[bool, typer.Option("--no-header", help=NO_HEADER)] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Label images or texts in the browser, while a model learns and chooses what to ask.

    Example: cusal label photos/ --classes cat,dog,neither

    Texts of a table: cusal label reviews.csv --text review --budget 500. Starting again continues the project.

    With others: cusal label photos/ --host 0.0.0.0 --overlap 2

    Check given predictions: cusal label predictions.csv --audit
    """
    from cusal.apps.label.command import Listening, Options, SourceOptions, label

    header = False if no_header else None
    named = {"batch": batch, "budget": budget, "overlap": overlap, "features": features, "model": model, "seed": seed}
    options = Options(
        data,
        store=store,
        source=SourceOptions(text, known, folders_are_labels, labels, audit, confidence, key, header),
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

    In Python: cusal.apps.label.write_export(project, "photos-export", ["csv"])
    """
    from cusal.apps.label.export import command

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
    from cusal.apps.label.export import command

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
    out: Annotated[
        str, typer.Option(help="The CSV file to write the next items to; one with answers is never written over.")
    ] = "next.csv",
    report: Annotated[str | None, typer.Option(help="Write a page with all results: --report audit.html")] = None,
    judge: Annotated[str | None, typer.Option(help="The verdict of a judge to tell about, such as: pass.")] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 3 if a quantity is surely below, 4 if it is open: accuracy=.9, kappa=.6."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    against: Annotated[str | None, typer.Option(help="Another table of the same items: which one is better?")] = None,
    since: Annotated[str | None, typer.Option(help="An audit that --save wrote: what has changed since?")] = None,
    save: Annotated[str | None, typer.Option(help="Write the audit to a file, for --since.")] = None,
    blind: Annotated[bool, typer.Option("--blind", help="Leave the predictions out of the next items.")] = False,
    label: Annotated[
        str | None,
        typer.Option("--label", "--predicted", help="The column of the prediction, if it is not found."),
    ] = None,
    confidence: Annotated[str | None, typer.Option(help="The column of the confidence, if it is not found.")] = None,
    key: Annotated[str | None, typer.Option("--id", help="The column of the id, if it is not found.")] = None,
    text: Annotated[str | None, typer.Option(help="The column of the text or image path, if it is not found.")] = None,
    no_header: Annotated[bool, typer.Option("--no-header", help=NO_HEADER)] = False,
    seed: Annotated[int, typer.Option(help="Of the order of checking: keep it from day to day.", min=0)] = 0,
) -> None:
    """Say how good given predictions are, or how far a judge can be trusted, and which items to check next.

    Example: cusal audit predictions.csv -k 50, fill in next.csv, then cusal audit predictions.csv --labels next.csv

    In Python: cusal.Audit(probs).ask(50)
    """
    from cusal.audit.command import Request, run
    from cusal.tables import NamedColumns

    columns = NamedColumns(text, label, key, confidence, header=False if no_header else None)
    found = run(
        Request(
            predictions,
            labels or (),
            columns,
            count,
            hunt,
            guarantee,
            accept,
            seed,
            out,
            report,
            judge=judge,
            fail_under=fail_under or (),
            as_json=as_json,
            against=against,
            since=since,
            save=save,
            blind=blind,
        )
    )
    print(found.text)
    raise typer.Exit(found.code)


@app.command()
def mcp(
    audit: Annotated[str, typer.Argument(help="An audit that cusal audit --save wrote.")],
    source: Annotated[str | None, typer.Option(help="The table of its predictions, for ids and texts.")] = None,
    folder: Annotated[str | None, typer.Option(help="Both must lie in it; by default that of the audit.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Let an agent store what a person says.")] = False,
) -> None:
    """Serve one audit to an agent (Model Context Protocol, over standard input and output); read-only by default.

    Example: cusal mcp judge.audit --source verdicts.jsonl --write
    """
    from cusal.audit.protocol_server import OpenAudit, serve

    serve(OpenAudit(audit, source, folder), write=write)


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
    from cusal.apps.bench import datasets

    for row in datasets.describe():
        shape = " x ".join(map(str, row.shape)) or "text"
        size = f"{row.train} + {row.test} items, {shape}, {row.classes} classes"
        print(f"{row.name:14} {'here' if row.present else 'to get':7} {size:48} {row.title}")


@data_app.command("where")
def data_where(name: DataName) -> None:
    """Print the folder in which the files of a data set lie, or belong.

    Example: cusal data where mnist
    """
    from cusal.apps.bench import datasets

    print(datasets.where(name))


@data_app.command("get")
def data_get(name: DataName) -> None:
    """Download a data set, check it, and print its folder. A stopped download resumes.

    Example: cusal data get mnist
    """
    from cusal.apps.bench import datasets

    print(datasets.get(name))
