"""Quarry's own schema: how it is found and created.

SQL names no schema. Each connection or transaction sets a search path: the schema, the schemas of extensions, and temporary
tables last, so that no temporary table hides one of Quarry's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Composed, Identifier, Literal

from quarry.platform.errors import ConfigurationError

EXTENSIONS_SCHEMA = "public"
"""Where extensions are created: other users of the database look for them there."""

_BOOKS = ("quarry_migrations", "quarry_functions")

_SEARCH_PATH = """
select concat_ws(', ', quote_ident({schema}), (
  select string_agg(distinct quote_ident(n.nspname), ', ') from pg_catalog.pg_extension e
  join pg_catalog.pg_namespace n on n.oid = e.extnamespace
  where n.nspname not in ('pg_catalog', {schema})), 'pg_temp') as search_path
"""

_HOLDS_ANYTHING = """
select exists (select from pg_class where relnamespace = quote_ident(%s)::regnamespace)
  or exists (select from pg_proc where pronamespace = quote_ident(%s)::regnamespace)
"""

# trigger functions, and functions of sql/functions with their owner's rights that resolve names at run time
_FUNCTIONS_ASTRAY = """
select oid::regprocedure::text from pg_proc
where pronamespace = current_schema()::regnamespace and (prorettype = 'trigger'::regtype and not prosecdef or prosecdef
    and prosqlbody is null and proname in (select substring(name from '([^/]+)[.]sql$') from quarry_functions))
  and not coalesce('search_path=' || current_setting('search_path') = any(proconfig), false)
"""

_MISSING_USAGE = """
select distinct format('grant usage on schema %I to %s', n.nspname,
  case when a.grantee = 0 then 'public' else a.grantee::regrole::text end)
from pg_namespace n join pg_class c on c.relnamespace = n.oid cross join lateral aclexplode(c.relacl) a
where n.nspname = current_schema() and a.grantee <> c.relowner
  and not exists (select from aclexplode(n.nspacl) u where u.grantee = a.grantee and u.privilege_type = 'USAGE')
"""

_CREATION = re.compile(
    r"^create (?:or replace )?(?:unlogged )?(table|type|function) (?:if not exists )?(\w+)", re.MULTILINE
)
_EXTENSION = re.compile(r"^create extension if not exists (\w+)", re.MULTILINE)

SyncConnection = psycopg.Connection[TupleRow]


def search_path_query(schema: str) -> Composed:
    """The query for the search path with `schema` and the schemas of extensions."""
    return SQL(_SEARCH_PATH).format(schema=Literal(schema))


def has_extensions(search_path: str) -> bool:
    """Whether the search path has schemas of extensions: before the first `migrate` it has none."""
    return search_path.count(",") > 1


def set_search_path(connection: SyncConnection, schema: str) -> None:
    """Set the session's search path to `schema` and the current schemas of extensions. What the session makes stays on this
    server: Citus would repeat it on all servers, also where no tenant is.
    """
    query = SQL(
        "select set_config('search_path', ({}), false),"
        " (select set_config('citus.enable_ddl_propagation', 'off', false) from pg_extension where extname = 'citus')"
    ).format(search_path_query(schema))
    connection.execute(query)


def is_installed(connection: SyncConnection, schema: str) -> bool:
    """Whether `migrate` has created Quarry's tables in `schema`."""
    return bool(
        value(connection, "select to_regclass(format('%%I.quarry_migrations', %s::text)) is not null", [schema])
    )


def make_schema(connection: SyncConnection, schema: str) -> None:
    """Create the schema if it is missing. Raises ConfigurationError if it contains objects that are not Quarry's."""
    if not value(connection, "select to_regnamespace(quote_ident(%s)) is not null", [schema]):
        connection.execute(SQL("create schema {}").format(Identifier(schema)))
    elif value(connection, _HOLDS_ANYTHING, [schema, schema]):
        raise ConfigurationError(
            f"The schema {schema} of this database has tables that are not Quarry's: set DATABASE_SCHEMA to another name."
        )


def make_extensions(connection: SyncConnection, text: str, schema: str) -> None:
    """Create the extensions that a migration needs, outside `schema`, since they outlive it; then update the search path."""
    names = _EXTENSION.findall(text)
    for name in names:
        connection.execute(
            SQL("create extension if not exists {} schema {}").format(Identifier(name), Identifier(EXTENSIONS_SCHEMA))
        )
    if names:
        set_search_path(connection, schema)


def created_names(
    connection: SyncConnection, schema: str, migrations: Iterable[tuple[str, str]]
) -> dict[str, list[str]]:
    """What Quarry has created in `schema`, by kind: names of tables, types and functions (some of them are views)."""
    recorded = SQL("select name from {}")
    applied, files = (
        [name for (name,) in connection.execute(recorded.format(Identifier(schema, table))).fetchall()]
        for table in _BOOKS
    )
    names = {"table": [*_BOOKS], "type": [], "function": [Path(name).stem for name in files]}
    for name, text in migrations:
        for kind, of_kind in _CREATION.findall(text) if name in applied else ():
            names[kind].append(of_kind)
    return names


def settle(connection: SyncConnection) -> None:
    """Set the search path of triggers, and of functions with their owner's rights, so that it does not depend on the caller; and
    let everyone who was granted a table use the schema.
    """
    # by its value: a distributed Postgres refuses `from current`
    path = SQL(value(connection, "select current_setting('search_path')"))
    for (function,) in connection.execute(_FUNCTIONS_ASTRAY).fetchall():
        connection.execute(SQL("alter function {} set search_path to {}").format(SQL(function), path))
    for (grant,) in connection.execute(_MISSING_USAGE).fetchall():
        connection.execute(SQL(grant))


def value(connection: SyncConnection, query: LiteralString | Composed, parameters: Sequence[object] = ()) -> Any:
    """The first value of the first row; None if there is no row."""
    row = connection.execute(query, parameters or None).fetchone()
    return row[0] if row else None


_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\* )
  | (?P<quoted> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$ )
  | (?P<word> [A-Za-z_][\w$]* )
  | (?P<number> \d\w* | \$\d+ )
  | (?P<mark> [;()] )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def statements_of(text: str) -> Iterator[str]:
    """The statements of `text`, without their semicolons. Semicolons in quotes, dollar quotes, comments, parentheses and bodies
    (`begin atomic … end`) end none.
    """
    start = place = parentheses = blocks = 0
    has_words, word = False, ""
    while match := _TOKEN.search(text, place):
        place = match.end()
        if match["comment"]:
            place = _end_of_comment(text, match.start()) if match["comment"] == "/*" else place
            continue
        before, word = word, (match["word"] or "").lower()
        if match["mark"] == ";" and not parentheses and not blocks:
            if has_words:
                yield text[start : match.start()].strip()
            start, has_words = place, False
            continue
        has_words = True
        parentheses += {"(": 1, ")": -1}.get(match["mark"], 0)
        if (before, word) == ("begin", "atomic") or (blocks and word == "case"):
            blocks += 1
        elif blocks and word == "end":
            blocks -= 1
    if has_words:
        yield text[start:].strip()


def _end_of_comment(text: str, start: int) -> int:
    """Where the comment that begins at `start` ends; comments may contain others."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)
