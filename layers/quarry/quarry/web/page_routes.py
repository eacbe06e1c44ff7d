"""The page, the API reference and their files, served so that a browser may cache them.

A first visit makes four requests: the document, one script, one style sheet and `/config.json`, which says what the page needs
to know before the user has signed in. Addresses of files contain a hash of all of them: `/assets/<version>/page.js`. All are
text, as API Gateway's buffered responses require. `page_bundle` puts them together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from quarry.domains import REMEMBERED_SECONDS, filled_domains, searched_tables
from quarry.language.messages import gettext_noop, language
from quarry.language.recognition import CODES
from quarry.language.writing import ENGLISH
from quarry.platform.errors import NotFound
from quarry.platform.settings import Settings
from quarry.services.services import Services
from quarry.web.admission import unmetered
from quarry.web.contract import PageConfig, SignIn
from quarry.web.description import IMMUTABLE, REVALIDATE, TextFile, text_response
from quarry.web.page_bundle import BUILT, Parts, put_together
from quarry.web.requests import PublicServices, installation_of

DIRECTORY = Path(__file__).resolve().parents[1] / "page"
EXAMPLES = DIRECTORY / "examples.json"

CONFIG_CACHE_CONTROL = "public, max-age=60"
SCOPES = ("openid", "email")

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    "": "text/plain; charset=utf-8",
}
"""By the suffix of a file; licences have none."""

# `{connect}` is where the browser exchanges its code for a token. No Trusted Types policy is allowed: nothing parses HTML.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self' 'sha256-{boot}'; style-src 'self'; img-src 'self' data:; font-src data:; "
    "connect-src 'self'{connect}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY_HEADERS = {
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

LANGUAGE_COOKIE = "quarry_language"
"""The language that the reader chose, by its ISO 639-1 code; the page's switch sets it."""
_DOCUMENTS = {name: f"index.{code}.html" for code, name in CODES.items()}

router = APIRouter(tags=["console"])


@dataclass(frozen=True)
class Page:
    """The HTML of both pages, of the first by language, the files that it refers to, their version, and the hash of the script
    within it.
    """

    html: Mapping[str, TextFile]
    reference: TextFile
    assets: Mapping[str, TextFile]
    version: str
    boot_hash: str


@lru_cache(maxsize=1)
def page() -> Page:
    """The page that this package contains, put together when it was built or else now."""
    built = DIRECTORY / BUILT
    parts: Parts = json.loads(built.read_text(encoding="utf-8")) if built.exists() else put_together(DIRECTORY)
    files = {
        name: TextFile(text.encode(), MEDIA_TYPES[PurePosixPath(name).suffix]) for name, text in parts["files"].items()
    }
    english, reference = files.pop("index.html"), files.pop("reference.html")
    html = {ENGLISH: english}
    html |= {name: files.pop(document) for name, document in _DOCUMENTS.items() if document in files}
    return Page(html, reference, files, parts["version"], parts["boot_hash"])


@router.get("/", include_in_schema=False)
@router.get("/search", include_in_schema=False)
@unmetered
async def index(request: Request) -> Response:
    """The page. Its query string says what it shows."""
    event = request.scope.get("aws.event") or {}
    whole_path = (event.get("requestContext") or {}).get("path") or "/"
    if request.url.path == "/" and not whole_path.endswith("/"):
        # the page's addresses are relative: the stage must end in a slash
        return RedirectResponse(f"{whole_path}/" + (f"?{request.url.query}" if request.url.query else ""), 308)
    documents = page().html
    # the language that the reader chose on the page, else one that the browser accepts
    chosen_language = CODES.get(request.cookies.get(LANGUAGE_COOKIE, "")) or language() or ENGLISH
    return _html_response(request, documents.get(chosen_language, documents[ENGLISH]))


@router.get("/docs", include_in_schema=False)
@unmetered
async def reference(request: Request) -> Response:
    """The API reference, which the browser builds from `/openapi.json`."""
    return _html_response(request, page().reference)


def _html_response(request: Request, html: TextFile) -> Response:
    sign_in = sign_in_of(request.scope.get("aws.event") or {}, installation_of(request).settings)
    policy = CONTENT_SECURITY_POLICY.format(boot=page().boot_hash, connect=f" {sign_in.domain}" if sign_in else "")
    headers = {"Content-Security-Policy": policy, "Vary": "Accept-Encoding, Accept-Language, Cookie"}
    return text_response(request, html, REVALIDATE, SECURITY_HEADERS | headers)


@router.get("/assets/{path:path}", include_in_schema=False)
@unmetered
async def asset(request: Request, path: str) -> Response:
    """One asset, under the version that the page names or under any other: an open page outlives an update."""
    version, _, name = path.partition("/")
    file = page().assets.get(name)
    if file is None:
        raise NotFound(gettext_noop("There is nothing at this address."))
    cache_control = IMMUTABLE if version == page().version else REVALIDATE
    return text_response(request, file, cache_control)


@router.get("/embed/quarry-ask.js", include_in_schema=False)
@unmetered
async def embedded_element(request: Request) -> Response:
    """The element `<quarry-ask>` for pages of other origins, at an address without a version, which they can keep."""
    file = page().assets["embed/quarry-ask.js"]
    return text_response(request, file, REVALIDATE, {"Cross-Origin-Resource-Policy": "cross-origin"})


@router.get("/config.json")
@unmetered
async def config(request: Request, response: Response, services: PublicServices) -> PageConfig:
    """What the page needs to know: domains that hold data, sign-in, path prefix, examples."""
    event = request.scope.get("aws.event") or {}
    sign_in = sign_in_of(event, services.settings)
    response.headers["Cache-Control"] = CONFIG_CACHE_CONTROL
    if services.tenants is not None:  # whose data it is follows from the sign-in
        return PageConfig(domains=sorted(searched_tables()), sign_in=sign_in, prefix=_prefix(event), examples={})
    domains = await filled_domains(services, services.database.reserve, seconds=REMEMBERED_SECONDS)
    examples = await _examples(services)
    return PageConfig(domains=domains, sign_in=sign_in, prefix=_prefix(event), examples=examples)


async def _examples(services: Services) -> dict[str, list[str]]:
    rows = await services.database.reserve.rows("select domain from loaded_samples")
    loaded = {row["domain"] for row in rows}
    return {domain: questions for domain, questions in _example_questions().items() if domain in loaded}


@lru_cache(maxsize=1)
def _example_questions() -> dict[str, list[str]]:
    questions: dict[str, list[str]] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return questions


def sign_in_of(event: Mapping[str, Any], settings: Settings) -> SignIn | None:
    """The sign-in that the API's stage variables name. The function's environment cannot name it, since the user pool's client
    refers to the API. None if identity is local, as under `sam local`, which does not resolve these variables.
    """
    if settings.identity == "local":
        return None
    variables: Mapping[str, str] = event.get("stageVariables") or {}
    domain, client_id = variables.get("signInDomain"), variables.get("signInClientId")
    if not (domain and client_id):
        return None
    scope = variables.get("accessTokenScope")
    scopes = [*SCOPES, *([scope] if scope and scope not in SCOPES else [])]
    return SignIn(domain=domain, client_id=client_id, scopes=scopes)


def _prefix(event: Mapping[str, Any]) -> str:
    """The part of the path that API Gateway removed: its stage, or nothing under a custom domain."""
    whole = (event.get("requestContext") or {}).get("path") or ""
    return str(whole).removesuffix(str(event.get("path") or "")) if whole else ""
