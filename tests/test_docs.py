"""The documents: every snippet runs, every command line is as its program says, nothing public is undocumented.

A page is run from top to bottom in one namespace and one empty folder: its blocks of `python`, and those of `console`,
in which each line that begins with `$ cusal` is a command that must succeed. Blocks of `sh` and indented ones are shown
and not run, because they need data, a server or a cluster. Grids, in `toml`, are read.
"""

import importlib
import inspect
import pkgutil
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import typer.main

import cusal
from cusal.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
ROOMS = [module.name for module in pkgutil.iter_modules(cusal.__path__) if module.ispkg and module.name[0] != "_"]
SLOW = ("docs/start.md", "docs/choosing.md", "docs/how-to/experiments.md")
COMMAND = [sys.executable, "-c", "from cusal.cli import main; main()"]

# A kernel leaves sockets and loops behind, about which Python warns: it gets a process of its own.
RUN_NOTEBOOK = "import run_notebooks, sys; from pathlib import Path; run_notebooks.run(*map(Path, sys.argv[1:]))"

sys.path.insert(0, str(DOCS))
import site_links  # noqa: E402
import site_notebooks  # noqa: E402
import site_reference  # noqa: E402
import write_command_line  # noqa: E402


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path):
    return BLOCK.findall(path.read_text())


