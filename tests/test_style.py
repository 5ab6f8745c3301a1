"""How the source reads: docstrings, the length and the names of files, examples of public names."""

import ast
import dataclasses
import functools
import importlib
import inspect
import re
from pathlib import Path

import cusal

SOURCE = Path(cusal.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOT = SOURCE.parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
MOST_LINES = 800
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
VAGUE_VERBS = {"Give", "Gives", "Tell", "Tells", "Complain", "Complains", "Let", "Lets"}

# Words that a native engineer would not use, and what to write instead.
DIALECT = {"anew": "again", "by chance": "at random", "unless told": "by default", "goes on": "continues"}


def name_of(path):
    return str(path.relative_to(SOURCE))


@functools.cache
def docstrings(path):
    return list(find_docstrings(path))


def find_docstrings(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "the file"), text


def test_docstrings_begin_with_a_plain_verb():
    vague = [
        f"{name_of(path)}, {name}: {text.splitlines()[0]}"
        for path in FILES
        for name, text in docstrings(path)
        if text.split()[0] in VAGUE_VERBS
    ]
    assert not vague, "\n".join(vague)


def test_docstrings_use_common_words():
    found = [
        f"{name_of(path)}, {name}: write {better!r} for {word!r}"
        for path in FILES
        for name, text in docstrings(path)
        for word, better in DIALECT.items()
        if re.search(rf"\b{word}\b", " ".join(text.split()), re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


def test_a_file_can_be_read_in_one_sitting():
    lines = {name_of(path): path.read_text().count("\n") for path in FILES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_prose_in_the_documents_has_short_lines():
    long = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in DOCUMENTS
        for line in path.read_text().splitlines()
        if len(line) >= 120 and not line.startswith("|")
    ]
    assert not long, "\n".join(long)


def test_modules_are_named_by_their_idea():
    assert [name_of(path) for path in FILES if path.stem.strip("_") in NAMES_THAT_SAY_NOTHING] == []


def is_error(value):
    return inspect.isclass(value) and issubclass(value, Exception)


def public_names():
    """Yield every public class and function of the method, errors excepted."""
    rooms = {"cusal": cusal.__all__, "cusal.calibration": cusal.calibration.__all__}
    rooms["cusal.recalibration"] = cusal.recalibration.__all__
    rooms["cusal.strategies"] = [cusal.strategies.find(name).__name__ for name in cusal.strategies.names()]
    rooms["cusal.metrics"] = [name for name, _ in inspect.getmembers(cusal.metrics, inspect.isfunction)]
    for room, names in rooms.items():
        for name in names:
            value = getattr(importlib.import_module(room), name)
            if callable(value) and not is_error(value) and name[0] != "_" and value.__module__.startswith(room):
                yield f"{room}.{name}", value


def parameters(value):
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return list(inspect.signature(value).parameters)


def test_public_names_describe_every_parameter_and_show_an_example():
    missing = []
    for name, value in public_names():
        text = inspect.getdoc(value) or ""
        headings = re.findall(r"^([*\w]+(?:, [*\w]+)*)(?: : .*)?\n    ", text, re.MULTILINE)
        described = {heading.strip("*") for line in headings for heading in line.split(", ")}
        missing += [f"{name}: {parameter}" for parameter in parameters(value) if parameter not in described]
        missing += [f"{name}: an example"] * ("Examples\n--------" not in text)
    assert not missing, "\n".join(missing)
