"""What all commands are made of."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from quarry.local.database import LocalDatabase

DONE, FAILED, WRONG_USAGE = 0, 1, 2

PORT_MAX = 65535

Arguments = argparse.Namespace
Command = Callable[[Arguments], int]
"""What a command does with its arguments; the exit status."""


class WrongUsage(Exception):
    """The command line asks for something that there is not; the message says what there is."""


def on_database(work: Callable[[LocalDatabase], Coroutine[Any, Any, object]]) -> int:
    """Open the database, do the work, and be done."""
    import asyncio

    from quarry.local.database import open_database

    with open_database() as database:
        asyncio.run(work(database))
    return DONE


def status(well: bool) -> int:
    return DONE if well else FAILED


class Parser(argparse.ArgumentParser):
    """Wrong usage is told in one line. `appendix` is what the help ends with, made when it is asked for."""

    appendix: Callable[[], str] | None = None

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {' '.join(message.split())}; see `{self.prog} --help`\n")

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own keeps silent where nobody reads any more
        (file or sys.stdout).write(self.format_help())

    def format_help(self) -> str:
        return super().format_help() + (self.appendix() if self.appendix else "")


class FilesAlone(argparse.Action):
    """An option with which all that is named are `files`, so that one is enough."""

    def __init__(self, *arguments: Any, files: argparse.Action, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._files = files

    def __call__(self, parser: object, namespace: Arguments, value: object, option: str | None = None) -> None:
        setattr(namespace, self.dest, value)
        self._files.nargs, self._files.required, self._files.default = "*", False, []
        if getattr(namespace, self._files.dest, None) is None:
            setattr(namespace, self._files.dest, [])


class CommandsHelp(argparse.RawDescriptionHelpFormatter):
    """A list of commands in two columns: argparse forgets that names are indented, and breaks the line after a long one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 14


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add(
    commands: Commands, name: str, run: Command, summary: str, example: str, *, remote: Command | None = None
) -> Parser:
    """A command; `remote` is what it does where `--server` names one."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, remote=remote)
    return parser


def add_group(commands: Commands, name: str, summary: str, description: str, example: str) -> Commands:
    """A command that consists of commands."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs: JSON on stdout")


def port(text: str) -> int:
    if text.isdecimal() and int(text) <= PORT_MAX:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to {PORT_MAX}")


def user_name(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("the user's name is not UTF-8") from None
    if not text.strip():
        raise argparse.ArgumentTypeError("the user's name is empty")
    return text


def positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
