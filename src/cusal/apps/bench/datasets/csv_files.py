"""Published tables and collections of texts, each kept as one CSV file with a header row and a column `label`.

A table has a number in every other column; texts stand in a column `text`. `columns.py` says the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cusal.apps.bench.datasets.columns import TEXT, OwnTable
from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.files import find_form
from cusal.tables import read

Keep = Callable[[dict[str, Sequence[str]]], list[int]]


def csv_source(
    path: str, title: str, *, classes: int, sizes: tuple[int, int], shape: tuple[int, ...] = (), licence: str
) -> Source:
    """Return the source of a data set in one CSV file.

    Parameters
    ----------
    path : str
        Its file, from the folder of all data sets.
    title : str
        What people call it.
    classes : int
        Number of classes.
    sizes : (int, int)
        Train and test items.
    shape : tuple of int
        (columns,) of a table, () of texts.
    licence : str
        Under which terms it may be used.
    """
    folder, file = path.split("/")
    content = "text and label" if not shape else f"{shape[0]} numbers and a label"
    return Source(
        title=title,
        classes=classes,
        shape=shape,
        train=sizes[0],
        test=sizes[1],
        licence=licence,
        folder=folder,
        forms=((file,), (file.removesuffix(".gz"),)),
        advice=f"write it as a CSV file with a header row and the columns {content}",
    )


SOURCES = {
    # News in four sections (Zhang, Zhao and LeCun 2015): the published test set, split again here.
    "ag_news": csv_source(
        "text/ag_news_test7600.csv.gz",
        "AG News, its 7,600 test items",
        classes=4,
        sizes=(6_080, 1_520),
        licence="non-commercial use",
    ),
    # Questions of a bank's customers, 77 intents (Casanueva et al. 2020).
    "banking77": csv_source(
        "text/banking77.csv.gz",
        "Banking77",
        classes=77,
        sizes=(10_003, 3_080),
        licence="CC BY 4.0",
    ),
    # Requests to an assistant, 150 intents (Larson et al. 2019), without those that are out of scope.
    "clinc150": csv_source(
        "text/clinc150_full.csv.gz",
        "CLINC150",
        classes=150,
        sizes=(15_000, 4_500),
        licence="CC BY 3.0",
    ),
    # Splice junctions of primate genes, 60 positions of three bits each (Noordewier, Towell and Shavlik 1991).
    "dna": csv_source(
        "tabular/dna.csv.gz",
        "Splice junctions of DNA",
        classes=3,
        sizes=(2_549, 637),
        shape=(180,),
        licence="CC BY 4.0, UCI",
    ),
    # Regions of outdoor images by 18 measurements, seven classes (Vision Group, University of Massachusetts, 1990).
    "image_segment": csv_source(
        "tabular/image_segment.csv.gz",
        "Image segmentation",
        classes=7,
        sizes=(1_848, 462),
        shape=(18,),
        licence="CC BY 4.0, UCI",
    ),
    # Capital letters by 16 measurements of their pixels (Frey and Slate 1991).
    "letter": csv_source(
        "tabular/letter.csv.gz",
        "Letter recognition",
        classes=26,
        sizes=(15_998, 4_002),
        shape=(16,),
        licence="CC BY 4.0, UCI",
    ),
    # Handwritten digits by eight points of the pen's path (Alpaydin and Alimoglu 1998).
    "pendigits": csv_source(
        "tabular/pendigits.csv.gz",
        "Pen-based digits",
        classes=10,
        sizes=(8_793, 2_199),
        shape=(16,),
        licence="CC BY 4.0, UCI",
    ),
    # States of the space shuttle's radiators by nine sensors, seven classes of very unequal size (Statlog).
    "shuttle": csv_source(
        "tabular/shuttle.csv.gz",
        "Statlog shuttle",
        classes=7,
        sizes=(46_400, 11_600),
        shape=(9,),
        licence="CC BY 4.0, UCI",
    ),
    # Text messages, of which one in eight is spam (Almeida, Hidalgo and Yamakami 2011).
    "sms_spam": csv_source(
        "text/sms_spam.csv.gz",
        "SMS spam",
        classes=2,
        sizes=(4_460, 1_114),
        licence="CC BY 4.0",
    ),
    # Steady vowels of British English by ten measurements of the sound, eleven classes (Deterding 1989).
    "vowel": csv_source(
        "tabular/vowel.csv.gz",
        "Vowel recognition",
        classes=11,
        sizes=(792, 198),
        shape=(10,),
        licence="CC BY 4.0, UCI",
    ),
}

# Columns that are left out, and rows that are kept: CLINC150 has validation items and some out of scope.
WITHOUT = {"ag_news": ("split",)}
KEPT = {"clinc150": ("train", "test")}


def load(name: str, folder: Path) -> Dataset:
    """Return a data set: in its published split, or split by class; numbers are standardised."""
    (path,) = find_form(name, SOURCES[name], folder)
    columns: dict[str, Sequence[str]] = dict(read(path, header=True, strict=True).values())
    if name in KEPT:
        rows = [row for row, split in enumerate(columns["split"]) if split in KEPT[name]]
        columns = {title: [column[row] for row in rows] for title, column in columns.items()}
    columns = {title: column for title, column in columns.items() if title not in WITHOUT.get(name, ())}
    label = "label" if "label" in columns else list(columns)[-1]
    table = OwnTable("csv", path, columns, label, 2, text=TEXT if TEXT in columns else None)
    return replace(table.as_dataset(), name=name, reading="")
