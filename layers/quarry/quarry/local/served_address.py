"""The address of the server that runs on this machine, so that other commands can link to it.

`quarry serve` and `quarry demo` note it in the data directory. A server that was killed leaves its note behind, so an address
counts only while something listens there.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

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
