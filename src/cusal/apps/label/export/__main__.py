"""`python -m cusal.apps.label.export PLACE --out FOLDER --format csv,...`: an export in a process of its own.

With --zip the folder stays and gets one zip file more, which holds the export.
"""

import argparse
import sys

from cusal.apps.label.export.command import as_formats, export, export_archive
from cusal.errors import CusalError


def main() -> int:
    """Write an export and print its paths; a CusalError becomes one line and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m cusal.apps.label.export", description=__doc__)
    parser.add_argument("place")
    parser.add_argument("--out", required=True)
    parser.add_argument("--format", default="csv")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--zip", action="store_true")
    given = parser.parse_args()
    try:
        formats = as_formats(given.format)
        if given.zip:
            paths = [export_archive(given.place, given.out, formats)]
        else:
            paths = export(given.place, given.out, formats, force=given.force)
    except CusalError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    print(*paths, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
