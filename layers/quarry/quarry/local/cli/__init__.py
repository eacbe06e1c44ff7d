"""The command `quarry`: how each command ends. `commands` defines the commands.

Nothing slow is imported here, so that `quarry --help` is quick; each command imports what it needs.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from quarry.local.cli.command import FAILED, WRONG_USAGE, Invocation
from quarry.local.cli.commands import command_line


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
            return _run(argv, in_stack=in_stack)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed it. Nothing must be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(argv: list[str], *, in_stack: bool) -> int:
    try:
        return int(command_line().main(argv, "quarry", standalone_mode=False, obj=Invocation(argv, in_stack)))
    except click.UsageError as error:
        name = error.ctx.command_path if error.ctx else "quarry"
        _complain(f"{error.format_message().rstrip('.')}; see `{name} --help`", name)
        return WRONG_USAGE
    except BrokenPipeError:
        raise
    except Exception as error:
        message = _explain(error)
        if message is None:
            raise
        _complain(message)
        return FAILED


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

    from quarry.postgres.connections import translate

    if not isinstance(error, psycopg.Error):
        return None
    translated = translate(error)
    return translated.message if translated else f"Postgres reports: {error.diag.message_primary or error}"


def _complain(message: str, name: str = "quarry") -> None:
    print(f"{name}:", " ".join(message.split()), file=sys.stderr)
