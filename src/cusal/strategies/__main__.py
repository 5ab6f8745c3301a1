"""Write the stub that lists the strategies for editors and type checkers: python -m cusal.strategies"""

from pathlib import Path

from cusal import strategies


def stub() -> str:
    """Return the text of the stub."""
    classes = strategies._class_names()
    imports = [f"from cusal.strategies.{name} import {title} as {title}" for title, name in sorted(classes.items())]
    return "\n".join(
        [
            "# Written by `python -m cusal.strategies`.",
            "from cusal.strategies._contract import check_strategy as check_strategy",
            "from cusal.strategies._strategy import Strategy as Strategy",
            *sorted(imports),
            "",
            "__all__: list[str]",
            "",
            "def names() -> list[str]: ...",
            "def find(name: str) -> type[Strategy]: ...",
            "def make(strategy: str | Strategy, **settings: object) -> Strategy: ...",
            "def _class_names() -> dict[str, str]: ...",
            "",
        ]
    )


if __name__ == "__main__":
    Path(strategies.__file__).with_suffix(".pyi").write_text(stub())
