"""Dates that Postgres holds and Python cannot: endless ones, those before Christ and those after the year 9999."""

from __future__ import annotations

import datetime
from typing import Any

from psycopg import BaseConnection, DataError
from psycopg.abc import Buffer
from psycopg.types.datetime import DateBinaryLoader, DateLoader


class _Date(DateLoader):
    def load(self, data: Buffer) -> datetime.date | None:  # type: ignore[override]
        try:
            return super().load(data)
        except DataError:
            return None


class _BinaryDate(DateBinaryLoader):
    def load(self, data: Buffer) -> datetime.date | None:  # type: ignore[override]
        try:
            return super().load(data)
        except DataError:
            return None


def know_dates(connection: BaseConnection[Any]) -> None:
    """Have such a date be read as none: one row with it must not fail all others."""
    connection.adapters.register_loader("date", _Date)
    connection.adapters.register_loader("date", _BinaryDate)
