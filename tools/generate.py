"""Writes what is generated from the code: `python -m tools.generate`, or with `--check` fails when a file is not up to date.

sql/functions/*/*_values.sql  the values of each searched table, and the triggers that count them, from its facets
sql/functions/records/record_hashes.sql  hashes that show whether records changed, from the built-in collections
sql/schema.sql            the net effect of migrations and functions
layers/quarry/quarry/api/examples.json  calls of each route, from the recorded events
docs/api/openapi.json     the HTTP interface
layers/quarry/quarry/client/routes/generated.py  the client's methods that follow from it
clients/typescript/quarry.d.ts  the types of the TypeScript client, too
docs/errors.md            every error (between its markers)
docs/api/*-events.json    JSON schemas of streamed events
docs/settings.md          every setting
docs/data.md              the tables that can be loaded (between its markers)
docs/deploy.md            the costs of a stack (between its markers)
template.yaml             the API's routes (between its markers)
sql/sample/*/vectors.npz  vectors of the sample data (only where a text changed)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import or_
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from psycopg.sql import SQL, Identifier
from pydantic import TypeAdapter

from quarry import catalog
from quarry.api.routers import EVERYTHING
from quarry.campaigns import contract as campaigns_contract
from quarry.companies import contract as companies_contract
from quarry.domains import modules
from quarry.local.data import VECTORS_FILE, sample_directory, sample_domains, text_key, write_vectors
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS, Settings
from quarry.platform.tables import LoadableTable
from quarry.postgres.migrate import connect, migrate
from quarry.query.contract import UnderstoodEvent
from quarry.records import contract as records_contract
from quarry.streaming.events import (
    NDJSON,
    PLACE_PATTERN,
    SSE,
    EnvelopedErrorEvent,
    ErrorEvent,
    Event,
    Form,
    PartialTextEvent,
    TextWithdrawnEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.web.description import RECORDED, openapi_document
from tools import costs, gateway
from tools.api_examples import examples
from tools.client_routes import generated_routes
from tools.counted_values import declared_functions, write_functions
from tools.typescript_client import typescript_client

ROOT = Path(__file__).resolve().parents[1]

CLIENT_ROUTES = ROOT / "layers" / "quarry" / "quarry" / "client" / "routes" / "generated.py"

CHAT_EVENTS = (UnderstoodEvent, PartialTextEvent, TextWithdrawnEvent, EnvelopedErrorEvent)
STREAMED: dict[str, tuple[ModuleType, Sequence[type[Event]], Form]] = {
    **{
        domain: (contract, [ToolCallEvent, ToolObservationEvent, *CHAT_EVENTS], NDJSON)
        for domain, contract in modules("contract").items()
        if hasattr(contract, "FinalAnswerEvent")
    },
    "campaigns": (campaigns_contract, [ToolCallEvent, *CHAT_EVENTS], NDJSON),
    "companies": (companies_contract, CHAT_EVENTS, NDJSON),
    "records": (records_contract, [ErrorEvent], SSE),
}
"""The domains that stream: each with the module that defines its events, those that it shares with others, and their form."""

TABLES_START = "<!-- tables: written by tools/generate.py -->\n"
TABLES_END = "<!-- end of tables -->\n"
ERRORS_START = "<!-- errors: written by tools/generate.py -->\n"
ERRORS_END = "<!-- end of errors -->\n"
COSTS_START = "<!-- costs: written by tools/generate.py -->\n"
COSTS_END = "<!-- end of costs -->\n"

# Kept between runs, since setting up a server takes seconds and starting it does not.
_CLUSTER = ROOT / ".quarry" / "generate"
_PASSING_DUMP_LINES = re.compile(r"^(\\(un)?restrict .*|-- Dumped (from|by) .*)\n", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description="Write the generated files.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    check = parser.parse_args(arguments).check

    functions = declared_functions()
    if not check:  # the schema depends on them
        write_functions()
    texts = functions | generated_texts()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    of_domains = {sample_directory() / domain / VECTORS_FILE: sample_windows(domain) for domain in sample_domains()}
    vectors = {path: windows for path, windows in of_domains.items() if windows}
    stale += [path for path, windows in vectors.items() if not has_vectors_of(path, windows)]

    for path in stale:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name} is not up to date: run `make docs` and commit it", file=sys.stderr)
            continue
        if path in vectors:
            asyncio.run(_embed_sample(vectors[path], path))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path])
        print(f"wrote {name}")
    return int(check and bool(stale))


def generated_texts() -> dict[Path, str]:
    """The content of each generated text file, by path."""
    data, deploy, errors = (ROOT / "docs" / f"{page}.md" for page in ("data", "deploy", "errors"))
    api = openapi_document(EVERYTHING, calls := examples(openapi_document(EVERYTHING)["paths"]))
    with _scratch_database() as url:
        migrate(url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS)
        schema = schema_dump(url)
    return {
        ROOT / "sql" / "schema.sql": schema,
        RECORDED: _json(calls),
        ROOT / "docs" / "api" / "openapi.json": _json(api),
        CLIENT_ROUTES: generated_routes(api),
        ROOT / "clients" / "typescript" / "quarry.d.ts": typescript_client(api),
        errors: with_errors(errors.read_text(), api["x-problems"]),
        **{
            ROOT / "docs" / "api" / f"{domain}-events.json": _json(event_schema(domain, contract, shared, form))
            for domain, (contract, shared, form) in STREAMED.items()
        },
        ROOT / "docs" / "settings.md": settings_page(),
        data: with_tables(data.read_text(), list(catalog.LOADABLE.values())),
        deploy: with_costs(deploy.read_text()),
        ROOT / "template.yaml": gateway.with_routes((ROOT / "template.yaml").read_text()),
    }


# --- sql/schema.sql


def schema_dump(url: str, *options: str) -> str:
    """The schema of the embedded Postgres' database at `url`, from its own pg_dump: equal schemas give equal text."""
    dumped = run_program(url, "pg_dump", "--schema-only", "--no-owner", "--no-comments", *options, url)
    return _PASSING_DUMP_LINES.sub("", dumped).strip() + "\n"


