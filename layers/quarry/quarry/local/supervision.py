"""Keeps the embedded Postgres running under `quarry serve`: if it stops for any reason, it is started again.

Several servers may share one directory. Each starts it when it notices, one after the other; all but the first find it running.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from quarry.local.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError

LOOK_SECONDS = 0.5
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""A server that has run this long is healthy: if it stops later, the pauses start from the shortest again."""

logger = logging.getLogger(__name__)


@contextmanager
def supervised(server: EmbeddedPostgres) -> Iterator[None]:
    """Restart `server` whenever it has stopped, until the end of the block."""
    ending = threading.Event()
    watching = threading.Thread(target=_watch, args=(server, ending), name="embedded-postgres", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ending.set()
        # a start that is under way must finish before the server can be released
        watching.join()


def _watch(server: EmbeddedPostgres, ending: threading.Event) -> None:
    pause, started = FIRST_PAUSE_SECONDS, time.monotonic()
    while not ending.wait(LOOK_SECONDS):
        if not server.is_gone():
            continue
        if time.monotonic() - started > STEADY_SECONDS:
            pause = FIRST_PAUSE_SECONDS
        logger.warning("the embedded Postgres has stopped; restarting it in %g s", pause)
        if ending.wait(pause):
            return
        try:
            server.start()
        except EmbeddedPostgresError as error:
            logger.error("the embedded Postgres did not start: %s", " ".join(str(error).split()))
        else:
            logger.warning("the embedded Postgres is running again")
        pause, started = min(2 * pause, LONGEST_PAUSE_SECONDS), time.monotonic()
