"""Commands that load, map, index and embed data."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from quarry.local.cli.parsing import (
    DONE,
    Arguments,
    Commands,
    FilesAlone,
    Parser,
    WrongUsage,
    add,
    add_group,
    add_json,
    positive,
    status,
)  # fmt: skip

if TYPE_CHECKING:
    from quarry.files.writing import ReadOptions
    from quarry.services.s3 import S3Object
from quarry.local.telling import telling

_OF_OWN_TABLES = ("key", "append", "replace", "decimal", "dates", "empty")
"""Options of `load` that the built-in tables have no use for: their fields say how they are written."""


def _sample(given: Arguments) -> int:
    from quarry.local.data import load_samples
    from quarry.local.database import open_database

    with open_database() as database, telling(given.json, loaded=[]):
        load_samples(database)
    return DONE


def _migrate(given: Arguments) -> int:
    from quarry.local.data import migrate_database

    with telling(given.json, moved=False, migrations=[], functions=[]):
        migrate_database()
    return DONE


def _map(given: Arguments) -> int:
    from quarry.local.collections import map_schema

    map_schema(given.schema, given.output, force=given.force, explain=given.explain)
    return DONE


def _apply(given: Arguments) -> int:
    from quarry.local.apply import apply_file

    with telling(given.json, changes=[], collections=[], tables=[]):
        return status(apply_file(given.file, only_plan=given.plan, embed=not given.no_embed))


def _reconcile(given: Arguments) -> int:
    from quarry.local.apply import reconcile

    with telling(given.json, differing=[], collections=[], tables=[]):
        return status(reconcile(given.collection))


def _uninstall(given: Arguments) -> int:
    from quarry.local.uninstall import uninstall

    return status(uninstall(confirmed=given.yes))


def _load(given: Arguments) -> int:
    with telling(given.json, files=[], tables=[]):
        return _load_table(given) if given.collection is None else _load_collection(given)


def _load_table(given: Arguments) -> int:
    from quarry import catalog
    from quarry.local.data import fetched, load_table

    if alone := [name for name in _OF_OWN_TABLES if getattr(given, name)]:
        raise WrongUsage(f"--{alone[0]} is about a table of your own, which --as NAME makes")
    if given.table not in catalog.LOADABLE:
        advice = "; --as NAME makes a table of a file" if Path(given.table).exists() else ""
        raise WrongUsage(f"there is no table {given.table!r}, but {', '.join(catalog.LOADABLE)}{advice}")
    with fetched(map(_file, given.files)) as files:
        return status(
            load_table(
                given.table,
                files,
                options=_read_options(given),
                skip_invalid=given.skip_invalid,
                embed=not given.no_embed,
            )
        )


def _load_collection(given: Arguments) -> int:
    from quarry.local.data import fetched
    from quarry.local.file_collection import InvalidName, load_collection, table_of

    try:
        name = table_of(given.collection)
    except InvalidName as error:
        raise WrongUsage(str(error)) from error
    with fetched(map(_file, [given.table, *given.files])) as files:
        return status(
            load_collection(
                name,
                files,
                options=_read_options(given),
                mode="append" if given.append else "replace" if given.replace else "update",
                key=given.key,
                skip_invalid=given.skip_invalid,
                embed=not given.no_embed,
            )
        )


def _read_options(given: Arguments) -> ReadOptions:
    from quarry.files.encodings import known_encoding
    from quarry.files.writing import ReadOptions, Writing

    try:
        encoding = given.encoding and known_encoding(given.encoding)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    return ReadOptions(
        given.format, encoding, given.header, given.total, given.sheet,
        Writing(given.decimal, given.dates, frozenset(given.empty)),
    )  # fmt: skip


def _file(text: str) -> Path | S3Object:
    from quarry.services.s3 import SCHEME, S3Object

    try:
        return S3Object.parse(text) if text.startswith(SCHEME) else Path(text)
    except ValueError as error:
        raise WrongUsage(str(error)) from error


def _embed(given: Arguments) -> int:
    from quarry.local.data import embed_tables

    with telling(given.json, tables=[]):
        return status(embed_tables("all" if given.all else "stale" if given.stale else "new"))


def _verify_index(given: Arguments) -> int:
    from quarry_tools.index import verify

    return _index(given, verify)


def _rebuild_index(given: Arguments) -> int:
    from quarry_tools.index import rebuild

    return _index(given, rebuild)


def _index(given: Arguments, act: Callable[..., bool]) -> int:
    from quarry.local.database import open_database
    from quarry_tools.index import UnknownTable

    with open_database() as database:
        try:
            return status(act(database, given.table, as_json=given.json))
        except UnknownTable as error:
            raise WrongUsage(str(error)) from error


def _cleanup(given: Arguments) -> int:
    from quarry.local.data import clean_up

    clean_up(as_json=given.json)
    return DONE


def add_to(commands: Commands) -> None:
    add_json(add(commands, "sample", _sample, "load the sample data of every domain", "quarry sample"))
    add_json(add(commands, "migrate", _migrate, "bring the database up to date", "quarry migrate"))
    _add_declaring(commands)
    _add_load(commands)
    embed = add(commands, "embed", _embed, "embed the rows that have no vectors yet", "quarry embed --stale")
    which = embed.add_mutually_exclusive_group()
    which.add_argument("--stale", action="store_true", help="also the rows whose text has changed since")
    which.add_argument(
        "--all", action="store_true", help="drop every vector and embed everything again, as after a change of model"
    )
    add_json(embed)
    _add_index(commands)
    add_json(add(commands, "cleanup", _cleanup, "delete what has expired", "quarry cleanup"))
    uninstall = add(
        commands, "uninstall", _uninstall, "drop all of Quarry's from the database", "quarry uninstall --yes"
    )
    uninstall.add_argument("--yes", action="store_true", help="do not ask")


def _add_declaring(commands: Commands) -> None:
    drafting = add(
        commands, "map", _map, "draft quarry.toml from tables that exist", "quarry map support --output quarry.toml"
    )  # fmt: skip
    drafting.description = (
        "Draft quarry.toml from the tables of a schema, by their names, types, keys and statistics. No row is read, and\n"
        "nothing is changed. Review the draft: docs/own-data.md explains it."
    )
    drafting.add_argument("schema", metavar="SCHEMA", nargs="?", default="public", help="default: %(default)s")
    drafting.add_argument("--output", metavar="FILE", type=Path, help="a new file to write (default: standard output)")
    drafting.add_argument("--force", action="store_true", help="overwrite the file")
    drafting.add_argument("--explain", action="store_true", help="print a table of what can be asked, not the draft")

    apply = add(commands, "apply", _apply, "make the database agree with quarry.toml", "quarry apply --plan")
    apply.add_argument(
        "file", metavar="FILE", type=Path, nargs="?", default=Path("quarry.toml"), help="default: %(default)s"
    )
    apply.add_argument("--plan", action="store_true", help="show what would be done")
    apply.add_argument(
        "--no-embed", action="store_true", help="do not embed now; `quarry embed` or `serve` does it later"
    )
    add_json(apply)

    reconcile = add(
        commands, "reconcile", _reconcile, "compare collections with their tables, and mend what differs", "quarry reconcile"
    )  # fmt: skip
    reconcile.add_argument("collection", metavar="COLLECTION", nargs="?", help="only this collection")
    add_json(reconcile)


def _add_load(commands: Commands) -> None:
    load = add(commands, "load", _load, "load files into a table", "quarry load tickets.csv --as tickets")
    load.usage = "quarry load TABLE FILE... [OPTION...]\n       quarry load FILE... --as NAME [OPTION...]"
    load.description = (
        "Load a table from files: CSV, JSON Lines, JSON, spreadsheets or Parquet, each gzipped or not. Every row is\n"
        "validated, then inserted, or updated where its id is known. Where a row is wrong it is named, and nothing of its\n"
        "file is kept. What was loaded is then embedded. With --as the files become a table of their own, which is\n"
        "declared in quarry.toml and searched: docs/own-data.md has more."
    )
    load.appendix = _loadable_tables
    load.add_argument("table", metavar="TABLE", help="one of the tables below; with --as there is none")
    files = load.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a file, a folder of files, s3://BUCKET/KEY, or - for standard input",
    )
    load.add_argument(
        "--as",
        dest="collection",
        metavar="NAME",
        action=FilesAlone,
        files=files,
        help="make a table NAME of the files, or SCHEMA.NAME, and search it as a collection; load into it again later",
    )
    load.add_argument("--key", metavar="COLUMN", help="with --as: the key column, instead of the guessed one")
    again = load.add_mutually_exclusive_group()
    again.add_argument(
        "--append", action="store_true", help="with --as: add rows though the same file was loaded before"
    )
    again.add_argument("--replace", action="store_true", help="with --as: keep only the rows of the files")
    _add_reading(load)
    load.add_argument("--skip-invalid", action="store_true", help="skip invalid rows and keep the others")
    load.add_argument("--no-embed", action="store_true", help="do not embed now; `quarry embed` does it later")
    add_json(load)


def _add_reading(load: Parser) -> None:
    """What a file says too little about, for the user to say."""
    reading = load.add_argument_group("how a file is read, where that is guessed otherwise")
    reading.add_argument(
        "--format",
        choices=("csv", "jsonl", "json", "parquet", "sheet"),
        help="default: by the file's ending or content",
    )
    reading.add_argument("--encoding", metavar="NAME", help="of text, as windows-1252 or utf-16")
    header = reading.add_mutually_exclusive_group()
    header.add_argument("--header", metavar="LINE", type=positive, help="the line that names the columns, from 1")
    header.add_argument("--no-header", dest="header", action="store_const", const=0, help="no line names the columns")
    reading.add_argument(
        "--total",
        action=argparse.BooleanOptionalAction,
        help="whether the last line holds totals, which are left out",
    )
    reading.add_argument("--sheet", metavar="NAME", help="of a spreadsheet with several")
    reading.add_argument(
        "--decimal",
        metavar="SIGN",
        choices=(".", ","),
        help="with --as: the decimal separator, as in 1,234.50 or 1.234,50",
    )
    reading.add_argument(
        "--dates",
        choices=("dmy", "mdy"),
        help="with --as: as in 31.12.2024, or in 12/31/2024",
    )
    reading.add_argument(
        "--empty",
        metavar="TEXT",
        action="append",
        default=[],
        help="with --as: a text that means no value, such as n/a; repeatable",
    )


def _add_index(commands: Commands) -> None:
    actions = add_group(
        commands,
        "index",
        "verify or rebuild what search reads",
        "Verify what search reads against the data that it is made of, or rebuild it: generated columns,\n"
        "rows of collections, values of facets, vectors, indexes, statistics. Nobody who searches has to wait for either.",
        "quarry index verify motions",
    )
    for name, run, summary in (
        ("verify", _verify_index, "list what differs from the data; status 1 where anything does"),
        ("rebuild", _rebuild_index, "rebuild it; embed only rows whose vectors are missing or old"),
    ):
        action = add(actions, name, run, summary, f"quarry index {name} motions")
        action.add_argument(
            "table", metavar="TABLE", nargs="?", help="only this one of `quarry load --help`, or this collection"
        )
        add_json(action)


def _loadable_tables() -> str:
    from quarry.local.data import describe_tables

    return f"\ntables, in the order in which they refer to each other, and their fields:\n\n{describe_tables()}\n"
