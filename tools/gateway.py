"""The API's routes in API Gateway's form: the parts of template.yaml that `python -m tools.generate` writes.

A route comes from the same routers as the OpenAPI document, and leads to the function that serves it. A function answers in one
mode, so to API Gateway its routes differ only in who may call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from quarry.api import routers as of
from quarry.web.requests import verified_caller

SERVED: dict[str, Iterable[APIRouter]] = {
    "search": of.SEARCH,
    "unlock": of.UNLOCK,
    "profile": of.PROFILE,
    "cache_lookup": of.CACHE_LOOKUP,
    "console": of.CONSOLE,
}
"""What each function behind the API serves, by the name of its folder."""

LINE_MAX = 160
STREAMING = {"search"}
STREAM_MILLISECONDS = 90_000
"""The timeout of the streaming function; API Gateway's default would end a stream after 29 s."""

ROUTES_START, ROUTES_END = "# --- routes: written by tools/generate.py\n", "# --- end of routes\n"
PUBLIC_START, PUBLIC_END = "# --- public routes: written by tools/generate.py\n", "# --- end of public routes\n"


class Route(NamedTuple):
    path: str
    method: str
    function: str
    is_public: bool


def routes() -> list[Route]:
    """Every route of the API except OPTIONS, which API Gateway answers itself."""
    return [
        Route(_path(route), method, function, not _asks_who_calls(route.dependant))
        for function, routers in SERVED.items()
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(_methods(route))
    ]


def _methods(route: APIRoute) -> set[str]:
    methods = set(route.methods or ())
    return methods | ({"HEAD"} if "GET" in methods else set())


def _asks_who_calls(dependant: Dependant) -> bool:
    return dependant.call is verified_caller or any(map(_asks_who_calls, dependant.dependencies))


def _path(route: APIRoute) -> str:
    """The path in API Gateway's syntax. A parameter with several segments must end its path and have no siblings, so an id of
    people is one segment with its slashes encoded.
    """
    return route.path.replace(":path}", "}" if route.path.startswith("/people/") else "+}")


def with_routes(template: str) -> str:
    """The text of template.yaml with all routes."""
    text = _between(template, ROUTES_START, ROUTES_END, _operations())
    return _between(text, PUBLIC_START, PUBLIC_END, _limits())


def _between(text: str, start: str, end: str, lines: Iterable[str]) -> str:
    before, _, rest = text.partition(start)
    indent = before.rpartition("\n")[2]
    _, _, after = rest.partition(end)
    return before + start + "".join(f"{folded(indent + line)}\n" for line in lines) + indent + end + after


def folded(line: str) -> str:
    """A line of YAML as several where it is too long: cut at a space within a flow collection or a quoted text, which means the
    same, or else within a text in double quotes, by a backslash.
    """
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    done: list[str] = []
    depth, quote = 0, ""
    while len(line) > LINE_MAX and not line.lstrip().startswith("#"):
        end, cut, ending = 0, 0, ""
        for place, letter in enumerate(line[: LINE_MAX - 1]):
            if letter == " " and (depth or quote) and place >= len(indent):
                end, cut, ending, state = place, place + 1, "", (depth, quote)
            elif letter == ":" and quote == '"' and end < LINE_MAX // 2:
                end, cut, ending, state = place + 1, place + 1, "\\", (depth, quote)
            depth, quote = _after(letter, depth, quote)
        assert end, line
        done.append(line[:end] + ending)
        line = indent + line[cut:]
        depth, quote = state
    return "\n".join([*done, line])


def _after(letter: str, depth: int, quote: str) -> tuple[int, str]:
    """How deep in flow collections, and in which quotes, the next letter stands."""
    if quote:
        return depth, "" if letter == quote else quote
    if letter in "\"'":
        return depth, letter
    return depth + (letter in "{[") - (letter in "}]"), ""


def _operations() -> Iterator[str]:
    """A line for each path. Parts shared by many routes are written with the first of them."""
    functions: set[str] = set()
    items: dict[str, str] = {}
    by_path: dict[str, list[Route]] = {}
    for route in routes():
        by_path.setdefault(route.path, []).append(route)
    for path, of_path in by_path.items():
        methods = ", ".join(f"{route.method.lower()}: {_operation(route, functions)}" for route in of_path)
        item = f"{{{methods}}}"
        if existing := items.get(item):
            yield f"{path}: *{existing}"
        elif "&" in item:
            yield f"{path}: {item}"
        else:
            items[item] = f"i{len(items)}"
            yield f"{path}: &{items[item]} {item}"


def _operation(route: Route, functions: set[str]) -> str:
    name = route.function + ("-public" if route.is_public else "")
    if name in functions:
        return f"*{name}"
    functions.add(name)
    security = "security: [{NONE: []}], " if route.is_public else ""
    integration = _integration(route.function, functions)
    return f"&{name} {{{security}responses: {{}}, x-amazon-apigateway-integration: {integration}}}"


def _integration(function: str, functions: set[str]) -> str:
    name = f"to-{function}"
    if name in functions:
        return f"*{name}"
    functions.add(name)
    streams = function in STREAMING
    mode = f"responseTransferMode: STREAM, timeoutInMillis: {STREAM_MILLISECONDS}, " if streams else ""
    # written out: `sam local` does not find the function of a stream through a reference
    account = "${AWS::Region}:${AWS::AccountId}"
    alias = f"arn:${{AWS::Partition}}:lambda:{account}:function:${{AWS::StackName}}-{function.replace('_', '-')}:live"
    version, call = ("2021-11-15", "response-streaming-invocations") if streams else ("2015-03-31", "invocations")
    uri = f"arn:${{AWS::Partition}}:apigateway:${{AWS::Region}}:lambda:path/{version}/functions/{alias}/{call}"
    return f'&{name} {{type: aws_proxy, httpMethod: POST, {mode}uri: !Sub "{uri}"}}'


def _limits() -> Iterator[str]:
    """The stage's limit for each public GET, except the page's assets, since a visit fetches many at once."""
    rate = "!Ref PublicRequestsPerSecond"
    limit = (
        f"&public {{ThrottlingRateLimit: {rate}, ThrottlingBurstLimit: {rate}, LoggingLevel: ERROR, HttpMethod: GET}}"
    )
    for route in routes():
        if route.is_public and route.method == "GET" and not route.path.startswith(("/assets/", "/embed/")):
            yield f"- {{<<: {limit}, ResourcePath: {_encoded(route.path)}}}"
            limit = "*public"


def _encoded(path: str) -> str:
    """A path as stage settings write it: the first slash stays, other slashes become `~1`."""
    return path if path == "/" else f'"/{path.replace("/", "~1")}"'
