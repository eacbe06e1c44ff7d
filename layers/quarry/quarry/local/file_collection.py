"""`quarry load FILE --as NAME`: makes a table of files and declares it in quarry.toml, so that it is searched."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from quarry.collections.apply import apply_change, check_rows, stored_collections
from quarry.collections.catalog_reading import relations_by_name, with_markup
from quarry.collections.declaration import FILE_NAME, read_declarations
from quarry.collections.file_table import MADE_BY_LOAD, FileLoad, Mode, refuse_loaded, remember
from quarry.collections.names import is_epoch, quoted_table, slug, table_name, toml_key
from quarry.collections.relations import Relation
from quarry.files.forms import ReadOptions
from quarry.files.records import UnreadableFile
from quarry.local.apply import fill, plan_file, read_declared, wait_for_others
from quarry.local.cli.command import WrongUsage
from quarry.local.data import file_facts, name_of, opened_records, report_failure, report_skipped, sources_of
from quarry.local.database import open_database
from quarry.local.output import is_for_programs, note, tell
from quarry.local.terminal import make_console, write_table
from quarry.platform.contract import NAME_PATTERN
from quarry.platform.errors import ConfigurationError, Forbidden
from quarry.postgres.load import LoadError
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry.records.tables import NAMES as BUILT_IN_NAMES
from quarry_map.drafting import draft_one, epoch_note

FILE = Path(FILE_NAME)

TableName = tuple[str, str]
"""Schema and name; the name is also the collection's."""


def table_of(text: str) -> TableName:
    """The table that `--as` names; without a schema (""), it is in `public`, or with `--tenant` in the tenant's own data. Raises
    WrongUsage.
    """
    schema, _, name = text.rpartition(".")
    for part in filter(None, (schema, name)) if name else (name,):
        if not re.fullmatch(NAME_PATTERN, part):
            example = slug(part, "files")
            raise WrongUsage(f"{part!r} is not a valid name: use lower-case letters, digits and _, as in {example}")
    if name in BUILT_IN_NAMES:
        raise WrongUsage(f"{name!r} is a built-in record type: choose another name")
    return schema, name


def load_collection(
    table: TableName,
    paths: Sequence[Path],
    *,
    options: ReadOptions,
    mode: Mode,
    key: str | None,
    skip_invalid: bool,
    embed: bool,
) -> bool:
    """Make a table and a collection of files, or load them into one made so before; whether all succeeded.

    `mode` says what happens to existing rows. All or nothing: if a row is wrong, or the table cannot be declared, neither the
    database nor quarry.toml changes. Raises ConfigurationError if the name is taken, DeclarationError, OSError.
    """
    sources = sources_of(paths)
    text = read_declared(FILE) if FILE.exists() else ""
    name = name_of(sources[0]) if len(sources) == 1 else f"{len(sources)} files"
    with open_database() as database:
        schema = database.settings.database_schema
        table = (table[0] or (database.tenant.data_schema if database.tenant else "public"), table[1])
        _check_declared(table, text)
        if table[0] == schema:
            raise ConfigurationError(f"The schema {schema} belongs to Quarry: choose another schema.")
        try:
            with connect(database.url, schema) as connection, connection.transaction():
                wait_for_others(connection)
                load = FileLoad(connection, table, _made_before(connection, table), options.writing, mode)
                for source in sources:
                    with opened_records(source, options, table[1]) as (records, bar):
                        load.stage(records, bar.reach)
                if load.adds_all and mode == "update":
                    refuse_loaded(connection, table, load.loaded_files)
                load.finish(skip_invalid=skip_invalid, key=key)
                remember(connection, table, load.loaded_files, alone=load.relation is None or mode == "replace")
                _report(load, name)
                with _declared(connection, table, text) as declared:
                    for change in plan_file(connection, declared, FILE, database.settings, only=table[1]):
                        apply_change(connection, change, schema)
                    check_rows(connection, database.rows_max)
                    _warn_of_others(connection, declared)
        except (LoadError, UnreadableFile, Forbidden) as error:
            report_failure(error, name)
            return False
        in_step = asyncio.run(fill(database, table[1], embed=embed))
    tell(f'try: quarry ask records "How many {table[1].replace("_", " ")} are there?"\n     quarry serve')
    return in_step


