"""A hook of mkdocs: links that leave docs/ work on the site as they do in the repository.

../CONTRIBUTING.md       a page of the site, made from that file
../results/report.html   copied to the site, under repository/
../results               a folder: a link to the repository, if pyproject.toml names its address, else plain text
"""

import posixpath
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
PAGES = {  # files beside docs/ that are pages of the site
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{f"results/{name}.md": f"results/{name}.md" for name in ("ablations", "few-labels", "light-heads")},
    "results/networks-few-labels.md": "results/networks-few-labels.md",
}
# Code is left alone; a link may hold code, so that it is looked for first.
FENCE = r"(?:^```.*?^```)"
LINK = r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)"
LINK_OR_CODE = re.compile(rf"{FENCE}|{LINK}|`[^`\n]+`", re.DOTALL | re.MULTILINE)


@cache
def repository() -> str | None:
    """Return the address of the repository, if pyproject.toml names one."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("urls", {})
    return urls.get("Repository")


def on_files(files: "Files", config: Any) -> "Files":
    """Add the pages that are made from files beside docs/."""
    from mkdocs.structure.files import File

    for name, page in PAGES.items():
        if (ROOT / name).exists():
            files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: "Files") -> str:
    """Return the page with the links that leave docs/ changed; code is left alone."""
    return changed_markdown(markdown, page.file.src_uri, lambda path: copied(path, config, files))


def changed_markdown(markdown: str, source: str, copy: Callable[[str], str]) -> str:
    """Return the text of the page `source` with its links changed; `copy` brings a file to the site."""
    made_from = {site: name for name, site in PAGES.items()}
    place = made_from.get(source, f"docs/{source}")
    return LINK_OR_CODE.sub(
        lambda match: changed_link(match, place, source, copy) if match[3] else match[0],
        markdown,
    )


def changed_link(match: re.Match[str], place: str, source: str, copy: Callable[[str], str]) -> str:
    """Return a link of the file `place`, which becomes the page `source`, as it must be on the site."""
    mark, text, target = match.groups()
    address, _, anchor = target.partition("#")
    if not address or re.match(r"[a-z]+:", target):
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(place), address))
    if path.startswith("docs/"):
        goal = path.removeprefix("docs/")
    elif path in PAGES:
        goal = PAGES[path]
    elif (ROOT / path).is_file():
        goal = copy(path)
    elif (ROOT / path).is_dir():
        return f"[{text}]({repository()}/tree/main/{path})" if repository() else text
    else:
        return match[0]  # mkdocs reports it
    relative = posixpath.relpath(goal, posixpath.dirname(source) or ".")
    return f"{mark}[{text}]({relative}{'#' + anchor if anchor else ''})"


def copied(path: str, config: Any, files: "Files") -> str:
    """Return where the site has a copy of a file of the repository."""
    from mkdocs.structure.files import File

    goal = f"repository/{path}"
    if files.get_file_from_path(goal) is None:
        files.append(File.generated(config, goal, abs_src_path=str(ROOT / path)))
    return goal
