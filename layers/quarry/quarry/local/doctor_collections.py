"""What `quarry doctor` says of each collection: what of its table was changed, and whether it is in step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from psycopg.rows import class_row

from quarry.core.collections.apply import hash_of_functions, stored_collections
from quarry.core.collections.checking import tables_named
from quarry.core.collections.collection import ENGLISH, Collection, declared_source
from quarry.core.collections.exposure import Relations, exposed
from quarry.core.collections.relations import relations_named
from quarry.core.postgres.schema import SyncConnection
from quarry.core.settings import LOCAL_EMBEDDING_MODEL
from quarry.local.finding import Finding

LATE_SECONDS = 300.0
"""A change that has waited for so long is told."""

_STATE = """
select c.id, c.problem, r.oid is not null as has_source,
  coalesce(has_table_privilege(r.oid, 'select'), false) as may_select,
  coalesce(sees_all_rows(r.oid::regclass), true) as sees_all,
  array(
    select format('%s is now %s', u.name, case when a.attisdropped then 'gone' else 'called ' || a.attname end)
    from json_each(c.columns) u (name, used)
    join pg_attribute a on a.attrelid = r.oid and a.attnum = (u.used ->> 'number')::int
    where r.oid is not null and a.attname is distinct from u.name order by 1
  ) as changed,
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
    has_source: bool
    may_select: bool
    sees_all: bool
    changed: list[str]
    triggers: int
    waiting: int
    waiting_for: float | None


def collection_findings(connection: SyncConnection, embedding_model: str) -> Iterator[Finding]:
    """How each collection stands; nothing where none is declared."""
    collections = stored_collections(connection)
    with connection.cursor(row_factory=class_row(_State)) as cursor:
        states = {state.id: state for state in cursor.execute(_STATE)}
    named = tables_named({name: each.declaration for name, each in collections.items()})
    relations = relations_named(connection, named | {each.source for each in collections.values()})
    for collection in collections.values():
        yield _finding(collection, states[collection.id])
        yield from _secrets(collection, relations)
        if embedding_model == LOCAL_EMBEDDING_MODEL and (other := _other_languages(collection)):
            yield Finding(
                "absent",
                f"meaning in {collection.name}",
                f"{embedding_model} reads English alone: what is in {' and '.join(other)} is searched by words",
                "where words are not enough, take a model that reads it: EMBEDDINGS=openai, then `quarry embed --all`",
            )


def _secrets(collection: Collection, relations: Relations) -> Iterator[Finding]:
    """The columns that look like secrets and that anybody may see, if there are any."""
    source = relations.get(collection.source)
    found = exposed(collection.declaration, source, relations) if source else ()
    if told := "; ".join(dict.fromkeys(each.reason for each in found)):
        advice = "put them into `hidden`, or show other columns, in quarry.toml, then run `quarry apply`"
        yield Finding("absent", f"secrets in {collection.name}", told, f"unless everybody may see them: {advice}")


def _other_languages(collection: Collection) -> list[str]:
    """The languages but English that rows with vectors are in."""
    return [each for each in collection.languages if each != ENGLISH] if collection.declaration.embedded else []


def _finding(collection: Collection, state: _State) -> Finding:
    subject = f"collection {collection.name}"
    for is_broken, detail, advice in _faults(collection, state):
        if is_broken:
            return Finding("broken", subject, detail, advice)
    if state.waiting_for is not None and state.waiting_for > LATE_SECONDS:
        detail = f"{state.waiting:,} changes wait, the oldest for {state.waiting_for / 60:.0f} minutes"
        advice = "`quarry serve` and the scheduled function work them off, `quarry reconcile` does now"
        return Finding("absent", subject, detail, advice)
    waiting = f", {state.waiting:,} changes wait" if state.waiting else ""
    return Finding("ok", subject, f"in step with {'.'.join(collection.source)}{waiting}")


def _faults(collection: Collection, state: _State) -> Iterator[tuple[bool, str, str]]:
    """What may be wrong, worst first: whether it is, what it is, and what to do."""
    declared, source = collection.declaration, ".".join(collection.source)
    mend = "mend quarry.toml, then run `quarry apply`"
    yield not state.has_source, f"the table {declared.source} is gone", mend
    yield (
        not state.may_select,
        f"there is no right to read {source}",
        f"grant select on {source} to the role of DATABASE_URL",
    )
    yield bool(state.changed), f"columns of {source} have changed: {', '.join(state.changed)}", mend
    yield (
        not state.sees_all,
        f"policies hide rows of {source}",
        "give the role BYPASSRLS, or a policy for select using (true)",
    )
    lacks_triggers = declared.sync == "trigger" and state.triggers < _TRIGGERS
    yield lacks_triggers, f"triggers on {source} are missing or disabled", "run `quarry apply`, then `quarry reconcile`"
    yield state.problem is not None, f"not in step: {state.problem}", "run `quarry reconcile` when it is mended"
    renamed = collection.source != declared_source(declared)
    yield renamed, f"the table {declared.source} is now called {source}", mend
    is_earlier = collection.functions_hash != hash_of_functions(collection)
    yield is_earlier, "an earlier version made what keeps it in step", "run `quarry apply`"
