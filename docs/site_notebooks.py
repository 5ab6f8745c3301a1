"""A hook of mkdocs: every notebook of docs/notebooks is a page, with what its cells printed and drew.

`python docs/run_notebooks.py` runs them and stores their output. The notebooks are on the site as files, too.
"""

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

NOTEBOOKS = Path(__file__).parent / "notebooks"


def on_files(files: "Files", config: Any) -> "Files":
    """Add a page for each notebook, and its pictures as files."""
    from mkdocs.structure.files import File

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        text, pictures = as_page(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def as_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and the pictures that it links to, by their names."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures)}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                parts.append(f"![What this cell draws]({name})")
            else:
                parts.append(indented("".join(output.get("text") or data.get("text/plain", ""))))
    title, *others = parts
    return "\n\n".join([title, f"*As a notebook: [{path.name}]({path.name})*", *others, ""]), pictures


def indented(text: str) -> str:
    """Return text as a block of code."""
    return f"```text\n{text.rstrip()}\n```"
