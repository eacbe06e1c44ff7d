"""What the page requests before the user has signed in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response

from quarry.domains import REMEMBERED_SECONDS, filled_domains, searched_tables
from quarry.platform.settings import Settings
from quarry.services.services import Services
from quarry.web.admission import unmetered
from quarry.web.contract import PageConfig, SignIn
from quarry.web.requests import PublicServices

CACHE_CONTROL = "public, max-age=60"

EXAMPLES = Path(__file__).resolve().parents[1] / "page" / "examples.json"

SCOPES = ("openid", "email")


router = APIRouter(tags=["console"])


@router.get("/config.json")
@unmetered
async def config(request: Request, response: Response, services: PublicServices) -> PageConfig:
    """What the page needs to know: domains that hold data, sign-in, path prefix, examples."""
    event = request.scope.get("aws.event") or {}
    sign_in = sign_in_of(event, services.settings)
    response.headers["Cache-Control"] = CACHE_CONTROL
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
