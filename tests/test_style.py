"""How the source reads: docstrings, the length and the names of files, examples of public names."""

import ast
import inspect
from pathlib import Path

import pytest

import cusal

SOURCE = Path(cusal.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOT = SOURCE.parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
MOST_LINES = 400
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
VAGUE_VERBS = {"Give", "Gives", "Tell", "Tells", "Complain", "Complains", "Let", "Lets"}

# Rooms and files whose docstrings do not yet begin with plain verbs: remove each once it is rewritten.
ROOMS_TO_REWRITE = {
    *("bench", "calibration", "datasets", "features", "loop", "metrics", "models", "recalibration", "scale"),
    *("strategies", "_checks", "_files", "_item_hash", "_items", "_prefetch", "_protocol", "_spread", "_wrapper"),
}
# Public names that do not yet show an example: remove each once it has one.
NAMES_WITHOUT_EXAMPLE = {"Calibration", "Pool", "Query", "Round", "Session", "Strategy", "View"} | {
    *("noisy", "query", "simulate"),
}


def name_of(path):
    return str(path.relative_to(SOURCE))


def docstrings(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "the file"), text


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_docstrings_begin_with_a_plain_verb(path):
    if path.relative_to(SOURCE).parts[0].removesuffix(".py") not in ROOMS_TO_REWRITE:
        vague = [(name, text.splitlines()[0]) for name, text in docstrings(path) if text.split()[0] in VAGUE_VERBS]
        assert vague == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_prose_in_the_documents_has_short_lines(path):
    assert [line for line in path.read_text().splitlines() if len(line) >= 120 and not line.startswith("|")] == []


def test_modules_are_named_by_their_idea():
    assert [name_of(path) for path in FILES if path.stem.strip("_") in NAMES_THAT_SAY_NOTHING] == []


def is_error(value):
    return inspect.isclass(value) and issubclass(value, Exception)


@pytest.mark.parametrize("name", cusal.__all__)
def test_public_names_show_an_example(name):
    value = getattr(cusal, name)
    if callable(value) and not is_error(value):
        text = inspect.getdoc(value)
        assert text, f"cusal.{name} has no docstring"
        assert name in NAMES_WITHOUT_EXAMPLE or "Examples\n--------" in text or ">>>" in text
