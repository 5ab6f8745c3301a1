"""Write pip's report of what it would install as a constraints file: python write_constraints.py REPORT.json OUT.txt"""

import json
import re
import sys
from pathlib import Path

HEAD = """\
# Every package of the environments of tests, peers and site, passed to pip by the Makefile, so that a new release of
# one of them breaks nothing here. `make constraints` writes this file.
"""


def pinned_lines(report: dict) -> list[str]:
    """Return `name==version` for every package of a report but cusal, sorted; +cpu and the like are left out."""
    found = {}
    for package in report["install"]:
        name = re.sub(r"[-_.]+", "-", package["metadata"]["name"]).lower()
        found[name] = package["metadata"]["version"].split("+")[0]
    return [f"{name}=={version}" for name, version in sorted(found.items()) if name != "cusal"]


if __name__ == "__main__":
    source, out = (Path(argument) for argument in sys.argv[1:])
    out.write_text(HEAD + "\n".join(pinned_lines(json.loads(source.read_text()))) + "\n")
