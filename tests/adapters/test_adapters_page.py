"""Every example in docs/adapters.md runs as it stands."""

import importlib.util
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text()
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
# modAL is installed in the second part of `make test-peers` alone; test_label_studio_server.py has a server.
ELSEWHERE = {"Label Studio"} if importlib.util.find_spec("modAL") else {"Label Studio", "modAL"}
HERE = [title for title in SECTIONS if title not in ELSEWHERE]


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore")  # of the libraries' own code
@pytest.mark.parametrize("title", HERE)
def test_examples_run(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", SECTIONS[title], flags=re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        exec(compile(block, title, "exec"), {"__name__": "__main__"})
