"""What all commands share: arguments, exit status, and how a command calls its function."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from quarry.local.telling import telling

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from quarry.local.database import LocalDatabase

DONE, FAILED, WRONG_USAGE = 0, 1, 2

PORT_MAX = 65535

Arguments = argparse.Namespace
Command = Callable[[Arguments], int]
"""Runs with the arguments, and returns the exit status."""


class WrongUsage(Exception):
    """The command line asks for something that does not exist; the message says what does."""


def on_database(work: Callable[[LocalDatabase], Coroutine[Any, Any, object]]) -> None:
    """Open the database, and run `work` on it."""
    import asyncio

    from quarry.local.database import open_database

    with open_database() as database:
        asyncio.run(work(database))


def wanted(target: str) -> tuple[Callable[..., Any], list[str]]:
    """Import the function `module:name`; return it and the names of its parameters."""
    import inspect

    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    return function, [*inspect.signature(function).parameters]


def calling(target: str) -> Command:
    """The command that calls the function `module:name` with the arguments it takes, by name, and with the open `database` if it
    takes one. The function returns False for failure. The module is imported when the command runs.
    """

    def run(given: Arguments) -> int:
        import asyncio
        from contextlib import ExitStack

        function, names = wanted(target)
        values = {name: getattr(given, name) for name in names if name != "database"}
        with ExitStack() as opened:
            if "database" in names:
                from quarry.local.database import open_database

                values["database"] = opened.enter_context(open_database())
            result = function(**values)
            if isinstance(result, Coroutine):
                result = asyncio.run(result)
        return FAILED if result is False else DONE

    return run


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line. `appendix` makes the end of the help, and `targets` are the functions that its command
    calls.
    """

    appendix: Callable[[], str] | None = None
    targets: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {' '.join(message.split())}; see `{self.prog} --help`\n")

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own ignores a broken pipe
        (file or sys.stdout).write(self.format_help())

    def format_help(self) -> str:
        return super().format_help() + (self.appendix() if self.appendix else "")


class FilesAlone(argparse.Action):
    """An option with which every positional argument is one of `files`, so that one is enough."""

    def __init__(self, *arguments: Any, files: argparse.Action, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._files = files

    def __call__(self, parser: object, namespace: Arguments, value: object, option: str | None = None) -> None:
        setattr(namespace, self.dest, value)
        self._files.nargs, self._files.required, self._files.default = "*", False, []
        if getattr(namespace, self._files.dest, None) is None:
            setattr(namespace, self._files.dest, [])


class CommandsHelp(argparse.RawDescriptionHelpFormatter):
    """A list of commands in two columns: argparse ignores that names are indented, and breaks the line after a long one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 14


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add(
    commands: Commands,
    name: str,
    run: str | Command,
    summary: str,
    example: str,
    *,
    about: str | None = None,
    remote: str | Command | None = None,
    facts: dict[str, object] | None = None,
    json: bool = True,
) -> Parser:
    """Add a command. `run` is what it does, `remote` what it does with `--server`: a function `module:name`, called as by
    `calling`, or a Command. `facts` are the initial values of its JSON output, if it collects facts. `json` adds the option
    `--json`.
    """
    parser = commands.add_parser(
        name,
        help=summary,
        description=about or f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.targets = tuple(each for each in (run, remote) if isinstance(each, str))
    act, act_remotely = (calling(each) if isinstance(each, str) else each for each in (run, remote))
    assert act is not None
    full_name = parser.prog.partition(" ")[2]
    parser.set_defaults(run=act if facts is None else _telling(act, facts), remote=act_remotely, full_name=full_name)
    if json:
        add_json(parser)
    return parser


def _telling(run: Command, facts: dict[str, object]) -> Command:
    def run_telling(given: Arguments) -> int:
        with telling(given.as_json, **facts):
            return run(given)

    return run_telling


def add_group(commands: Commands, name: str, summary: str, about: str, example: str) -> Commands:
    """Add a command that consists of commands."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=about,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_json(parser: argparse.ArgumentParser, text: str = "print JSON", **options: Any) -> None:
    parser.add_argument("--json", dest="as_json", action="store_true", help=text, **options)


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


def above(least: int) -> Callable[[str], int]:
    """A reader of whole numbers above `least`."""

    def read(text: str) -> int:
        if text.isdecimal() and int(text) > least:
            return int(text)
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above {least}")

    return read
