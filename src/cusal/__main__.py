"""`python -m cusal`: the command line, where the script `cusal` is not on the path."""

from cusal.cli import main

if __name__ == "__main__":  # not in the processes that a benchmark starts
    main()
