"""Cognito's managed login, without passwords: whoever signs in says who they are. Its tokens are the users' names."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

PATHS = ("/login", "/logout", "/oauth2/authorize", "/oauth2/token")
TOKEN_SECONDS = 3600

_HTML = {"Content-Type": "text/html; charset=utf-8"}


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: str


def answer(path: str, given: Mapping[str, str]) -> Answer:
    """The answer to a request to one of PATHS, with the parameters of its query or its form."""
    match path:
        case "/oauth2/token":
            user = given.get("code") or given["refresh_token"]
            claims = json.dumps({"sub": user, "email": f"{user}@example.org"}).encode()
            tokens = {
                "access_token": user,
                "id_token": f".{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.",
                "refresh_token": user,
                "expires_in": TOKEN_SECONDS,
            }
            return Answer(200, {"Content-Type": "application/json"}, json.dumps(tokens))
        case "/oauth2/authorize" if given.get("user"):
            back = urlencode({"code": given["user"], "state": given["state"]})
            return Answer(302, {"Location": f"{given['redirect_uri']}?{back}"}, "")
        case "/logout":
            return Answer(302, {"Location": given["logout_uri"]}, "")
        case _:
            return Answer(200, _HTML, _form(given))


def _form(given: Mapping[str, str]) -> str:
    kept = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in given.items()
    )
    return (
        '<!doctype html><html lang="en"><title>Sign in</title><form action="/oauth2/authorize">'
        f'{kept}<label>Who are you? <input name="user" value="demo" required autofocus></label> <button>Sign in</button></form>'
    )
