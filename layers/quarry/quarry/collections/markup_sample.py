"""Which columns of text hold HTML, by a sample of their rows: statistics leave out long values."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from psycopg.errors import Error as PostgresError
from psycopg.sql import SQL, Identifier, Literal

from quarry.collections.guessing import is_text
from quarry.collections.json_sample import SAMPLE_SECONDS, spread
from quarry.collections.relations import Relation
from quarry.postgres.schema import SyncConnection

ROWS_MAX = 500
"""How many rows of a table are sampled."""
CHARACTERS_MAX = 4_000
"""How many characters of each text are looked at."""
WIDTH_MIN = 8
"""Columns that are narrower on average hold no element: `<b>x</b>`."""

_ELEMENT = (
    r"</(a|b|body|br|code|div|em|h[1-6]|head|html|i|li|ol|p|pre|script|span|strong|style|table|td|tr|u|ul)\s*>"
    r"|<br\s*/?>|<!doctype html|<!--.*?-->"
)
"""What ends an element of HTML, or stands alone."""


def with_markup(connection: SyncConnection, relations: Iterable[Relation]) -> list[Relation]:
    """The tables and views, with the columns of text marked that hold HTML. None where they cannot be read."""
    return [_marked(connection, each) for each in relations]


def _marked(connection: SyncConnection, relation: Relation) -> Relation:
    texts = [each.name for each in relation.columns if is_text(each) and (each.width or WIDTH_MIN) >= WIDTH_MIN]
    if not texts or not relation.may_select or relation.is_row_security_active:
        return relation
    marked = _holding_html(connection, relation, texts)
    columns = tuple(replace(each, is_html=each.name in marked) for each in relation.columns)
    return replace(relation, columns=columns) if marked else relation


def _holding_html(connection: SyncConnection, relation: Relation, texts: list[str]) -> set[str]:
    holds = SQL("bool_or(left({}::text, {}) ~* {})")
    query = SQL("select {} from (select {} from {}{} limit {}) s").format(
        SQL(", ").join(holds.format(Identifier(name), Literal(CHARACTERS_MAX), Literal(_ELEMENT)) for name in texts),
        SQL(", ").join(map(Identifier, texts)),
        Identifier(*relation.qualified),
        spread(relation),
        Literal(ROWS_MAX),
    )
    # whoever reads a broken view later reports the error; the rollback also resets the timeout
    with suppress(PostgresError), connection.transaction(force_rollback=True):
        connection.execute(SQL("set local statement_timeout = {}").format(Literal(SAMPLE_SECONDS * 1000)))
        row = connection.execute(query).fetchone()
        return {name for name, holds_it in zip(texts, row or (), strict=True) if holds_it}
    return set()
