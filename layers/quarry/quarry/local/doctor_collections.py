"""A finding of `quarry doctor`, and the checks of collections: changed tables, missing rights, and rows out of step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Literal

from psycopg import Error as PostgresError
from psycopg.rows import class_row
from psycopg.sql import SQL, Identifier

from quarry.collections.apply import hash_of_functions, stored_collections
from quarry.collections.catalog_reading import relations_named, with_documents
from quarry.collections.checking import bypass, shown_to_all
from quarry.collections.collection import ENGLISH, Collection
from quarry.collections.declaration import FILE_NAME
from quarry.collections.relations import Relation
from quarry.collections.secrets import exposed
from quarry.collections.uses import Relations, UsedColumn, declared_source, tables_named
from quarry.local.apply import planned, read_declared
from quarry.platform.errors import QuarryError
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.settings import Settings
from quarry.postgres.schema import SyncConnection
from quarry.records.sources import RecordTypes, SearchedType, with_collections

NAMED_MAX = 5
"""How many changes are named."""
KEY_SECONDS = 5
"""The time limit of looking for a key that two rows have."""
ROWS_READ = 20
"""How many rows of a collection are read, as a search would, to check that reading works."""

_STATE = """
select c.id, c.problem,
  coalesce(sees_all_rows(r.oid::regclass), true) as sees_all,
  (select count(*) from pg_trigger t where t.tgfoid = to_regproc('note_changes_' || c.id) and t.tgenabled in ('O', 'A'))
    as triggers,
  (select count(*) from collection_changes q where q.collection = c.id) as waiting,
  (select extract(epoch from now() - min(q.at))::float8 from collection_changes q where q.collection = c.id) as waiting_for
from collections c left join pg_class r on r.oid = c.source
order by c.id
"""
_TRIGGERS = 4


@dataclass(frozen=True)
class _State:
    id: int
    problem: str | None
    sees_all: bool
    triggers: int
    waiting: int
    waiting_for: float | None


def collection_findings(connection: SyncConnection, embedding_model: str) -> Iterator[Finding]:
    """The findings on each collection."""
    collections = stored_collections(connection)
    with connection.cursor(row_factory=class_row(_State)) as cursor:
        states = {state.id: state for state in cursor.execute(_STATE)}
    named = tables_named({name: each.declaration for name, each in collections.items()})
    found = relations_named(connection, named | {each.source for each in collections.values()})
    relations = {each.qualified: each for each in with_documents(connection, found.values())}
    types = with_collections([*collections.values()], has_built_in=False)
    for collection in collections.values():
        unreadable = _unreadable(connection, types[collection.name], types)
        doubled = "" if unreadable else _doubled(connection, collection, relations)
        yield _finding(collection, states[collection.id], relations, unreadable, doubled)
        yield from _secrets(collection, relations)
        source = relations.get(collection.source)
        if source and source.knows_user and collection.declaration.scope_setting is None:
            problem, _, advice = shown_to_all(source).partition(": ")
            yield Finding("absent", f"rows of {collection.name}", problem, advice)
        other = [each for each in collection.languages if each != ENGLISH] if collection.declaration.has_meaning else []
        if embedding_model == LOCAL_EMBEDDING_MODEL and other:
            yield Finding(
                "absent",
                f"meaning in {collection.name}",
                f"{embedding_model} understands only English: text in {' and '.join(other)} is searched by words",
                "if words are not enough, use a multilingual model: set EMBEDDINGS=openai, then run `quarry embed --all`",
            )


def _secrets(collection: Collection, relations: Relations) -> Iterator[Finding]:
    """Columns that look like secrets and that every caller can see."""
    source = relations.get(collection.source)
    found = exposed(collection.declaration, source, relations) if source else ()
    if shown := "; ".join(dict.fromkeys(each.reason for each in found)):
        advice = "add them to `hidden` in quarry.toml, or show other columns, then run `quarry apply`"
        yield Finding("absent", f"secrets in {collection.name}", shown, f"unless everyone may see them: {advice}")


def _unreadable(connection: SyncConnection, type: SearchedType, types: RecordTypes) -> str | None:
    """Postgres' reason why a search could not read its rows; None if it can."""
    keys = SQL("select w.id from {} w").format(Identifier(type.rows))
    if not type.is_searched:
        keys = SQL("select {} as id from {} t").format(SQL(type.table.key("t")), SQL(type.table.rows))
    read = SQL("select r.* from ({} limit {}) k cross join lateral ({} offset 0) r").format(
        keys, ROWS_READ, SQL(type.text)
    )
    try:
        with connection.transaction(force_rollback=True):
            for name, value in types.settings({}).items():
                connection.execute("select set_config(%s, %s, true)", [name, value])
            connection.execute(read)
    except PostgresError as error:
        return error.diag.message_primary or error.__class__.__name__
    return None


def _doubled(connection: SyncConnection, collection: Collection, relations: Relations) -> str:
    """What two rows have the same key; "" where no two have, a unique index says so, or it takes too long to see."""
    source = relations.get(collection.source)
    if source is None or not collection.key or any({*key} == {*collection.key} for key in source.keys):
        return ""
    counted = SQL(
        "select {key}, count(*) from {rows} t group by 1 having count(*) > 1 or {key} is null limit 1"
    ).format(key=SQL(collection.key_text("t")), rows=SQL(collection.source_sql))
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(SQL("set local statement_timeout = {}").format(KEY_SECONDS * 1000))
            row = connection.execute(counted).fetchone()
    except PostgresError:
        return ""
    return f"{row[1]:,} rows have {row[0] if row[0] is not None else 'none'}" if row else ""


