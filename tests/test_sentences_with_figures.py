"""results/sentences.py: which sentences of the documents state a figure."""

import runpy
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).parent.parent / "results" / "sentences.py"))

TEXT = """# Speed

- It is 2.5 times as fast. Nothing is said
  here. With 40 labels it has 91.5 %.

    cusal bench --rate 0.1

| margin | 91.52 |
"""


def test_sentences_with_figures_are_found_with_line_and_heading(tmp_path: Path) -> None:
    found = list(SCRIPT["paragraphs"](TEXT))
    assert [(line, heading) for line, heading, _ in found] == [(3, "Speed")]
    assert SCRIPT["FIGURE"].findall(found[0][2]) == ["2.5", "91.5"]


def test_a_figure_is_in_a_table_if_a_number_rounds_to_it() -> None:
    assert SCRIPT["in_tables"]("91.5", [91.52])
    assert SCRIPT["in_tables"](".915", [91.52])
    assert not SCRIPT["in_tables"]("2.5", [91.52])
