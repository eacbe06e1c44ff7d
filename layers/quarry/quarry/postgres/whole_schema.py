"""A tenant's schema made at once from `sql/schema.sql`, the net effect of all migrations and functions: two fifths of the CPU."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from psycopg.sql import Identifier, Literal

from quarry.postgres.schema import EXTENSIONS_SCHEMA, SyncConnection, statements_of, value

# settings of the session, and what is there before a tenant is
_NOT_OF_TENANTS = re.compile(r"(set|select pg_catalog\.set_config|create schema|create extension)\b", re.IGNORECASE)
_HEADINGS = re.compile(r"^--\n-- .*\n--\n", re.MULTILINE)

_NAMED = re.compile(
    r"(?P<qualified>(?<!')\bquarry\.)|(?P<schema>(?<=\bSCHEMA )quarry\b)|(?P<path>(?<=\bSET search_path TO )'quarry'(?=,))"
    r"|(?P<owner>\bFOR ROLE quarry )"
)
_DIMENSIONS = re.compile(r"(?<=\bhalfvec\()384(?=\))")

_FITS = """
select current_setting('server_version_num')::int >= 180000
  and (select bool_and(e.extnamespace = to_regnamespace(%s)) from pg_extension e
    where e.extname in ('vector', 'pg_trgm', 'btree_gin', 'fuzzystrmatch'))
"""
"""The file is of this version's pg_dump, and names where extensions usually are."""


def make_whole(connection: SyncConnection, schema: str, directory: Path, embedding_dimensions: int) -> bool:
    """Make all that `schema.sql` has in an empty schema; whether that was possible. If not, nothing is changed."""
    file = directory / "schema.sql"
    if not (file.exists() and value(connection, _FITS, [EXTENSIONS_SCHEMA])):
        return False
    name = Identifier(schema).as_string(connection)
    named = {"qualified": f"{name}.", "schema": name, "path": Literal(schema).as_string(connection), "owner": ""}
    text = _NAMED.sub(lambda found: named[str(found.lastgroup)], _statements(file))
    text = _DIMENSIONS.sub(str(embedding_dimensions), text)
    before = value(connection, "select current_setting('search_path')")
    with connection.transaction():
        connection.execute(
            "select set_config('check_function_bodies', 'off', true), set_config('search_path', '', true)"
        )
        connection.execute(text.encode(), prepare=False)
        connection.execute("select set_config('search_path', %s, true)", [before])
    return True


@cache
def _statements(file: Path) -> str:
    text = _HEADINGS.sub("", file.read_text(encoding="utf-8"))
    return ";\n".join(each for each in statements_of(text) if not _NOT_OF_TENANTS.match(each))