def run_commands(text):
    for line in text.splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            assert words[0] == "cusal", f"only cusal itself is run: {line}"
            done = subprocess.run([*COMMAND, *words[1:]], capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def pages_that_run():
    for path in PAGES:
        if path.name == "adapters.md":
            continue  # it needs the libraries of requirements/peers.txt: tests/adapters runs it
        if any(language in ("python", "console") for language, _ in blocks(path)):
            marks = [pytest.mark.slow] if name_of(path) in SLOW else []
            yield pytest.param(path, id=name_of(path), marks=marks)


@pytest.mark.parametrize("path", list(pages_that_run()))
def test_what_a_page_shows_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # a page may write a module and import it
    namespace = {"__name__": "__main__"}
    for language, text in blocks(path):
        if language == "python":
            exec(compile(text, str(path), "exec"), namespace)
        elif language == "console":
            run_commands(text)
    for picture in re.findall(r"images/((?:start|choosing)-[\w-]+\.svg)", path.read_text()):
        assert (tmp_path / picture).exists(), f"the code of {path.name} does not make {picture}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    for name in [path.stem for path in tmp_path.glob("*.py")]:  # the next page may have another one of this name
        sys.modules.pop(name, None)


def shown_commands(path):
    """Return the lines of a page that call cusal in a block which is not run, as words."""
    lines = [line.strip() for line in path.read_text().splitlines() if re.match(r"( {4,}|)cusal [a-z]", line)]
    return [shlex.split(line, comments=True) for line in lines if "`" not in line]


@pytest.mark.parametrize("path", [path for path in PAGES if shown_commands(path)], ids=name_of)
def test_commands_that_a_page_shows_exist_with_their_options(path):
    group = typer.main.get_command(app)
    options = {
        words: {"--help", *(word for parameter in command.params for word in parameter.opts)}
        for words, command in write_command_line.commands(group, ())
    }
    for words in shown_commands(path):
        called = next((name for name in options if tuple(words[1 : 1 + len(name)]) == name), None)
        assert called, f"no such command: {' '.join(words)}"
        used = {word.strip("[]").partition("=")[0] for word in words if re.match(r"\[?-{1,2}[a-z]", word)}
        assert used <= options[called], f"no such option: {' '.join(words)}"


@pytest.mark.needs("pydantic")
@pytest.mark.parametrize("path", [path for path in PAGES if "```toml" in path.read_text()], ids=name_of)
def test_grids_that_a_page_shows_can_be_read(path, tmp_path):
    from cusal.apps.bench.grid import read_grid

    for number, text in enumerate(text for language, text in blocks(path) if language == "toml"):
        grid = tmp_path / f"grid{number}.toml"
        grid.write_text(text.replace(', "my_module:MyStrategy"', ""))
        assert read_grid(str(grid)).values["strategies"]


def test_links_between_the_documents_lead_somewhere():
    for path in [*PAGES, *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text()):
            if not re.match(r"[a-z]+:", target):
                assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_page_of_the_command_line_is_what_the_commands_say():
    if f"typer=={version('typer')}\n" not in (ROOT / "requirements" / "constraints.txt").read_text():
        pytest.skip("other versions of typer word the help differently")
    written = (DOCS / "command-line.md").read_text()
    assert written == write_command_line.page(), "run python docs/write_command_line.py"


def public_names():
    """Return the full name of everything public: the front door, the rooms, strategies, metrics and errors."""
    names = {f"cusal.{name}" for name in cusal.__all__ if not inspect.ismodule(getattr(cusal, name))}
    for room in ROOMS:
        exported = getattr(importlib.import_module(f"cusal.{room}"), "__all__", [])
        names |= {f"cusal.{room}.{name}" for name in exported}
    own = [cusal.strategies.find(name) for name in cusal.strategies.names()]
    names |= {f"cusal.strategies.{value.__name__}" for value in own}
    for module in ("strategies", "metrics", "errors"):
        room = importlib.import_module(f"cusal.{module}")
        names |= {
            f"cusal.{module}.{name}"
            for name, value in vars(room).items()
            if inspect.isroutine(value) | inspect.isclass(value)
            if not name.startswith("_") and value.__module__.startswith(f"cusal.{module}")
        }
    return names


def described():
    """Return the names in the reference: entries, and what a page names in code where it stands elsewhere."""
    pages = [path.read_text() for path in (DOCS / "reference").glob("*.md")]
    entries = {name for page in pages for name in site_reference.entries(page)}
    return entries | {name for page in pages for name in re.findall(r"^- `(cusal[.\w]+)`", page, re.MULTILINE)}


def test_every_public_name_is_in_the_reference():
    assert sorted(public_names() - described()) == []


def test_the_reference_names_nothing_that_is_gone():
    for name in sorted(described()):
        room, _, last = name.rpartition(".")
        module = importlib.import_module(room)  # what another library is needed for is listed, not loaded
        assert last in dir(module) or hasattr(module, last), f"{name} is in the reference, and gone"


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    named = set(re.findall(r"([\w/-]+\.md)", navigation))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    notebooks = {f"notebooks/{path.stem}.md" for path in NOTEBOOKS}
    assert pages | notebooks | set(site_links.PAGES.values()) == named


@pytest.mark.parametrize(
    ("link", "place", "expected"),
    [
        ("[a](../../CONTRIBUTING.md#style)", "how-to/extend.md", "[a](../contributing.md#style)"),
        ("[`a`](../../results/build.py)", "how-to/extend.md", "[`a`](../repository/results/build.py)"),
        ("[a `b`](../results/mnist)", "results.md", "a `b`"),
        ("[a](start.md#1)", "index.md", "[a](start.md#1)"),
        ("[a](https://example.org/../results)", "index.md", "[a](https://example.org/../results)"),
        ("`[a](../results)`", "index.md", "`[a](../results)`"),
    ],
)
def test_links_that_leave_the_documents_work_on_the_site(link, place, expected, monkeypatch):
    monkeypatch.setattr(site_links, "repository", lambda: None)
    assert site_links.changed_markdown(link, place, lambda path: f"repository/{path}") == expected


def test_folders_lead_to_the_repository_where_its_address_is_known(monkeypatch):
    monkeypatch.setattr(site_links, "repository", lambda: "https://example.org/cusal")
    changed = site_links.changed_markdown("[runs](../results/mnist)", "results.md", str)
    assert changed == "[runs](https://example.org/cusal/tree/main/results/mnist)"


@pytest.mark.slow
@pytest.mark.needs("nbclient")
@pytest.mark.needs("ipykernel")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN_NOTEBOOK, path, tmp_path], cwd=DOCS, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_is_stored_with_its_output_and_becomes_a_page(path):
    text, pictures = site_notebooks.as_page(path)
    assert text.startswith("# ")
    assert "```text\n" in text
    assert all(f"]({name})" in text for name in pictures)
    assert "Error" not in text
