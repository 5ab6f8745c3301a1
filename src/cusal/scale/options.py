"""The options of `cusal score`. What is heavy is imported by the command itself."""

import sys
from typing import Annotated

import typer

from cusal._progress import STOPPED


def add_to(app: typer.Typer) -> None:
    """Add the command about pools in files to the command line."""
    app.command()(score)


def score(
    pool: Annotated[
        str,
        typer.Option(help="A file of probabilities (.npy, .npz, .parquet, .csv, .jsonl), or a folder of such files."),
    ],
    batch_size: Annotated[int, typer.Option("-k", "--batch-size", help="How many items to pick.")],
    labelled: Annotated[
        str | None, typer.Option(help="The labelled points, with labels. The strategy cusal needs them.")
    ] = None,
    out: Annotated[str, typer.Option(help="The file to write: .csv, .jsonl, .parquet, or .npy.")] = "picks.csv",
    columns: Annotated[
        str | None, typer.Option(help="The columns of the classes, separated by commas; or the one that holds lists.")
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="The column of the ids. By default id.")] = None,
    label_column: Annotated[str | None, typer.Option(help="The column of the labels. By default label.")] = None,
    strategy: Annotated[
        str, typer.Option(help="margin, entropy, least_confidence, random, cusal, or your own package.module:Name.")
    ] = "margin",
    bandwidth: Annotated[float | None, typer.Option(help="Of the kernel of cusal. By default 0.001.")] = None,
    seed: Annotated[int, typer.Option(help="For strategies that draw at random.")] = 0,
    engine: Annotated[str, typer.Option(help="local, or ray for a Ray cluster.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster. By default a new one on this machine.")] = None,
) -> None:
    """Pick from a pool in files, however large. If it is stopped, the same command resumes.

    Example: cusal score --pool pool/ -k 1000 --out picks.csv

    The paper's method: cusal score --pool pool/ --labelled labelled.npz --strategy cusal -k 1000 --out picks.csv

    Class names as columns: cusal score --pool pool.csv --labelled known.csv --columns cat,dog --id-column file -k 50

    In Python: cusal.score_files("pool/", batch_size=1000, out="picks.csv")
    """
    from cusal import scale
    from cusal import strategies as known

    settings = {} if bandwidth is None else {"bandwidth": bandwidth}
    try:
        scale.score_files(
            pool,
            labelled,
            batch_size=batch_size,
            out=out,
            strategy=known.make(strategy, **settings),
            engine=scale.find_engine(engine, address),
            seed=seed,
            columns=scale.PoolColumns(_listed(columns), id_column, label_column),
        )
    except KeyboardInterrupt:
        print("\nstopped; what was scored is kept, and the same command resumes from there.", file=sys.stderr)
        raise typer.Exit(STOPPED) from None
    print(out)


def _listed(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())
