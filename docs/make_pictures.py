"""Make the pictures of docs/start.md and choosing.md by running the code on these pages: python docs/make_pictures.py

Every other file that a page writes stays in a folder that is removed.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PAGES = ("start.md", "choosing.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run_page(path: Path) -> None:
    """Run the Python of a page from top to bottom, in the current folder."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "cusal"  # the same picture, the same file
    namespace = {"__name__": "__main__"}
    for block in BLOCK.findall(path.read_text()):
        exec(compile(block, str(path), "exec"), namespace)


def main() -> None:
    """Run the pages and keep their pictures."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in PAGES:
            run_page(DOCS / page)
        for picture in sorted(Path(folder).glob("*.svg")):
            shutil.copy(picture, DOCS / "images" / picture.name)
            print(picture.name)
        os.chdir(DOCS)


if __name__ == "__main__":
    main()
