"""What a command finds on this machine: the settings (`quarry config show`), the file `.env`, the log, and the address of a
server that runs here, so that other commands can link to it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from quarry.local.output import write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings
from quarry.platform.text import without_credentials

Source = Literal["environment", ".env", "default"]

HIDDEN = "(hidden)"


def show_settings(dotenv: Set[str], *, as_json: bool) -> None:
    """Print the settings, without secrets; `dotenv` names the variables that came from the file. Raises ConfigurationError."""
    settings = [*_settings(dotenv)]
    if as_json:
        names = ("name", "value", "source")
        write_json({"settings": [dict(zip(names, each, strict=True)) for each in settings]})
        return
    rows = ([name, source, printable(value or "unset")] for name, value, source in settings)
    write_table(make_console(), ["setting", "from", "value"], rows)


def _settings(dotenv: Set[str]) -> Iterator[tuple[str, str | None, Source]]:
    """Each setting by the name of its variable, its value, if it is set, and its source; in the order of their documentation."""
    settings = Settings.from_environment()
    secrets = Settings.secrets()
    for name in Settings.model_fields:
        value = getattr(settings, name)
        variables = {name.upper(), f"{name.upper()}_FILE"} if name in secrets else {name.upper()}
        yield name.upper(), _display(value, hidden=name in secrets), _source(variables, dotenv)


def _source(variables: Set[str], dotenv: Set[str]) -> Source:
    if variables & dotenv:
        return ".env"
    return "environment" if any(os.environ.get(variable) for variable in variables) else "default"


def _display(value: object, *, hidden: bool) -> str | None:
    if value is None:
        return None
    if hidden:
        return HIDDEN
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return without_credentials(text)


DOTENV = Path(".env")


def take_dotenv() -> frozenset[str]:
    """Set Quarry's variables that are in the file and not in the environment; return their names.

    Raises ConfigurationError if there is a file and it cannot be read.
    """
    if not DOTENV.is_file():
        return frozenset()
    from dotenv import dotenv_values

    try:
        values = dotenv_values(DOTENV)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{DOTENV} cannot be read: {error}") from error
    new_values = {name: value for name in Settings.variables() if (value := values.get(name)) and not _is_set(name)}
    os.environ.update(new_values)
    return frozenset(new_values)


def _is_set(name: str) -> bool:
    """Whether the environment has a value of the setting, be it in the variable of its file."""
    plain = name.removesuffix("_FILE") if name.removesuffix("_FILE") in Settings.variables() else name
    return any(os.environ.get(each) for each in (plain, f"{plain}_FILE"))


# At INFO these log every request and connection, which our own modules log.
_CHATTY = ("asyncio", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "psycopg", "psycopg.pool", "uvicorn")


def configure_logging(level: str) -> None:
    """Log messages of at least `level`; a later call replaces an earlier one."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)
    least = max(logging.WARNING, logging.getLogger().level)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.NOTSET if level == "DEBUG" else least)
    server = logging.getLogger("uvicorn.error")
    if not any(isinstance(existing, _NoCancellations) for existing in server.filters):
        server.addFilter(_NoCancellations())


class _NoCancellations(logging.Filter):
    """Drops uvicorn's reports of streams that it cut off at shutdown: these are not errors."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


FILE = "served_address"
CONNECT_SECONDS = 0.2


@contextmanager
def noted(directory: Path, address: str) -> Iterator[None]:
    """Note that `address` is served, until the end of the block. Of several servers on one directory, the last one counts."""
    directory.mkdir(parents=True, exist_ok=True)
    note = directory / FILE
    note.write_text(address)
    try:
        yield
    finally:
        if _read(note) == address:
            note.unlink(missing_ok=True)


def served_address(directory: Path) -> str | None:
    """The address of the running server, or None."""
    address = _read(directory / FILE)
    parts = urlsplit(address)
    if not parts.hostname or not parts.port:
        return None
    try:
        socket.create_connection((parts.hostname, parts.port), CONNECT_SECONDS).close()
    except OSError:
        return None
    return address


def _read(note: Path) -> str:
    try:
        return note.read_text()
    except OSError:
        return ""
