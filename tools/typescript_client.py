"""Generates the types of the TypeScript client, `clients/typescript/quarry.d.ts`, from the OpenAPI document."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

STREAMS = ("text/event-stream", "application/x-ndjson")

HEAD = """\
// Types of Quarry's HTTP interface, made from docs/api/openapi.json by tools/typescript_client.py; `make docs` writes this file.

export type Json = string | number | boolean | null | Json[] | {[name: string]: Json};
/** An event of a stream; docs/api holds the schemas of all. */
export interface StreamEvent { type: string; [field: string]: any }

export interface Options { token?: string; fetch?: typeof fetch }

/** An answer that is an error: a problem as in RFC 9457. */
export class QuarryError extends Error {
  readonly status: number;
  readonly problem: {title?: string; detail?: string; request_id?: string; errors?: {pointer: string; message: string}[]};
}

type Inputs<R> = Omit<R, 'answer' | 'streams'> & {headers?: Record<string, string>; signal?: AbortSignal};
type Asked<R> = {} extends Inputs<R> ? [input?: Inputs<R>] : [input: Inputs<R>];
type Streaming = {[R in keyof Routes]: Routes[R] extends {streams: true} ? R : never}[keyof Routes];

export class Quarry {
  constructor(base: string | URL, options?: Options);
  /** The answer of a route, named as in the API reference: `call('GET /records/search', {query: {q: 'elm'}})`. */
  call<R extends keyof Routes>(route: R, ...input: Asked<Routes[R]>): Promise<Routes[R]['answer']>;
  /** The events of a route, as they come. Leaving the loop ends the work. */
  stream<R extends Streaming>(route: R, ...input: Asked<Routes[R]>): AsyncGenerator<StreamEvent, void>;
}

"""


def typescript_client(api: Mapping[str, Any]) -> str:
    """The declarations for every route of `api`, the OpenAPI document."""
    types = [
        f"{_comment(schema)}export type {_name(name)} = {_type(schema)};\n"
        for name, schema in sorted(api["components"]["schemas"].items())
    ]
    routes = [
        f"{textwrap.indent(_comment(operation), '  ')}  '{method.upper()} {path}': {_route(operation)};\n"
        for path, operations in api["paths"].items()
        for method, operation in operations.items()
    ]
    return f"{HEAD}{''.join(types)}\nexport interface Routes {{\n{''.join(routes)}}}\n"


def _name(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def _comment(described: Schema) -> str:
    text = " ".join(str(described.get("description", "")).split()).replace("*/", "* /")
    return f"/** {text} */\n" if text else ""


def _route(operation: Schema) -> str:
    parts = []
    for place in ("path", "query"):
        parameters = [each for each in operation.get("parameters", []) if each["in"] == place]
        if parameters:
            fields = "; ".join(_fields(parameters))
            optional = "" if any(each.get("required") for each in parameters) else "?"
            parts.append(f"{place}{optional}: {{{fields}}}")
    if "requestBody" in operation:
        optional = "" if operation["requestBody"].get("required") else "?"
        parts.append(f"body{optional}: {_content(operation['requestBody']['content'])}")
    succeeded: Schema = next((each for status, each in operation["responses"].items() if status.startswith("2")), {})
    content = succeeded.get("content", {})
    parts.append(f"answer: {_content(content) if content else 'void'}")
    if any(each in content for each in STREAMS):
        parts.append("streams: true")
    return f"{{{'; '.join(parts)}}}"


def _fields(parameters: list[Schema]) -> Iterator[str]:
    for each in parameters:
        schema = each["schema"]
        if each.get("explode") and schema.get("type") == "object":
            yield "[facet: string]: string | number | boolean | string[] | null | undefined"
        else:
            yield f"{_key(each['name'])}{'' if each.get('required') else '?'}: {_type(schema)}"


def _content(content: Mapping[str, Schema]) -> str:
    """The type of a body. One that may be a stream is an answer only where it may be JSON as well."""
    return _type(content["application/json"].get("schema", {})) if "application/json" in content else "never"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _type(schema: Schema) -> str:
    match schema:
        case {"$ref": str(reference)}:
            return _name(reference.rpartition("/")[2])
        case {"const": value}:
            return json.dumps(value)
        case {"enum": values}:
            return " | ".join(map(json.dumps, values))
        case {"anyOf": several} | {"oneOf": several}:
            return " | ".join(dict.fromkeys(map(_type, several)))
        case {"type": "array"}:
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case {"type": "object"}:
            return _object(schema)
        case {"type": "integer" | "number"}:
            return "number"
        case {"type": "string" | "boolean" | "null" as plain}:
            return str(plain)
        case _:
            return "Json"


def _object(schema: Schema) -> str:
    required = schema.get("required", [])
    fields = [
        f"{_key(name)}{'' if name in required else '?'}: {_type(each)}"
        for name, each in schema.get("properties", {}).items()
    ]
    rest = schema.get("additionalProperties")
    if rest is False or (fields and rest is None):
        return f"{{{'; '.join(fields)}}}"
    others = f"{{[name: string]: {_type(rest) if isinstance(rest, Mapping) and not fields else 'any'}}}"
    return f"{{{'; '.join(fields)}}} & {others}" if fields else others
