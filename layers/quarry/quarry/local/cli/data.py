"""Commands that load, map, index and embed data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from quarry.local.cli.parsing import (
    DONE,
    FAILED,
    Arguments,
    Commands,
    FilesAlone,
    Parser,
    WrongUsage,
    above,
    add,
    add_group,
)

if TYPE_CHECKING:
    from quarry.files.writing import ReadOptions
    from quarry.services.s3 import S3Object

_OF_OWN_TABLES = ("key", "append", "replace", "decimal", "dates", "empty")
"""Options of `load` that do not apply to built-in tables: the fields of these define how they are written."""


def _load(given: Arguments) -> int:
    from quarry.local.data import fetched, load_table
    from quarry.local.file_collection import load_collection, table_of

    options = _read_options(given)
    if given.collection is None:
        _check_table(given)
        with fetched(map(_file, given.files)) as files:
            well = load_table(
                given.table, files, options=options, skip_invalid=given.skip_invalid, embed=not given.no_embed
            )
        return DONE if well else FAILED
    name = table_of(given.collection)
    with fetched(map(_file, [given.table, *given.files])) as files:
        well = load_collection(
            name,
            files,
            options=options,
            mode="append" if given.append else "replace" if given.replace else "update",
            key=given.key,
            skip_invalid=given.skip_invalid,
            embed=not given.no_embed,
        )
    return DONE if well else FAILED


def _check_table(given: Arguments) -> None:
    from quarry import catalog

    if alone := [name for name in _OF_OWN_TABLES if getattr(given, name)]:
        raise WrongUsage(f"--{alone[0]} needs a table of your own, which --as NAME makes")
    if given.table not in catalog.LOADABLE:
        advice = "; --as NAME makes a table of a file" if Path(given.table).exists() else ""
        raise WrongUsage(f"there is no table {given.table!r}, but {', '.join(catalog.LOADABLE)}{advice}")


def _read_options(given: Arguments) -> ReadOptions:
    from quarry.files.encodings import known_encoding
    from quarry.files.writing import ReadOptions, Writing

    try:
        encoding = given.encoding and known_encoding(given.encoding)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    writing = Writing(given.decimal, given.dates, frozenset(given.empty))
    return ReadOptions(given.format, encoding, given.header, given.total, given.sheet, writing)


def _file(text: str) -> Path | S3Object:
    from quarry.services.s3 import SCHEME, S3Object

    try:
        return S3Object.parse(text) if text.startswith(SCHEME) else Path(text)
    except ValueError as error:
        raise WrongUsage(str(error)) from error


def _file_argument(text: str) -> Path | S3Object:
    try:
        return _file(text)
    except WrongUsage as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_to(commands: Commands) -> None:
    add(
        commands, "sample", "quarry.local.data:load_samples", "load the sample data of every domain", "quarry sample",
        facts={"loaded": []},
    )  # fmt: skip
    add(
        commands, "migrate", "quarry.local.data:migrate_database", "bring the database up to date", "quarry migrate",
        facts={"migrations": [], "functions": []},
    )  # fmt: skip
    _add_declaring(commands)
    _add_load(commands)
    embed = add(
        commands, "embed", "quarry.local.data:embed_tables", "embed the rows that have no vectors yet",
        "quarry embed --stale", facts={"tables": []},
    )  # fmt: skip
    which = embed.add_mutually_exclusive_group()
    for scope, text in (
        ("stale", "also the rows whose text has changed since"),
        ("all", "drop every vector and embed everything again, as after a change of model"),
    ):
        which.add_argument(f"--{scope}", dest="scope", action="store_const", const=scope, default="new", help=text)
    _add_index(commands)
    add(commands, "cleanup", "quarry.local.data:clean_up", "delete what has expired", "quarry cleanup")
    uninstall = add(
        commands, "uninstall", "quarry.local.uninstall:uninstall", "drop everything of Quarry from the database",
        "quarry uninstall --yes", json=False,
    )  # fmt: skip
    uninstall.add_argument("--yes", dest="confirmed", action="store_true", help="do not ask for confirmation")


def _add_declaring(commands: Commands) -> None:
    drafting = add(
        commands, "map", "quarry.local.collections:map_schema", "draft quarry.toml from tables that exist",
        "quarry map support --output quarry.toml", json=False,
        about="Draft quarry.toml from the tables of a schema, by their names, types, keys and statistics. It reads no rows and\n"
        "changes nothing. Review the draft: docs/own-data.md explains it.",
    )  # fmt: skip
    drafting.add_argument("schema", metavar="SCHEMA", nargs="?", default="public", help="default: %(default)s")
    drafting.add_argument("--output", metavar="FILE", type=Path, help="write a new file (default: standard output)")
    drafting.add_argument("--force", action="store_true", help="overwrite the file")
    drafting.add_argument("--explain", action="store_true", help="print a table of what can be asked, not the draft")

    apply = add(
        commands, "apply", "quarry.local.apply:apply_file", "make the database agree with quarry.toml",
        "quarry apply --plan", facts={"changes": [], "collections": [], "tables": []},
    )  # fmt: skip
    apply.add_argument(
        "path", metavar="FILE", type=_file_argument, nargs="?", default=Path("quarry.toml"),
        help="a file, or s3://BUCKET/KEY (default: %(default)s)",
    )  # fmt: skip
    apply.add_argument("--plan", dest="only_plan", action="store_true", help="only show the changes")
    without = "do not embed now; `quarry embed` or `serve` does it later"
    apply.add_argument("--no-embed", dest="embed", action="store_false", help=without)

    reconcile = add(
        commands, "reconcile", "quarry.local.apply:reconcile",
        "compare collections with their tables, and correct differences", "quarry reconcile",
        facts={"differing": [], "collections": [], "tables": []},
    )  # fmt: skip
    reconcile.add_argument("name", metavar="COLLECTION", nargs="?", help="only this collection")


def _add_load(commands: Commands) -> None:
    load = add(
        commands, "load", _load, "load files into a table", "quarry load tickets.csv --as tickets",
        facts={"files": [], "tables": []},
        about="Load a table from files: CSV, JSON Lines, JSON, spreadsheets or Parquet, each gzipped or not. Every row is\n"
        "validated, then inserted, or updated if its id exists. If a row is invalid, it is reported and nothing of its\n"
        "file is loaded. New rows are then embedded. With --as the files become a table of their own, which is declared\n"
        "in quarry.toml and searched: see docs/own-data.md.",
    )  # fmt: skip
    load.usage = "quarry load TABLE FILE... [OPTION...]\n       quarry load FILE... --as NAME [OPTION...]"
    load.appendix = _loadable_tables
    load.add_argument("table", metavar="TABLE", help="one of the tables below; omit it with --as")
    whence = "a file, a folder of files, s3://BUCKET/KEY, or - for standard input"
    files = load.add_argument("files", metavar="FILE", nargs="+", help=whence)
    load.add_argument(
        "--as", dest="collection", metavar="NAME", action=FilesAlone, files=files,
        help="make a table NAME or SCHEMA.NAME of the files, and search it as a collection",
    )  # fmt: skip
    load.add_argument("--key", metavar="COLUMN", help="with --as: the key column, instead of the guessed one")
    again = load.add_mutually_exclusive_group()
    twice = "with --as: add rows even if the same file was loaded before"
    again.add_argument("--append", action="store_true", help=twice)
    again.add_argument("--replace", action="store_true", help="with --as: keep only the rows of the files")
    _add_reading(load)
    load.add_argument("--skip-invalid", action="store_true", help="skip invalid rows and keep the others")
    load.add_argument("--no-embed", action="store_true", help="do not embed now; `quarry embed` does it later")


def _add_reading(load: Parser) -> None:
    """Options for what a file does not say about itself."""
    reading = load.add_argument_group("how to read a file; guessed by default")
    formats = ("csv", "jsonl", "json", "parquet", "sheet")
    reading.add_argument("--format", choices=formats, help="default: by the file's ending or content")
    reading.add_argument("--encoding", metavar="NAME", help="encoding of the text, such as windows-1252 or utf-16")
    header = reading.add_mutually_exclusive_group()
    header.add_argument("--header", metavar="LINE", type=above(0), help="number of the line that names the columns")
    header.add_argument("--no-header", dest="header", action="store_const", const=0, help="no line names the columns")
    totals = "whether the last line holds totals, which are left out"
    reading.add_argument("--total", action=argparse.BooleanOptionalAction, help=totals)
    reading.add_argument("--sheet", metavar="NAME", help="which sheet of a spreadsheet")
    sign = "with --as: the decimal separator, as in 1,234.50 or 1.234,50"
    reading.add_argument("--decimal", metavar="SIGN", choices=(".", ","), help=sign)
    reading.add_argument(
        "--dates", choices=("dmy", "mdy"), help="with --as: order of day and month, as in 31.12.2024 or 12/31/2024"
    )
    nothing = "with --as: a text that means no value, such as n/a; repeatable"
    reading.add_argument("--empty", metavar="TEXT", action="append", default=[], help=nothing)


def _add_index(commands: Commands) -> None:
    actions = add_group(
        commands, "index", "verify or rebuild search data",
        "Verify what search reads against the data that it is made of, or rebuild it: generated columns,\n"
        "rows of collections, values of facets, vectors, indexes, statistics. Searches continue meanwhile.",
        "quarry index verify motions",
    )  # fmt: skip
    for name, summary in (
        ("verify", "list differences from the data; status 1 if there are any"),
        ("rebuild", "rebuild it; embed only rows whose vectors are missing or old"),
    ):
        action = add(actions, name, f"quarry_tools.index:{name}", summary, f"quarry index {name} motions")
        only = "only this table of `quarry load --help`, or this collection"
        action.add_argument("table", metavar="TABLE", nargs="?", help=only)


def _loadable_tables() -> str:
    from quarry.local.data import describe_tables

    return f"\ntables, in the order in which they refer to each other, and their fields:\n\n{describe_tables()}\n"