def _check_declared(table: TableName, text: str) -> None:
    """Check that quarry.toml is valid and does not use the name for another table. Raises ConfigurationError."""
    declared = read_declarations(text, str(FILE)).get(table[1])
    if declared is not None and table_name(declared.source) != table:
        raise ConfigurationError(
            f"{FILE} already declares {table[1]} of {declared.source}: choose another name, or load --as {declared.source}"
        )


def _made_before(connection: SyncConnection, table: TableName) -> Relation | None:
    """The table, if it was made of files. Raises ConfigurationError if the name is taken."""
    qualified = quoted_table(*table)
    collection = stored_collections(connection).get(table[1])
    if collection is not None and collection.source not in (table, ("", "")):
        raise ConfigurationError(
            f"The database already has a collection {table[1]} of {quoted_table(*collection.source)}: choose another name"
        )
    relation = relations_by_name(connection, [table]).get(table)
    if relation is not None and not (relation.comment or "").startswith(MADE_BY_LOAD):
        raise ConfigurationError(
            f"There is already a {relation.kind} {qualified}, which `quarry load` did not make: choose another name, or search it"
            f" as it is: `quarry map {table[0]}` declares it"
        )
    schemas = "select from pg_namespace where nspname = %s"
    if relation is None and not connection.execute(schemas, [table[0]]).fetchall():
        raise ConfigurationError(f"There is no schema {table[0]} in this database: `create schema {table[0]}` makes it")
    return relation


@contextmanager
def _declared(connection: SyncConnection, table: TableName, text: str) -> Iterator[str]:
    """The text of quarry.toml with the table declared in it. The declaration is written at the end of the block if it is new."""
    if table[1] in read_declarations(text):
        yield text
        return
    [relation] = with_markup(connection, [relations_by_name(connection, [table])[table]])
    section = draft_one(table[1], relation)
    for column in filter(is_epoch, relation.columns):
        note(epoch_note(column))
    before = text if text.endswith("\n") or not text else f"{text}\n"
    yield (before + "\n" + section) if before else section
    with FILE.open("a", encoding="utf-8", newline="") as file:
        file.write(("" if text == before else "\n") + ("\n" if before else "") + section)
    tell(f"added [collections.{toml_key(table[1])}] to {FILE}: review it", declared=table[1])


def _warn_of_others(connection: SyncConnection, declared: str) -> None:
    """Warn of collections that another file declared: applying this file would drop them."""
    others = sorted(stored_collections(connection).keys() - read_declarations(declared).keys())
    if others:
        note(f"{FILE} does not declare {', '.join(others)}, which the database has: `quarry apply` would drop them")


def _report(load: FileLoad, name: str) -> None:
    """Report what was read, guessed and skipped."""
    report_skipped(load.loaded)
    for remark in load.notes:
        note(remark)
    row_count, skipped = load.loaded.rows, load.loaded.skipped
    line = f"{name}: {row_count:,} rows read, {row_count - skipped:,} loaded, {skipped:,} skipped"
    if load.relation is not None:
        changed = f"{row_count - skipped:,} loaded ({load.loaded.changed:,} new or changed)"
        tell(line.replace(f"{row_count - skipped:,} loaded", changed), files=[file_facts(name, load.loaded)])
        for column, type in load.changed_types.items():
            advice = f"delete [collections.{toml_key(load.name[1])}] there and load again to draft it again"
            line = f"{column} is {type} now: {FILE} declares it as before; {advice}"
            tell(line, changed_types=[{"name": column, "type": type}])
        return
    columns = load.guesser.guessed().columns
    guessed = [{"name": each.name, "type": each.type, "header": each.header, "remark": each.remark} for each in columns]
    tell(files=[file_facts(name, load.loaded)], columns=guessed, key=load.key)
    if is_for_programs():
        return
    print(line)
    rows = [(each.name, each.type, f"{each.header}{f': {each.remark}' if each.remark else ''}") for each in columns]
    write_table(make_console(), ("column", "type", "of the file"), rows)
    is_column = load.key in {each.name for each in columns}
    numbered = "" if is_column else f", which numbers them{load.note and f': {load.note}'}"
    print(f"key: {load.key}{numbered}")
