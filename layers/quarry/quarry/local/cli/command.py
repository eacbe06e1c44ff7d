"""How a command is declared and run: its arguments, its function, its exit status."""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import click
from click.core import ParameterSource

from quarry.local.output import OF_INSTALLATION, json_output, selected_tenant

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase

DONE, FAILED, WRONG_USAGE = 0, 1, 2
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

Arguments: TypeAlias = SimpleNamespace
"""The arguments of a command by name, its groups' and those of `quarry` included; with `argv`, `in_stack`, `dotenv`, and
`full_name`, the command's name below `quarry`.
"""

Run = Callable[[Arguments], int]
"""Runs with the arguments, and returns the exit status."""


class WrongUsage(Exception):
    """The command line asks for something that does not exist; the message says what does."""


@dataclass(frozen=True)
class Invocation:
    """The whole command line. `in_stack`: this is the function `admin` of a stack."""

    argv: Sequence[str]
    in_stack: bool = False


def on_database(work: Callable[[LocalDatabase], Coroutine[Any, Any, object]]) -> None:
    """Open the database, and run `work` on it."""
    import asyncio

    from quarry.local.database import open_database

    with open_database() as database:
        asyncio.run(work(database))


def imported_function(target: str) -> tuple[Callable[..., Any], list[str]]:
    """Import the function `module:name`; return it and the names of its parameters."""
    import inspect

    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    return function, [*inspect.signature(function).parameters]


def calling(target: str) -> Run:
    """Call the function `module:name` with the arguments it takes, by name, and with the open `database` if it takes one. The
    function returns False for failure. The module is imported when the command runs.
    """

    def run(arguments: Arguments) -> int:
        import asyncio
        from contextlib import ExitStack

        function, names = imported_function(target)
        values = {name: getattr(arguments, name) for name in names if name != "database"}
        with ExitStack() as opened:
            if "database" in names:
                from quarry.local.database import open_database

                values["database"] = opened.enter_context(open_database())
            result = function(**values)
            if isinstance(result, Coroutine):
                result = asyncio.run(result)
        return FAILED if result is False else DONE

    return run


class Argument(click.Argument):
    """A positional argument, called METAVAR in the help, where `help` describes it."""

    def __init__(self, name: str, metavar: str, help: str, **options: Any) -> None:
        super().__init__([name], metavar=metavar, **options)
        self.help = help


