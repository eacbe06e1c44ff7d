"""Logging of a local process: one line per event on stderr."""

from __future__ import annotations

import asyncio
import logging

# At INFO these log every request and connection, which our own modules log.
_CHATTY = ("asyncio", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "psycopg", "psycopg.pool", "uvicorn")


def configure_logging(level: str) -> None:
    """Log messages of at least `level`; a later call replaces an earlier one."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)
    least = max(logging.WARNING, logging.getLogger().level)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.NOTSET if level == "DEBUG" else least)
    server = logging.getLogger("uvicorn.error")
    if not any(isinstance(known, _NoCancellations) for known in server.filters):
        server.addFilter(_NoCancellations())


class _NoCancellations(logging.Filter):
    """Drops uvicorn's reports of streams that it cut off at shutdown: these are not errors."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
