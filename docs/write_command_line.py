"""Write docs/command-line.md from the help of the commands: python docs/write_command_line.py"""

from pathlib import Path
from typing import Any

import typer.main

from cusal.cli import app

PAGE = Path(__file__).with_name("command-line.md")
HEAD = """\
# The command line

Written by `python docs/write_command_line.py` from the help of the commands: `cusal COMMAND --help` says the same.
Every command that takes long shows its progress, can be stopped with Ctrl-C and resumes when it is started again.
The exit code is 0, 1 for an error (one line that says what to do) or 2 for wrong usage.
"""


def page() -> str:
    """Return the page: a section for each command, with its options as a table."""
    group = typer.main.get_command(app)
    parts = [HEAD]
    for words, command in sorted(commands(group, ())):
        parts.append(section(words, command))
    return "\n".join(parts)


def commands(group: Any, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """Return the commands of a group and of the groups within it, each with the words that call it."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found += commands(command, (*words, name)) if inner else [((*words, name), command)]
    return found


def section(words: tuple[str, ...], command: Any) -> str:
    """Return the Markdown of one command."""
    name = " ".join(("cusal", *words))
    shown = [usage(parameter) for parameter in command.params if parameter.param_type_name == "argument"]
    rows = [row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    options = ["[OPTIONS]"] if len(rows) > len(shown) else []
    lines = [f"## {name}", "", f"    {' '.join([name, *shown, *options])}", "", prose(command.help), ""]
    if rows:
        lines += ["| option | meaning | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def usage(argument: Any) -> str:
    """Return how an argument stands in the line of usage."""
    name = argument_name(argument)
    return name if argument.required else f"[{name}]"


def argument_name(argument: Any) -> str:
    """Return the name of an argument as the help shows it."""
    return str(argument.metavar or argument.name).upper()


def prose(text: str | None) -> str:
    """Return the help of a command as Markdown: what follows `Example:` is code."""
    paragraphs = [" ".join(part.split()) for part in (text or "").replace("\b", "").split("\n\n")]
    return "\n\n".join(as_code(part) for part in paragraphs if part)


def as_code(paragraph: str) -> str:
    """Return a paragraph with its command, which follows a colon, as a block of code."""
    words, colon, command = paragraph.partition(": cusal ")
    return f"{words}:\n\n    cusal {command}" if colon and ", then " not in command else paragraph


def row(parameter: Any) -> str:
    """Return a parameter as a row of the table."""
    is_argument = parameter.param_type_name == "argument"
    words = [argument_name(parameter)] if is_argument else [*parameter.opts, *parameter.secondary_opts]
    name = ", ".join(f"`{word}`" for word in words)
    default = parameter.default
    plain = default is None or default is False or callable(default) or default == ()
    shown = "required" if parameter.required else "" if plain else f"`{default}`"
    help_text = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
    return f"| {name} | {help_text} | {shown} |"


if __name__ == "__main__":
    PAGE.write_text(page())
