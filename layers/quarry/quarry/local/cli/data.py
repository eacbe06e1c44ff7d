"""Commands that load, map, index and embed data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quarry.local.cli.command import (
    DONE,
    FAILED,
    FILE,
    Argument,
    Arguments,
    Group,
    WrongUsage,
    add,
    add_group,
    flag,
    option,
    tenant_option,
)

if TYPE_CHECKING:
    from quarry.files.forms import ReadOptions
    from quarry.services.s3 import S3Object

_OF_OWN_TABLES = ("key", "append", "replace", "decimal", "dates", "empty")
"""Options of `load` that do not apply to built-in tables: the fields of these define how they are written."""


def _load(arguments: Arguments) -> int:
    from quarry.local.data import fetched, load_table
    from quarry.local.file_collection import load_collection, table_of

    if arguments.append and arguments.replace:
        raise WrongUsage("use --append or --replace, not both")
    options, files = _read_options(arguments), arguments.files
    if arguments.collection is None:
        table, *files = files
        _check_table(table, files, arguments)
        with fetched(map(_file, files)) as paths:
            well = load_table(
                table, paths, options=options, skip_invalid=arguments.skip_invalid, embed=not arguments.no_embed
            )
        return DONE if well else FAILED
    name = table_of(arguments.collection)
    with fetched(map(_file, files)) as paths:
        well = load_collection(
            name,
            paths,
            options=options,
            mode="append" if arguments.append else "replace" if arguments.replace else "update",
            key=arguments.key,
            skip_invalid=arguments.skip_invalid,
            embed=not arguments.no_embed,
        )
    return DONE if well else FAILED


def _check_table(table: str, files: list[str], arguments: Arguments) -> None:
    from quarry import catalog

    if alone := [name for name in _OF_OWN_TABLES if getattr(arguments, name)]:
        raise WrongUsage(f"--{alone[0]} only works with --as NAME")
    if table not in catalog.LOADABLE:
        advice = "; --as NAME makes a table of a file" if Path(table).exists() else ""
        raise WrongUsage(f"there is no table {table!r}; the tables are {', '.join(catalog.LOADABLE)}{advice}")
    if not files:
        raise WrongUsage("name the files to load")


def _read_options(arguments: Arguments) -> ReadOptions:
    from quarry.files.encodings import known_encoding
    from quarry.files.forms import ReadOptions, Writing

    try:
        encoding = arguments.encoding and known_encoding(arguments.encoding)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    writing = Writing(arguments.decimal, arguments.dates, frozenset(arguments.empty))
    header = 0 if arguments.no_header else arguments.header
    return ReadOptions(arguments.format, encoding, header, arguments.total, arguments.sheet, writing)


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
        raise click.BadParameter(str(error)) from error


def add_to(group: Group) -> None:
    add(
        group, "sample", "quarry.local.data:load_samples", "load the sample data of every domain", "quarry sample",
        facts={"loaded": []},
    )  # fmt: skip
    add(
        group, "migrate", "quarry.local.data:migrate_database", "bring the database up to date, with all tenants",
        "quarry migrate", tenant_option(), facts={"migrations": [], "functions": [], "tenants": []},
    )  # fmt: skip
    _add_declaring(group)
    _add_load(group)
    add(
        group, "embed", "quarry.local.data:embed_tables", "embed the rows that have no vectors yet",
        "quarry embed --stale",
        option("--stale", "scope", flag_value="stale", default="new", help="also the rows whose text has changed since"),
        option(
            "--all", "scope", flag_value="all",
            help="drop every vector and embed everything again, as after a change of model",
        ),
        facts={"tables": []},
    )  # fmt: skip
    _add_index(group)
    add(group, "cleanup", "quarry.local.data:clean_up", "delete what has expired", "quarry cleanup")
    add(
        group, "uninstall", "quarry.local.uninstall:uninstall", "remove Quarry and its data from the database",
        "quarry uninstall --yes", flag("--yes", "confirmed", help="do not ask for confirmation"), json=None,
    )  # fmt: skip


def _add_declaring(group: Group) -> None:
    add(
        group, "map", "quarry.local.apply:map_schema", "draft quarry.toml from tables that exist",
        "quarry map support --output quarry.toml",
        Argument("schema", "SCHEMA", "default: public", default="public"),
        option("--output", metavar="FILE", type=FILE, help="write a new file (default: standard output)"),
        flag("--force", help="overwrite the file"),
        flag("--explain", help="print a table of what can be asked, not the draft"),
        json=None,
        about="Draft quarry.toml from the tables of a schema. `map` reads their names, types, keys and statistics, and some "
        "rows: up to 500 of each table with JSON or long texts, and 20 of each table to try its columns. It changes nothing. "
        "Review the draft: docs/declaration.md explains it.",
    )  # fmt: skip
    add(
        group, "apply", "quarry.local.apply:apply_file", "create, change and drop collections as quarry.toml says",
        "quarry apply --plan",
        Argument("path", "FILE", "a file, or s3://BUCKET/KEY (default: quarry.toml)", type=_file_argument, default="quarry.toml"),
        flag("--plan", "only_plan", help="only show the changes"),
        tenant_option(),
        flag(
            "--no-embed", "embed", flag_value=False, default=True,
            help="do not embed now; `quarry embed` or `serve` does it later",
        ),
        facts={"changes": [], "collections": [], "tables": []},
    )  # fmt: skip
    add(
        group, "reconcile", "quarry.local.apply:reconcile",
        "compare collections with their tables, and correct differences", "quarry reconcile",
        Argument("name", "COLLECTION", "only this collection", required=False),
        facts={"differing": [], "collections": [], "tables": []},
    )  # fmt: skip


def _add_load(group: Group) -> None:
    load = add(
        group, "load", _load, "load files into a table", "quarry load tickets.csv --as tickets",
        Argument(
            "files", "TABLE FILE...",
            "one of the tables below (omit it with --as), and files, folders of files, s3://BUCKET/KEY, or - for standard input",
            nargs=-1, required=True,
        ),
        option(
            "--as", "collection", metavar="NAME",
            help="make a table NAME or SCHEMA.NAME of the files, and search it as a collection",
        ),
        option("--key", metavar="COLUMN", help="with --as: the key column, instead of the guessed one"),
        flag("--append", help="with --as: add rows even if the same file was loaded before"),
        flag("--replace", help="with --as: keep only the rows of the files"),
        *_reading(),
        flag("--skip-invalid", help="skip invalid rows and keep the others"),
        flag("--no-embed", help="do not embed now; `quarry embed` does it later"),
        tenant_option(),
        facts={"files": [], "tables": []},
        about="Load a table from files: CSV, JSON Lines, JSON, spreadsheets or Parquet, each gzipped or not. Every row is "
        "validated, then inserted, or updated if its id exists. If a row is invalid, it is reported and nothing of its "
        "file is loaded. New rows are then embedded. With --as the files become a table of their own, which is declared "
        "in quarry.toml and searched: see docs/own-data.md. Quarry guesses how to read a file unless an option says so.",
    )  # fmt: skip
    load.appendix = _loadable_tables


def _reading() -> list[click.Parameter]:
    """Options for what a file does not say about itself."""
    formats = click.Choice(("csv", "jsonl", "json", "parquet", "sheet"))
    return [
        option("--format", type=formats, help="default: by the file's ending or content"),
        option("--encoding", metavar="NAME", help="encoding of the text, such as windows-1252 or utf-16"),
        option("--header", metavar="LINE", type=click.IntRange(1), help="number of the line that names the columns"),
        flag("--no-header", help="no line names the columns"),
        option("--total/--no-total", default=None, help="whether the last line holds totals, which are left out"),
        option("--sheet", metavar="NAME", help="which sheet of a spreadsheet"),
        option(
            "--decimal", type=click.Choice((".", ",")),
            help="with --as: the decimal separator, as in 1,234.50 or 1.234,50",
        ),
        option(
            "--dates", type=click.Choice(("dmy", "mdy")),
            help="with --as: order of day and month, as in 31.12.2024 or 12/31/2024",
        ),
        option(
            "--empty", metavar="TEXT", multiple=True,
            help="with --as: a text that means no value, such as n/a; repeatable",
        ),
    ]  # fmt: skip


def _add_index(group: Group) -> None:
    actions = add_group(
        group, "index", "verify or rebuild search data",
        "Verify what search reads against the data that it is made of, or rebuild it: generated columns, "
        "rows of collections, values of facets, vectors, indexes, statistics. Searches continue meanwhile.",
        "quarry index verify motions",
    )  # fmt: skip
    only = Argument("table", "TABLE", "only this table of `quarry load --help`, or this collection", required=False)
    for name, summary in (
        ("verify", "list differences from the data; status 1 if there are any"),
        ("rebuild", "rebuild it; embed only rows whose vectors are missing or old"),
    ):
        add(actions, name, f"quarry_tools.index:{name}", summary, f"quarry index {name} motions", only)


def _loadable_tables() -> str:
    from quarry.local.data import describe_tables

    return f"\ntables, in the order in which they refer to each other, and their fields:\n\n{describe_tables()}\n"
