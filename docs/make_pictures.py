"""Make the pictures of docs/start.md by running the code on that page: python docs/make_pictures.py

Every other file that the page writes stays in a folder that is removed.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
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
    """Run docs/start.md and keep its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run_page(DOCS / "start.md")
        for picture in sorted(Path(folder).glob("*.svg")):
            shutil.copy(picture, DOCS / "images" / picture.name)
            print(picture.name)
        os.chdir(DOCS)


if __name__ == "__main__":
    main()
