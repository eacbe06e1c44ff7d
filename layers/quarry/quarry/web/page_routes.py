"""The page, the API reference and their files, served so that a browser may cache them.

A first visit makes four requests: the document, one script, one style sheet and `/config.json`. Addresses of files contain a hash
of all of them, `/assets/<version>/page.js`. All are text, as API Gateway's buffered responses require. `page_bundle` puts them
together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from quarry.language.messages import gettext_noop, language
from quarry.language.recognition import CODES
from quarry.language.writing import ENGLISH
from quarry.platform.errors import NotFound
from quarry.web.admission import unmetered
from quarry.web.console_routes import sign_in_of
from quarry.web.page_bundle import BUILT, Parts, put_together
from quarry.web.requests import installation_of
from quarry.web.text_files import ASKED_FOR_EACH_TIME, KEPT_FOR_GOOD, TextFile, text_response

DIRECTORY = Path(__file__).resolve().parents[1] / "page"

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

router = APIRouter(tags=["console"], include_in_schema=False)


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


@router.get("/")
@router.get("/search")
@unmetered
async def index(request: Request) -> Response:
    """The page. Its query string says what it shows."""
    event = request.scope.get("aws.event") or {}
    whole_path = (event.get("requestContext") or {}).get("path") or "/"
    if request.url.path == "/" and not whole_path.endswith("/"):
        # the page's addresses are relative: the stage must end in a slash
        return RedirectResponse(f"{whole_path}/" + (f"?{request.url.query}" if request.url.query else ""), 308)
    known = page().html
    # the language that the reader chose on the page, else one that the browser accepts
    spoken = CODES.get(request.cookies.get(LANGUAGE_COOKIE, "")) or language() or ENGLISH
    return _html_response(request, known.get(spoken, known[ENGLISH]))


@router.get("/docs")
@unmetered
async def reference(request: Request) -> Response:
    """The API reference, which the browser builds from `/openapi.json`."""
    return _html_response(request, page().reference)


def _html_response(request: Request, html: TextFile) -> Response:
    sign_in = sign_in_of(request.scope.get("aws.event") or {}, installation_of(request).settings)
    policy = CONTENT_SECURITY_POLICY.format(boot=page().boot_hash, connect=f" {sign_in.domain}" if sign_in else "")
    headers = {"Content-Security-Policy": policy, "Vary": "Accept-Encoding, Accept-Language, Cookie"}
    return text_response(request, html, ASKED_FOR_EACH_TIME, SECURITY_HEADERS | headers)


@router.get("/assets/{path:path}")
@unmetered
async def asset(request: Request, path: str) -> Response:
    """One asset, under the version that the page names or under any other: an open page outlives an update."""
    version, _, name = path.partition("/")
    file = page().assets.get(name)
    if file is None:
        raise NotFound(gettext_noop("There is nothing at this address."))
    kept = KEPT_FOR_GOOD if version == page().version else ASKED_FOR_EACH_TIME
    return text_response(request, file, kept)


@router.get("/embed/quarry-ask.js")
@unmetered
async def embedded_element(request: Request) -> Response:
    """The element `<quarry-ask>` for pages of other origins, at an address without a version, which they can keep."""
    file = page().assets["embed/quarry-ask.js"]
    return text_response(request, file, ASKED_FOR_EACH_TIME, {"Cross-Origin-Resource-Policy": "cross-origin"})
