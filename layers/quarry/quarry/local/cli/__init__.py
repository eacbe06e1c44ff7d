"""The command `quarry`: its parser and how each command ends. The modules here define the commands.

Nothing slow is imported here, so that `quarry --help` is quick; each command imports what it needs.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from quarry import __version__
from quarry.local.cli import data, searching
from quarry.local.cli.parsing import FAILED, WRONG_USAGE, Arguments, Command, CommandsHelp, Parser, WrongUsage

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

_EPILOG = """\
environment:
  DATABASE_URL     a Postgres of your own; unset: the embedded one
  QUARRY_DATA_DIR  where the embedded one keeps its data (default: .quarry)
  NO_COLOR         set to anything: no colours
  QUARRY_TOKEN     your token for the server of --server; for a local server, any name
  docs/settings.md describes OPENAI_API_KEY, OPENAI_BASE_URL and all other settings;
  the file .env of this folder sets what the environment does not

exit status:
  0 done, 1 failed, 2 wrong usage

`quarry COMMAND --help` describes a command.
"""


def main(arguments: Sequence[str] | None = None, *, in_stack: bool = False) -> int:
    """Run one command; the exit status. `in_stack` says that this is the function `admin` of a stack."""
    argv = sys.argv[1:] if arguments is None else [*arguments]
    # As the local embedding model needs it, before anything else imports numpy, which reads it once.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a question mark for characters that the terminal's encoding lacks
            stream.reconfigure(errors="replace")
    try:
        try:
            return _run(parser().parse_args(argv, Arguments(argv=argv, in_stack=in_stack)))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed it. Nothing must be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(given: Arguments) -> int:
    from quarry.local.config import take_dotenv
    from quarry.local.logs import configure_logging

    # Commands report errors themselves; `serve` logs more once it knows the settings.
    configure_logging("ERROR")
    signal.signal(signal.SIGTERM, _terminate)
    try:
        given.dotenv = take_dotenv()
        return _chosen(given)(given)
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


def _chosen(given: Arguments) -> Command:
    """The command to run, here, on the server or in the stack. Raises WrongUsage."""
    if given.in_stack:
        from quarry.local.stack import check_fit

        check_fit(given)
    if given.stack is not None:
        from quarry.local.stack import run_in_stack

        return run_in_stack
    command: Command | None = given.run if given.server is None else given.remote
    if command is None:
        raise WrongUsage("this command needs the database itself: run it without --server, with DATABASE_URL set")
    return command


def _explain(error: Exception) -> str | None:
    """The message for an expected error; None for a bug."""
    from quarry.platform.errors import QuarryError

    if isinstance(error, QuarryError):
        return error.message
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("quarry"):
        return f"{error.name} is not installed: pip install quarry-search"
    from quarry.local.embedded_postgres import EmbeddedPostgresError

    if isinstance(error, EmbeddedPostgresError):
        return str(error)
    if isinstance(error, OSError):
        return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
    return _explain_postgres(error)


def _explain_postgres(error: Exception) -> str | None:
    import psycopg

    from quarry.postgres.failures import translate

    if not isinstance(error, psycopg.Error):
        return None
    translated = translate(error)
    return translated.message if translated else f"Postgres reports: {error.diag.message_primary or error}"


def _complain(message: str) -> None:
    print("quarry:", " ".join(message.split()), file=sys.stderr)


def _terminate(signal_number: int, frame: FrameType | None) -> NoReturn:
    """End on SIGTERM as on an error, so that the embedded Postgres is released."""
    raise SystemExit(TERMINATED)


def parser() -> Parser:
    """The whole command line."""
    quarry = Parser(
        prog="quarry",
        description="Agentic search over your own Postgres.",
        epilog=_EPILOG,
        formatter_class=CommandsHelp,
    )
    quarry.add_argument("--version", action="version", version=f"quarry {__version__}")
    elsewhere = quarry.add_mutually_exclusive_group()
    elsewhere.add_argument("--server", metavar="URL", help="ask a server; works with `ask`, `query` and `credits show`")
    elsewhere.add_argument(
        "--stack", metavar="NAME", help="run the command inside a stack on AWS, with your AWS credentials"
    )
    commands = quarry.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    searching.add_serving(commands)
    data.add_to(commands)
    searching.add_searching(commands)
    searching.add_judging(commands)
    searching.add_users(commands)
    searching.add_installation(commands)
    return quarry