def run_program(url: str, name: str, *arguments: str) -> str:
    """The output of a program that came with the embedded Postgres at `url`."""
    with connect(url) as connection:
        row = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchone()
    assert row is not None
    programs = Path(row[0])
    return subprocess.run(
        [programs / name, *arguments],
        env={"LD_LIBRARY_PATH": str(programs.parent / "lib")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@contextmanager
def _scratch_database() -> Iterator[str]:
    name = Identifier(f"schema_{os.getpid()}")
    with EmbeddedPostgres(_CLUSTER, parameters={"fsync": "off"}) as server:
        server_url = server.start()
        with connect(server_url) as connection:
            connection.execute(SQL("create database {}").format(name))
            try:
                yield server_url.rsplit("/", 1)[0] + f"/schema_{os.getpid()}"
            finally:
                connection.execute(SQL("drop database {}").format(name))


# --- docs/api


def event_schema(domain: str, contract: ModuleType, shared: Sequence[type[Event]], form: Form) -> dict[str, Any]:
    """The JSON Schema of one streamed event: any that `contract` defines, or one that the domain shares with others."""
    defined = (value for value in vars(contract).values() if isinstance(value, type) and issubclass(value, Event))
    events: list[type[Event]] = [*(event for event in defined if event is not Event), *shared]
    schema = TypeAdapter(reduce(or_, events)).json_schema(mode="serialization")
    for event in events:
        definition = schema["$defs"][event.__name__]
        # pydantic considers it optional because of its default; on the wire it is always present
        definition["required"] = ["type", *definition.get("required", [])]
        if form is NDJSON:
            definition["properties"]["seq"] = {"type": "string", "pattern": PLACE_PATTERN}
            definition["required"].append("seq")
    heading = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"An event of a {domain} stream"}
    return heading | schema


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# --- docs/errors.md


def with_errors(page: str, problems: Sequence[dict[str, Any]]) -> str:
    """`page`, docs/errors.md, with every error between its markers."""
    return _between(page, ERRORS_START, "\n" + "\n".join(map(_error_section, problems)) + "\n", ERRORS_END)


def _error_section(problem: dict[str, Any]) -> str:
    codes = f"`{problem['type']}`, below `/v1/` `{problem['code']}`"
    return f"### {problem['status']} {problem['title']}\n\n{codes}\n\n{problem['meaning']} {problem['remedy']}\n"


# --- docs/deploy.md


def with_costs(page: str) -> str:
    """`page`, docs/deploy.md, with the costs of a stack between its markers."""
    return _between(page, COSTS_START, costs.section(), COSTS_END)


# --- docs/settings.md

_SETTINGS_HEAD = """# Settings

Every setting is an environment variable, validated at start; an empty one counts as unset. Running locally needs none.
`make docs` writes this page.

The first of these wins: a command's option (`--port`), the environment, the file `.env` in the working directory
(`NAME=value`), weights stored by `quarry tune`, the default. Append `_FILE` to the name of a secret to read it from a file,
as Docker and Kubernetes mount them: `DATABASE_URL_FILE`. `quarry config show` prints what is set, and from where, without
secrets. `NO_COLOR` turns colours off. Lambda reads only the environment.

| variable | default | takes | what it does |
|---|---|---|---|
"""


def settings_page() -> str:
    """The content of docs/settings.md."""
    properties = Settings.model_json_schema()["properties"]
    rows = (
        _table_row(f"`{name.upper()}`", _default(schema), describe_type(schema), schema["description"])
        for name, schema in properties.items()
    )
    return _SETTINGS_HEAD + "".join(rows)


def _default(schema: dict[str, Any]) -> str:
    value = schema["default"]
    return "unset" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


# --- docs/data.md


def with_tables(page: str, tables: Sequence[LoadableTable]) -> str:
    """`page`, docs/data.md, with the description of `tables` between its markers. Tables with equal fields, and fields of
    one kind, are listed together."""
    listed: dict[str, str] = {}
    sections = []
    for table in tables:
        description, fields = table.row.model_json_schema()["description"], _table_fields(table)
        first = listed.setdefault(fields, table.name)
        sections.append(
            f"### {table.name}\n\n{description}"
            + (f"\n\n{fields}" if first == table.name else f" Its fields are those of `{first}`.\n")
        )
    return _between(page, TABLES_START, "\n" + "\n".join(sections) + "\n", TABLES_END)


def _between(page: str, start: str, text: str, end: str) -> str:
    """`page` with `text` between its markers."""
    head, _, rest = page.partition(start)
    _, marker, tail = rest.partition(end)
    if not marker:
        raise SystemExit(f"{start.strip()}: this marker, or the one that ends it, is gone")
    return head + start + text + end + tail


def _table_fields(table: LoadableTable) -> str:
    schema = table.row.model_json_schema()
    embedded = catalog.EMBEDDED[table.name].text_columns if table.name in catalog.EMBEDDED else ()
    alike: dict[str, list[str]] = {}
    for name, field_schema in schema["properties"].items():
        notes = [
            *(["required"] if name in schema["required"] else []),
            *([f"id in `{table.references[name]}`"] if name in table.references else []),
            *([_inherited(table, name)] if name in table.inherits else []),
            *(["embedded"] if name in embedded else []),
        ]
        alike.setdefault("; ".join([describe_type(field_schema), *notes]), []).append(f"`{name}`")
    rows = (_table_row(", ".join(names), description) for description, names in alike.items())
    return "".join(["| field | |\n|---|---|\n", *rows])


def _inherited(table: LoadableTable, column: str) -> str:
    reference, _, source_column = table.inherits[column]
    return f"default: the `{source_column}` of `{reference}`"


def describe_type(schema: dict[str, Any]) -> str:
    """A JSON schema in a few words for readers."""
    for choice in schema.get("anyOf", []):
        if choice["type"] != "null":
            return describe_type(choice)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    match schema["type"]:
        case "array":
            return f"list of {describe_type(schema['items'])}"
        case "boolean":
            return "boolean"
        case "string":
            return _describe_text(schema)
        case number:
            return _describe_number(number, schema)


def _describe_text(schema: dict[str, Any]) -> str:
    kind = {"date": "date", "date-time": "time", "password": "secret", "path": "path"}.get(
        schema.get("format", ""), "text"
    )
    return f"{kind}({schema['maxLength']:,})" if "maxLength" in schema else kind


def _describe_number(kind: str, schema: dict[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None and least >= 0:
        return f"{kind} {least:,}–{most:,}"
    bounds = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
    return " ".join([kind, *(f"{word} {schema[name]:,}" for name, word in bounds.items() if name in schema)])


def _table_row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


# --- sql/sample/*/vectors.npz


def sample_windows(domain: str) -> list[str]:
    """Every text of a domain's sample data that is embedded, as the local model reads it."""
    model = LocalEmbedding()
    return [
        window
        for table in catalog.EMBEDDED.values()
        for row in _rows(sample_directory() / domain / f"{table.name}.jsonl", catalog.LOADABLE[table.name])
        for _, _, window in table.windows(row, model.windows)
    ]


def has_vectors_of(path: Path, texts: Sequence[str]) -> bool:
    """Whether the file at `path` holds vectors of exactly these texts."""
    if not path.exists():
        return False
    with np.load(path) as file:
        return set(file["keys"].tolist()) == {text_key(text) for text in texts}


def _rows(path: Path, table: LoadableTable) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text().splitlines():
            yield table.row.model_validate_json(line).model_dump()


async def _embed_sample(windows: Sequence[str], path: Path) -> None:
    model = LocalEmbedding()
    await write_vectors(model, windows, path)
    await model.close()


if __name__ == "__main__":
    sys.exit(main())
