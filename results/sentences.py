"""List the sentences of README and docs that state a figure, to be checked against the tables.

python results/sentences.py                 # every such sentence, with its file, line and heading
python results/sentences.py --not-in-table  # only those with a figure that no table of the documents has
python results/sentences.py docs/audit.md   # of some documents

A figure is a number with a decimal point or a per cent sign, or a p value. It counts as found where a table of any
document has a number that rounds to it; that is a hint where to look, not a proof.
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

NUMBER = re.compile(r"[-+]?\d*\.?\d+")
FIGURE = re.compile(r"(?<![\w.])[-+]?\d*\.\d+(?![\w.]*\w)|(?<![\w.])\d+(?:\.\d+)?(?= ?%| per cent| points)")
END_OF_SENTENCE = re.compile(r"(?<=[.;:?!])\s+(?=[A-Z*`\[])")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@dataclass(frozen=True)
class Sentence:
    """A sentence with figures, and where it stands."""

    place: str
    heading: str
    text: str
    figures: tuple[str, ...]


def paragraphs(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, heading and text of every paragraph or entry of a list; tables and code are left out."""
    heading, lines, start = "", [], 0
    for number, line in enumerate([*CODE.sub(_blank, text).splitlines(), ""], start=1):
        opens_entry = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if lines and (not line.strip() or opens_entry or line.startswith(("#", "|", "<!--", "    "))):
            yield start, heading, " ".join(lines)
            lines = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.strip() and not line.startswith(("|", "<!--", "    ")):
            start = start if lines else number
            lines.append(line.strip())


def _blank(code: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "_", code[0])  # as long as before, so that lines keep their numbers


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a document that state a figure."""
    for line, heading, text in paragraphs(path.read_text()):
        for sentence in END_OF_SENTENCE.split(text):
            if figures := tuple(FIGURE.findall(sentence)):
                yield Sentence(f"{path.relative_to(ROOT)}:{line}", heading, sentence, figures)


def table_numbers(paths: list[Path]) -> list[float]:
    """Return every number that stands in a table of the documents."""
    rows = [line for path in paths for line in path.read_text().splitlines() if line.startswith("|")]
    return [float(number) for row in rows for number in NUMBER.findall(row)]


def in_tables(figure: str, numbers: list[float]) -> bool:
    """Return whether some number, or a hundred times it, rounds to the figure."""
    decimals = len(figure.partition(".")[2])
    value = abs(float(figure))
    return any(round(abs(number) * scale, decimals) == value for number in numbers for scale in (1, 100, 0.01))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", type=Path, help="README.md and docs/*.md unless named")
    parser.add_argument("--not-in-table", action="store_true", help="only sentences with a figure that no table has")
    arguments = parser.parse_args()
    numbers = table_numbers(DOCUMENTS)
    shown = 0
    for path in arguments.documents or DOCUMENTS:
        for one in sentences(path.resolve()):
            missing = [figure for figure in one.figures if not in_tables(figure, numbers)]
            if missing or not arguments.not_in_table:
                shown += 1
                print(f"{one.place} [{one.heading}]\n  {one.text}")
                print(f"  not in a table: {', '.join(missing)}\n" if missing else "")
    print(f"{shown} sentences with figures")


if __name__ == "__main__":
    main()