def _changed(collection: Collection, relation: Relation) -> Iterator[str]:
    """Changes of the columns that a collection uses."""
    columns = {each.number: each for each in relation.columns}
    for name, used in sorted(collection.columns.items()):
        now, holder = columns.get(used.number), used.path[0] if used.path else name
        if now is None:
            yield f"{name} no longer exists"
        elif now.name != holder:
            yield f"{holder} is now called {now.name}"
        elif UsedColumn.of(now) != used if not used.path else relation.at(name) is None:
            yield f"{holder} is now {now.type}"


def _finding(
    collection: Collection,
    state: _State,
    relations: Mapping[tuple[str, str], Relation],
    unreadable: str | None,
    doubled: str,
) -> Finding:
    subject = f"collection {collection.name}"
    for is_broken, detail, advice in (
        *_faults_of_tables(collection, relations),
        (bool(doubled), f"its key {', '.join(collection.key)} is not unique: {doubled}", _NAME_KEY),
        *_faults(collection, state),
        (unreadable is not None, f"its rows cannot be read: {unreadable}", "mend the policies, views and functions"),
    ):
        if is_broken:
            return Finding("broken", subject, detail, advice)
    if state.waiting:
        wait = "1 change waits" if state.waiting == 1 else f"{state.waiting:,} changes wait"
        detail = f"{wait}, the oldest for {_duration(state.waiting_for or 0)}"
        advice = "`quarry serve` or the scheduled function will read them; `quarry reconcile` reads them now"
        return Finding("absent", subject, detail, advice)
    return Finding("ok", subject, f"up to date with {'.'.join(collection.source)}")


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 2 * 60 else f"{seconds:.0f} seconds"


def unapplied(connection: SyncConnection, settings: Settings) -> Iterator[Finding]:
    """What the quarry.toml of this folder declares and the database does not have yet."""
    file = Path(FILE_NAME)
    if not file.exists():
        return
    subject = f"changes in {file}"
    try:
        with redirect_stderr(StringIO()):  # its warnings are those of `quarry apply`
            changes = planned(connection, read_declared(file), file, settings)
    except QuarryError as error:
        yield Finding("broken", subject, error.message, _MEND)
        return
    waiting = [f"{change.action} {change.name}" for change in changes if change.action != "keep"]
    if waiting:
        more = f" and {len(waiting) - NAMED_MAX:,} more" if len(waiting) > NAMED_MAX else ""
        yield Finding("absent", subject, f"not applied: {', '.join(waiting[:NAMED_MAX])}{more}", "run `quarry apply`")


_NAME_KEY = "name columns that tell its rows apart as `key` in quarry.toml, then run `quarry apply`"
_MEND = "mend quarry.toml, then run `quarry apply`"


def _faults_of_tables(
    collection: Collection, relations: Mapping[tuple[str, str], Relation]
) -> Iterator[tuple[bool, str, str]]:
    """Possible faults of a collection's tables, worst first: whether it has the fault, what it is, what to do."""
    if not all(collection.source):
        if declared_source(collection.declaration) in relations:
            yield (
                True,
                f"the table {collection.declaration.source} was replaced by another of this name",
                "run `quarry apply`",
            )
        yield True, f"the table {collection.declaration.source} no longer exists", _MEND
        return
    declared, others = declared_source(collection.declaration), tables_named({"": collection.declaration})
    for table in (collection.source, *sorted(others - {declared, collection.source})):
        name, relation = ".".join(table), relations.get(table)
        if relation is None:
            yield True, f"the table {name}, which it refers to, no longer exists", _MEND
            continue
        grant = f"grant select on {name} to the role of DATABASE_URL"
        yield not relation.may_select, f"this role may not read {name}", grant
        if table == collection.source:
            changed = ", ".join(_changed(collection, relation))
            yield bool(changed), f"columns of {name} have changed: {changed}", _MEND
        if relation.bypassed and not collection.declaration.bypasses_policies:
            yield True, bypass(relation), "or set bypasses_policies = true if every caller may see them"


def _faults(collection: Collection, state: _State) -> Iterator[tuple[bool, str, str]]:
    """Other possible faults, worst first."""
    declared, source = collection.declaration, ".".join(collection.source)
    yield (
        not state.sees_all,
        f"policies hide rows of {source}",
        "give the role BYPASSRLS, or add a policy for select using (true)",
    )
    lacks_triggers = collection.has_triggers and state.triggers < _TRIGGERS
    yield lacks_triggers, f"triggers on {source} are missing or disabled", "run `quarry apply`, then `quarry reconcile`"
    yield state.problem is not None, f"out of date: {state.problem}", "run `quarry reconcile` once it is fixed"
    renamed = collection.source != declared_source(declared)
    yield renamed, f"the table {declared.source} is now called {source}", _MEND
    is_earlier = collection.functions_hash != hash_of_functions(collection)
    yield is_earlier, "its triggers come from an earlier version", "run `quarry apply`"


Status = Literal["ok", "broken", "absent"]
"""absent: missing, and Quarry works without it."""


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, status and details, and what to do unless it is ok."""

    status: Status
    subject: str
    detail: str
    advice: str = ""
