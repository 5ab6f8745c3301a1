"""Check the pages that mkdocs built: python docs/check_site.py build/site

Nothing is fetched from elsewhere (scripts, styles, fonts, images), every formula became MathML, and every link
between the pages leads to a file and to an anchor that is there. mkdocs checks the links of the Markdown alone, not
those of the reference, which is made from docstrings.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
FETCHED = re.compile(r"@import|url\(\s*['\"]?https?:")


class Page(HTMLParser):
    """What a page loads, where it links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note one tag."""
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag in LOADED and found.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(found.get(LOADED[tag], ""))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])


def problems(site: Path) -> list[str]:
    """Return what is wrong with the pages, one line each."""
    own = [path for path in sorted(site.rglob("*.html")) if "repository" not in path.relative_to(site).parts]
    pages = {path.resolve(): Page(path.read_text()) for path in own}
    found = [f"{path.name}: loads {url}" for path, page in pages.items() for url in page.loads if urlsplit(url).netloc]
    found += [f"{path.name}: a formula is left as text" for path in own if 'class="arithmatex"' in path.read_text()]
    found += [f"{path.name}: fetches a file" for path in site.rglob("*.css") if FETCHED.search(path.read_text())]
    for path, page in pages.items():
        if path.name != "404.html":  # its links are absolute
            found += [f"{path.name}: no {link}" for link in page.links if not leads_somewhere(link, path, pages)]
    return found


def leads_somewhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    """Return whether a link is to another site, or to a file and an anchor that are there."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    return unquote(parts.fragment) in pages[target].anchors if target in pages else target.exists()


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) or f"{sys.argv[1]}: nothing is fetched from elsewhere, every link leads somewhere")
    sys.exit(bool(wrong))
