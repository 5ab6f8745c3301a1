"""Run the notebooks of docs/notebooks and store what they print and draw: python docs/run_notebooks.py

It needs the packages nbclient and ipykernel, which come with the extra `dev`.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent / "notebooks"


def run(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return a notebook with its output, run from top to bottom in a folder; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    return client.execute()


def without_times(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook without what differs from run to run: times, and the version of the kernel."""
    notebook.metadata.pop("language_info", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count = None
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
    return notebook


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(without_times(run(path, NOTEBOOKS)), path)
        print(path.name)
