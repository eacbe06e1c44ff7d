"""The command `quarry`: what can be said on the command line, and how each command ends.

Nothing is imported here that takes time, so that `quarry --help` is quick; each command imports what it needs.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from quarry import __version__
from quarry.domains import DOMAINS

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

DONE, FAILED, WRONG_USAGE = 0, 1, 2
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

PORT_MAX = 65535

_EPILOG = """\
environment:
  DATABASE_URL     a Postgres of your own; unset: the embedded one
  QUARRY_DATA_DIR  where the embedded one keeps its data (default: .quarry)
  OPENAI_API_KEY, OPENAI_BASE_URL and all other settings are described in docs/settings.md

exit status:
  0 done, 1 failed, 2 wrong usage

`quarry COMMAND --help` tells more of a command.
"""

Arguments = argparse.Namespace
Command = Callable[[Arguments], int]


class WrongUsage(Exception):
    """The command line asks for something that there is not; the message says what there is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    # As the local embedding model has it, before anything else imports numpy, whose threads are settled by then.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # better a question mark than no answer where the terminal's encoding lacks a character
            stream.reconfigure(errors="replace")
    try:
        try:
            return _run(_parser().parse_args(arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Who read our output has read enough. Nothing must be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(given: Arguments) -> int:
    from quarry.local.logs import configure_logging

    # A command says itself what went wrong; `serve` lets more through once it knows the settings.
    configure_logging("ERROR")
    signal.signal(signal.SIGTERM, _terminate)
    command: Command = given.run
    try:
        return command(given)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except WrongUsage as error:
        _complain(f"{error}; see `quarry {given.command} --help`")
        return WRONG_USAGE
    except Exception as error:
        message = _explain(error)
        if message is None:
            raise
        _complain(message)
        return FAILED


def _explain(error: Exception) -> str | None:
    """What to tell of an error that was to be foreseen; None for a fault of our own."""
    from quarry.core.errors import QuarryError

    if isinstance(error, QuarryError):
        return error.message
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("quarry"):
        return f"{error.name} is not installed: pip install 'quarry[local]'"
    from quarry.local.embedded_postgres import EmbeddedPostgresError

    if isinstance(error, EmbeddedPostgresError):
        return str(error)
    if isinstance(error, OSError):
        return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
    return _explain_postgres(error)


def _explain_postgres(error: Exception) -> str | None:
    import psycopg

    from quarry.core.postgres.pool import translate

    if not isinstance(error, psycopg.Error):
        return None
    translated = translate(error)
    return translated.message if translated else f"Postgres says: {error.diag.message_primary or error}"


def _complain(message: str) -> None:
    print("quarry:", " ".join(message.split()), file=sys.stderr)


def _terminate(signal_number: int, frame: FrameType | None) -> NoReturn:
    """End by SIGTERM as by an error, so that the embedded Postgres is given up."""
    raise SystemExit(TERMINATED)


def _serve(given: Arguments) -> int:
    from quarry.local.server import serve

    serve(given.host, given.port)
    return DONE


def _demo(given: Arguments) -> int:
    from quarry.local.server import demo

    demo(given.host, given.port)
    return DONE


def _sample(given: Arguments) -> int:
    from quarry.local.data import load_samples
    from quarry.local.database import open_database

    with open_database() as database:
        load_samples(database)
    return DONE


def _migrate(given: Arguments) -> int:
    from quarry.local.data import migrate_database

    migrate_database()
    return DONE


def _map(given: Arguments) -> int:
    from quarry.local.collections import map_schema

    map_schema(given.schema, given.output, force=given.force)
    return DONE


def _apply(given: Arguments) -> int:
    from quarry.local.apply import apply_file

    return _status(apply_file(given.file, only_plan=given.plan, embed=not given.no_embed))


def _reconcile(given: Arguments) -> int:
    from quarry.local.apply import reconcile

    return _status(reconcile(given.collection))


def _uninstall(given: Arguments) -> int:
    from quarry.local.uninstall import uninstall

    return _status(uninstall(confirmed=given.yes))


def _load(given: Arguments) -> int:
    if given.collection is not None:
        return _load_collection(given)
    from quarry import catalog
    from quarry.local.data import load_table

    if given.key is not None:
        raise WrongUsage("--key says how the rows of a table of your own are told apart, which --as NAME makes")
    if given.table not in catalog.LOADABLE:
        advice = "; --as NAME makes a table of a file" if Path(given.table).exists() else ""
        raise WrongUsage(f"there is no table {given.table!r}, but {', '.join(catalog.LOADABLE)}{advice}")
    return _status(
        load_table(
            given.table, given.files, format=given.format, skip_invalid=given.skip_invalid, embed=not given.no_embed
        )
    )


def _load_collection(given: Arguments) -> int:
    from quarry.local.file_collection import InvalidName, load_collection, table_of

    try:
        name = table_of(given.collection)
    except InvalidName as error:
        raise WrongUsage(str(error)) from error
    return _status(
        load_collection(
            name,
            [Path(given.table), *given.files],
            format=given.format,
            key=given.key,
            skip_invalid=given.skip_invalid,
            embed=not given.no_embed,
        )
    )


def _embed(given: Arguments) -> int:
    from quarry.local.data import embed_tables

    return _status(embed_tables("all" if given.all else "stale" if given.stale else "new"))


def _ask(given: Arguments) -> int:
    import asyncio

    from quarry.core.errors import InvalidInput
    from quarry.local.ask import ask, check
    from quarry.local.database import open_database

    try:
        check(given.domain, given.question)
    except InvalidInput as error:
        raise WrongUsage(error.message) from error
    with open_database() as database:
        asyncio.run(ask(given.domain, given.question, database, as_json=given.json))
    return DONE


def _runs(given: Arguments) -> int:
    import asyncio

    from quarry.local.database import open_database
    from quarry.local.runs import list_runs

    with open_database() as database:
        asyncio.run(list_runs(database, given.limit, with_feedback=given.feedback, as_json=given.json))
    return DONE


def _show_run(given: Arguments) -> int:
    import asyncio

    from quarry.local.database import open_database
    from quarry.local.runs import show_run

    with open_database() as database:
        asyncio.run(show_run(database, given.id, as_json=given.json))
    return DONE


def _show_credits(given: Arguments) -> int:
    import asyncio

    from quarry.local.credits import show_credits
    from quarry.local.database import open_database

    with open_database() as database:
        asyncio.run(show_credits(database, given.user, as_json=given.json))
    return DONE


def _grant_credits(given: Arguments) -> int:
    import asyncio

    from quarry.local.credits import grant_credits
    from quarry.local.database import open_database
    from quarry.people.access.credits import GRANT_MAX

    if given.credits > GRANT_MAX:
        raise WrongUsage(f"at most {GRANT_MAX:,} credits are granted at once")
    with open_database() as database:
        asyncio.run(grant_credits(database, given.user, given.credits))
    return DONE


def _eval(given: Arguments) -> int:
    import asyncio

    from quarry.local.comparison import read_earlier_queries
    from quarry.local.database import open_database
    from quarry.local.evaluation import evaluate, read_files

    # wrong lines are told before a database is started for them
    queries = read_files(given.files, given.domain)
    earlier = read_earlier_queries(given.against) if given.against else None
    with open_database() as database:
        asyncio.run(evaluate(queries, database, earlier=earlier, as_json=given.json))
    return DONE


def _tune(given: Arguments) -> int:
    import asyncio

    from quarry.local.database import open_database
    from quarry.local.evaluation import read_files
    from quarry.local.tune import reset, tune

    if given.reset == bool(given.files):
        raise WrongUsage("give a FILE of judged queries to tune by, or --reset")
    queries = read_files(given.files, given.domain) if given.files else []
    with open_database() as database:
        if given.reset:
            asyncio.run(reset(database, as_json=given.json))
        else:
            asyncio.run(tune(queries, database, folds=given.folds, apply=given.apply, as_json=given.json))
    return DONE


def _tools(given: Arguments) -> int:
    from quarry.local.tools import print_tools

    print_tools(given.format)
    return DONE


def _verify_index(given: Arguments) -> int:
    from quarry.local.index import verify

    return _index(given, verify)


def _rebuild_index(given: Arguments) -> int:
    from quarry.local.index import rebuild

    return _index(given, rebuild)


def _index(given: Arguments, act: Callable[..., bool]) -> int:
    from quarry.local.database import open_database
    from quarry.local.index import UnknownTable

    with open_database() as database:
        try:
            return _status(act(database, given.table, as_json=given.json))
        except UnknownTable as error:
            raise WrongUsage(str(error)) from error


def _cleanup(given: Arguments) -> int:
    from quarry.local.data import clean_up

    clean_up(as_json=given.json)
    return DONE


def _doctor(given: Arguments) -> int:
    from quarry.local.doctor import examine

    return _status(examine(as_json=given.json))


def _status(well: bool) -> int:
    return DONE if well else FAILED


class _Parser(argparse.ArgumentParser):
    """Wrong usage is told in one line. `appendix` is what the help ends with, made when it is asked for."""

    appendix: Callable[[], str] | None = None

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {' '.join(message.split())}; see `{self.prog} --help`\n")

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own keeps silent where nobody reads any more
        (file or sys.stdout).write(self.format_help())

    def format_help(self) -> str:
        return super().format_help() + (self.appendix() if self.appendix else "")


class _FilesAlone(argparse.Action):
    """An option with which all that is named are `files`, so that one is enough."""

    def __init__(self, *arguments: Any, files: argparse.Action, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._files = files

    def __call__(self, parser: object, namespace: Arguments, value: object, option: str | None = None) -> None:
        setattr(namespace, self.dest, value)
        self._files.nargs, self._files.required, self._files.default = "*", False, []
        if getattr(namespace, self._files.dest, None) is None:
            setattr(namespace, self._files.dest, [])


class _CommandsHelp(argparse.RawDescriptionHelpFormatter):
    """A list of commands in two columns: argparse forgets that names are indented, and breaks the line after a long one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 13


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="quarry",
        description="Agentic search over your own Postgres.",
        epilog=_EPILOG,
        formatter_class=_CommandsHelp,
    )
    parser.add_argument("--version", action="version", version=f"quarry {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    _add_servers(commands)
    _add_data_commands(commands)
    _add_search_commands(commands)
    _add_credits(commands)
    doctor = _add(commands, "doctor", _doctor, "check everything here and say what to do", "quarry doctor")
    _add_json(doctor)
    return parser


def _add_servers(commands: argparse._SubParsersAction[_Parser]) -> None:
    for name, run, summary in (
        ("serve", _serve, "serve the whole API on one port"),
        ("demo", _demo, "load the sample data where it is missing, then serve"),
    ):
        parser = _add(commands, name, run, summary, f"quarry {name} --port 8081")
        parser.add_argument("--host", default="127.0.0.1", help="the address to serve on (default: %(default)s)")
        parser.add_argument("--port", type=_port, default=8080, help="default: %(default)s; 0 takes a free one")


def _add_data_commands(commands: argparse._SubParsersAction[_Parser]) -> None:
    _add(commands, "sample", _sample, "load the sample data of every domain", "quarry sample")
    _add(commands, "migrate", _migrate, "bring the database up to date", "quarry migrate")

    drafting = _add(
        commands, "map", _map, "draft quarry.toml from tables that exist", "quarry map support --output quarry.toml"
    )  # fmt: skip
    drafting.description = (
        "Draft quarry.toml from the tables of a schema, by their names, types, keys and statistics. No row is read, and\n"
        "nothing is changed. Read the draft over: docs/own-data.md says what it means."
    )
    drafting.add_argument("schema", metavar="SCHEMA", nargs="?", default="public", help="default: %(default)s")
    drafting.add_argument("--output", metavar="FILE", type=Path, help="a new file to write (default: standard output)")
    drafting.add_argument("--force", action="store_true", help="overwrite the file")

    apply = _add(commands, "apply", _apply, "make the database agree with quarry.toml", "quarry apply --plan")
    apply.add_argument(
        "file", metavar="FILE", type=Path, nargs="?", default=Path("quarry.toml"), help="default: %(default)s"
    )
    apply.add_argument("--plan", action="store_true", help="say what would be done, and do nothing")
    apply.add_argument(
        "--no-embed", action="store_true", help="do not embed now; `quarry embed` or `serve` does it later"
    )

    reconcile = _add(
        commands, "reconcile", _reconcile, "compare collections with their tables, and mend what differs", "quarry reconcile"
    )  # fmt: skip
    reconcile.add_argument("collection", metavar="COLLECTION", nargs="?", help="only this one of quarry.toml")

    load = _add(commands, "load", _load, "load files into a table", "quarry load tickets.csv --as tickets")
    load.usage = "quarry load TABLE FILE... [OPTION...]\n       quarry load FILE... --as NAME [OPTION...]"
    load.description = (
        "Load a table from files: CSV with a header, JSON Lines, JSON arrays or Parquet, each gzipped or not. Every row is\n"
        "validated, then inserted, or updated where its id is known. Where a row is wrong it is named, and nothing of its\n"
        "file is kept. What was loaded is then embedded. With --as the files become a table of their own, which is\n"
        "declared in quarry.toml and searched: docs/own-data.md has more."
    )
    load.appendix = _loadable_tables
    load.add_argument("table", metavar="TABLE", help="one of the tables below; with --as there is none")
    files = load.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="a file in UTF-8, a folder of such, or - for standard input"
    )
    load.add_argument(
        "--as",
        dest="collection",
        metavar="NAME",
        action=_FilesAlone,
        files=files,
        help="make a table NAME of the files, or SCHEMA.NAME, and search it as a collection; load into it again later",
    )
    load.add_argument(
        "--key", metavar="COLUMN", help="with --as: the column that tells rows apart, if it is not guessed"
    )
    load.add_argument(
        "--format",
        choices=("csv", "jsonl", "json", "parquet"),
        help="otherwise by the file's ending, or by its content",
    )
    load.add_argument("--skip-invalid", action="store_true", help="leave wrong rows out and keep the others")
    load.add_argument("--no-embed", action="store_true", help="do not embed now; `quarry embed` does it later")

    embed = _add(commands, "embed", _embed, "embed the rows that have no vectors yet", "quarry embed --stale")
    which = embed.add_mutually_exclusive_group()
    which.add_argument("--stale", action="store_true", help="also the rows whose text has changed since")
    which.add_argument(
        "--all", action="store_true", help="drop every vector and embed everything anew, as after a change of model"
    )
    _add_index(commands)
    _add_json(_add(commands, "cleanup", _cleanup, "delete what has expired", "quarry cleanup"))
    uninstall = _add(
        commands, "uninstall", _uninstall, "drop all of Quarry's from the database", "quarry uninstall --yes"
    )
    uninstall.add_argument("--yes", action="store_true", help="without asking")


def _add_index(commands: argparse._SubParsersAction[_Parser]) -> None:
    index = commands.add_parser(
        "index",
        help="verify what search reads against the data, or make it anew",
        description="Verify what search reads against the data that it is made of, or make it anew: generated columns,\n"
        "rows of collections, values of facets, vectors, indexes, statistics. Nobody who searches has to wait for either.",
        epilog="example:\n  quarry index verify motions",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = index.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, run, summary in (
        ("verify", _verify_index, "list what differs from the data; status 1 where anything does"),
        ("rebuild", _rebuild_index, "make it anew; vectors only where they are missing or of an earlier text"),
    ):
        action = _add(actions, name, run, summary, f"quarry index {name} motions")
        action.add_argument(
            "table", metavar="TABLE", nargs="?", help="only this one of `quarry load --help`, or this collection"
        )
        _add_json(action)


def _add_search_commands(commands: argparse._SubParsersAction[_Parser]) -> None:
    ask = _add(
        commands, "ask", _ask, "ask a question and watch it being answered",
        'quarry ask records "Why was the bridge closed to trucks?"',
    )  # fmt: skip
    ask.add_argument("domain", metavar="DOMAIN", choices=sorted(DOMAINS), help=", ".join(sorted(DOMAINS)))
    ask.add_argument("question", metavar="QUESTION", help="in plain words, up to 2,000 characters")
    ask.add_argument("--json", action="store_true", help="the raw events, one JSON object a line")

    tools = _add(
        commands, "tools", _tools, "print the tools for agents, as definitions", "quarry tools --format openai"
    )  # fmt: skip
    tools.add_argument(
        "--format", choices=("openai", "mcp"), default="openai", help="whose function format (default: %(default)s)"
    )

    runs = _add(commands, "runs", _runs, "list past searches, or show one", "quarry runs --limit 5")
    runs.add_argument("--limit", type=_positive, default=20, metavar="N", help="how many (default: %(default)s)")
    runs.add_argument("--feedback", action="store_true", help="those of which somebody said whether they helped")
    _add_json(runs)
    actions = runs.add_subparsers(title="commands", metavar="[COMMAND]", parser_class=_Parser)
    show = _add(actions, "show", _show_run, "show one run as a timeline", "quarry runs show 3f2a")
    show.add_argument("id", metavar="ID", help="the run's id, or the beginning of it")
    # without a default: `quarry runs --json show ID` has set it already
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="for programs: JSON on stdout")

    evaluate = _add(
        commands, "eval", _eval, "measure search on judged queries",
        "quarry eval sql/sample/records/judged.jsonl",
    )  # fmt: skip
    evaluate.description = (
        "Run each query of a judged file through the search of its domain, in this process, and print by kind of\n"
        "query how good the ranking is, how often an answer is right or a demand broken, and the times. With a\n"
        "chat model the searches that use one call it. docs/evaluating.md says how to judge queries of your own."
    )
    evaluate.add_argument("files", metavar="FILE", type=Path, nargs="+", help="one judged query a line, as JSON")
    evaluate.add_argument("--domain", choices=sorted(DOMAINS), help="only the queries of this domain")
    evaluate.add_argument(
        "--against", metavar="EARLIER.json", type=Path, help="compare with what `quarry eval --json` wrote earlier"
    )
    _add_json(evaluate)

    tune = _add(
        commands, "tune", _tune, "find the weights of words and meaning that suit your data",
        "quarry tune sql/sample/records/judged.jsonl",
    )  # fmt: skip
    tune.description = (
        "Try weights of words and meaning on judged queries, and see how those that did best do on queries that were\n"
        "held out. --apply stores them for this database, if they do better there; what the environment sets wins."
    )
    tune.add_argument("files", metavar="FILE", type=Path, nargs="*", help="one judged query a line, as JSON")
    tune.add_argument("--domain", choices=sorted(DOMAINS), help="only the queries of this domain")
    tune.add_argument(
        "--folds",
        type=_folds,
        default=5,
        metavar="N",
        help="how many parts are held out in turn (default: %(default)s)",
    )
    tune.add_argument("--apply", action="store_true", help="store the best weights for this database")
    tune.add_argument("--reset", action="store_true", help="forget what was stored")
    _add_json(tune)


def _add_credits(commands: argparse._SubParsersAction[_Parser]) -> None:
    credits = commands.add_parser(
        "credits",
        help="show a user's credits, or grant some",
        description="Show a user's credits, or grant some. A people search costs one, and so does a contact unlocked.",
        epilog="example:\n  quarry credits grant ada 50",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = credits.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = _add(actions, "show", _show_credits, "show a user's balance and latest bookings", "quarry credits show ada")
    show.add_argument("user", metavar="USER", type=_user, help="locally a name; deployed, the user's Cognito `sub`")
    _add_json(show)
    give = _add(actions, "grant", _grant_credits, "give a user credits", "quarry credits grant ada 50")
    give.add_argument("user", metavar="USER", type=_user, help="as above")
    give.add_argument("credits", metavar="N", type=_positive, help="how many, on top of what there is")


def _add(commands: argparse._SubParsersAction[_Parser], name: str, run: Command, summary: str, example: str) -> _Parser:
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs: JSON on stdout")


def _loadable_tables() -> str:
    from quarry.local.data import describe_tables

    return f"\ntables, in the order in which they refer to each other, and their fields:\n\n{describe_tables()}\n"


def _port(text: str) -> int:
    if text.isdecimal() and int(text) <= PORT_MAX:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to {PORT_MAX}")


def _user(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("the user's name is not UTF-8") from None
    if not text.strip():
        raise argparse.ArgumentTypeError("the user's name is empty")
    return text


def _folds(text: str) -> int:
    if text.isdecimal() and int(text) >= 2:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 1")


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