class _Described(click.Command):
    """Lists arguments above the options, and keeps the lines of the epilog. `appendix` makes the end of the help."""

    appendix: Callable[[], str] | None = None
    targets: tuple[str, ...] = ()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [(each.metavar or "", each.help) for each in self.params if isinstance(each, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{self.epilog}\n" + (self.appendix() if self.appendix else ""))


class Command(_Described):
    """A command."""


class Group(_Described, click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name in self.commands or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = get_close_matches(name, self.commands, 1)
        raise click.UsageError(f"there is no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""), ctx)


def add(
    group: Group,
    name: str,
    run: str | Run,
    summary: str,
    example: str,
    *parameters: click.Parameter,
    about: str | None = None,
    remote: str | Run | None = None,
    facts: Mapping[str, object] | None = None,
    json: str | None = "print JSON",
    kind: type[_Described] = Command,
    **options: Any,
) -> Any:
    """Add a command, and return it. `run` is what it does, `remote` what it does with `--server`: a function `module:name`,
    called as by `calling`, or a Run. `facts` are the initial values of its JSON output, if it collects facts. `json` is the
    help of the option `--json`; None for a command without it. With `kind` Group it holds further commands, and runs where none
    is named.
    """
    here, there = (calling(each) if isinstance(each, str) else each for each in (run, remote))
    assert here is not None
    command = kind(
        name,
        callback=_callback(here if facts is None else _collecting(here, facts), there),
        params=[*parameters, *([flag("--json", "as_json", help=json)] if json else [])],
        short_help=summary,
        help=about or f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  {example}",
        **options,
    )
    command.targets = tuple(each for each in (run, remote) if isinstance(each, str))
    group.add_command(command)
    return command


def add_group(group: Group, name: str, summary: str, about: str, example: str) -> Group:
    """Add a command that consists of commands."""
    added = Group(name, short_help=summary, help=about, epilog=f"example:\n  {example}", subcommand_metavar="COMMAND")
    group.add_command(added)
    return added


def option(flag: str, *names: str, **options: Any) -> click.Option:
    """An option with a value."""
    return click.Option([flag, *names], **options)


def flag(*names: str, **options: Any) -> click.Option:
    """An option without a value."""
    return click.Option([*names], is_flag=True, **options)


def tenant_option() -> click.Option:
    """The option that `quarry` has for every command, for those that it is mostly used with."""
    return option("--tenant", metavar="NAME", help="the tenant whose data the command uses")


def formats(help: str = "how to print the result") -> list[click.Option]:
    """Options for the form of a table."""
    kinds = click.Choice(("table", "csv", "json"))
    return [
        option("--format", type=kinds, default="table", show_default=True, help=help),
        option("--json", "format", flag_value="json", help="the same as --format json"),
    ]


def _collecting(run: Run, facts: Mapping[str, object]) -> Run:
    def run_collecting(arguments: Arguments) -> int:
        with json_output(arguments.as_json, **facts):
            return run(arguments)

    return run_collecting


def _callback(here: Run, there: Run | None) -> Callable[..., int]:
    @click.pass_context
    def run(context: click.Context, /, **_: Any) -> int:
        if context.invoked_subcommand is not None:
            return DONE
        from quarry.local.config import configure_logging, take_dotenv

        # Commands report errors themselves; `serve` logs more once it knows the settings.
        configure_logging("ERROR")
        signal.signal(signal.SIGTERM, _terminate)
        arguments = _arguments(context)
        arguments.dotenv = take_dotenv()
        try:
            with _tenant(arguments):
                return _runner(arguments, here, there)(arguments)
        except KeyboardInterrupt:
            return INTERRUPTED
        except WrongUsage as error:
            raise click.UsageError(str(error), context) from error

    return run


def _arguments(context: click.Context) -> Arguments:
    """The arguments of the command and of the groups around it, whose own values hold where the command has only a default."""
    values: dict[str, Any] = {}
    chain = [context]
    while chain[0].parent is not None:
        chain.insert(0, chain[0].parent)
    for each in chain:
        for name, value in each.params.items():
            if name not in values or each.get_parameter_source(name) is not ParameterSource.DEFAULT:
                values[name] = [*value] if isinstance(value, tuple) else value
    values["as_json"] = values.get("as_json", False) or values.get("format") == "json"
    return Arguments(**values, **vars(context.obj), full_name=context.command_path.partition(" ")[2])


def _runner(arguments: Arguments, here: Run, there: Run | None) -> Run:
    """What to run: the command here, on the server or in the stack. Raises WrongUsage."""
    if arguments.server is not None and arguments.stack is not None:
        raise WrongUsage("use --server or --stack, not both")
    if arguments.in_stack or arguments.stack is not None:
        from quarry.local.stack import check_fit, run_in_stack

        check_fit(arguments)
        return here if arguments.stack is None else run_in_stack
    if arguments.server is None:
        return here
    if there is None:
        raise WrongUsage("this command needs the database itself: run it without --server, with DATABASE_URL set")
    return there


@contextmanager
def _tenant(arguments: Arguments) -> Iterator[None]:
    """Let the command open its database in the schema of the tenant, if one is named; a process may run several commands.

    Raises WrongUsage for a command of the installation, and with `--server`, whose token says whose request it is.
    """
    command = arguments.full_name.partition(" ")[0]
    if arguments.tenant is not None and command in OF_INSTALLATION:
        raise WrongUsage(f"`quarry {command}` works on the installation: leave --tenant out")
    if arguments.tenant is not None and arguments.server is not None:
        raise WrongUsage("use --server or --tenant, not both: QUARRY_TOKEN says whose request it is")
    token = selected_tenant.set(arguments.tenant)
    try:
        yield
    finally:
        selected_tenant.reset(token)


def _terminate(signal_number: int, frame: FrameType | None) -> NoReturn:
    """End on SIGTERM as on an error, so that the embedded Postgres is released."""
    raise SystemExit(TERMINATED)


def user_name(text: str) -> str:
    """A user's name. Raises BadParameter."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("the user's name is not UTF-8") from None
    if not text.strip():
        raise click.BadParameter("the user's name is empty")
    return text


PORT = click.IntRange(0, 65_535)
POSITIVE = click.IntRange(1)
FILE = click.Path(path_type=Path)
