"""Sign-in through managed login, which is played here: authorization code with PKCE."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.page.conftest import Site, answer_json, answer_problem
from tests.page.test_people_page import ASKED, Searches, asked

DOMAIN = "https://login.example"
SIGN_IN = {"domain": DOMAIN, "client_id": "client-1", "scopes": ["openid", "email"]}
QUESTION = "Why did the council keep the old elm in Quill Square?"


def token(**claims: object) -> str:
    """A token as the browser reads it: only the claims count, and locally it is a name of at most 64 characters."""
    return f"h.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.s"


@dataclass
class ManagedLogin:
    """Plays Cognito: sends the user back with a code, and exchanges it for tokens."""

    first_lifetime_seconds: int = 3600
    """Of the tokens for a code; those that renew them last an hour."""
    refuses: bool = False
    forges_state: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)
    grants: list[dict[str, str]] = field(default_factory=list)
    tokens_used: list[str | None] = field(default_factory=list)

    def play(self, page: Page) -> None:
        page.route("**/config.json", answer_json({"domains": ["records"], "sign_in": SIGN_IN, "prefix": ""}))
        page.route(f"{DOMAIN}/oauth2/authorize?*", self._authorize)
        page.route(f"{DOMAIN}/oauth2/token", self._grant)
        page.route(f"{DOMAIN}/logout?*", lambda route: self._back(route, "logout_uri", {}))
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if urlsplit(request.url).path.startswith("/records/"):
            self.tokens_used.append(request.headers.get("authorization"))

    def _authorize(self, route: Route) -> None:
        query = {name: value for name, [value] in parse_qs(urlsplit(route.request.url).query).items()}
        self.asked.append(query)
        state = "forged" if self.forges_state else query["state"]
        answer = {"error": "access_denied", "error_description": "No."} if self.refuses else {"code": "code-1"}
        self._back(route, "redirect_uri", answer | {"state": state})

    def _back(self, route: Route, name: str, answer: dict[str, str]) -> None:
        [address] = parse_qs(urlsplit(route.request.url).query)[name]
        route.fulfill(status=302, headers={"Location": address + ("?" + urlencode(answer) if answer else "")})

    def _grant(self, route: Route) -> None:
        grant = {name: value for name, [value] in parse_qs(route.request.post_data or "").items()}
        self.grants.append(grant)
        verifier = grant.get("code_verifier", "")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        if grant["grant_type"] == "authorization_code" and challenge != self.asked[-1]["code_challenge"]:
            route.fulfill(status=400, json={"error": "invalid_grant"}, headers={"Access-Control-Allow-Origin": "*"})
            return
        body = {
            "id_token": token(email="me@example.org"),
            "access_token": token(scope="openid"),
            "refresh_token": "refresh-1",
            "expires_in": self.first_lifetime_seconds if len(self.grants) == 1 else 3600,
        }
        route.fulfill(status=200, json=body, headers={"Access-Control-Allow-Origin": "*"})


@pytest.fixture
def login() -> ManagedLogin:
    return ManagedLogin()


def open_with(site: Site, login: ManagedLogin, path: str = "") -> Page:
    # the server here knows of no managed login, which its policy would name
    return site.open(path, before=login.play, bypass_csp=True)


def test_a_search_needs_a_user_and_continues_after_sign_in(site: Site, login: ManagedLogin) -> None:
    page = open_with(site, login, "search?" + urlencode({"q": "bridge", "type": "motion"}))
    expect(page.get_by_role("alert")).to_contain_text("Sign in to search")
    assert login.tokens_used == []
    page.get_by_role("alert").get_by_role("button", name="Sign in").click()
    expect(page.locator(".result").first).to_be_visible()
    assert parse_qs(urlsplit(page.url).query) == {"q": ["bridge"], "type": ["motion"]}
    [asked] = login.asked
    assert asked | {"state": "", "code_challenge": ""} == {
        "response_type": "code",
        "client_id": "client-1",
        "redirect_uri": f"{site.url}/",
        "scope": "openid email",
        "state": "",
        "code_challenge": "",
        "code_challenge_method": "S256",
    }
    [grant] = login.grants
    assert (grant["grant_type"], grant["code"], grant["redirect_uri"]) == (
        "authorization_code",
        "code-1",
        f"{site.url}/",
    )
    assert all(used and used.startswith("Bearer ") for used in login.tokens_used)
    expect(page.get_by_role("button", name="Sign out")).to_have_attribute("title", "me@example.org")


def test_a_reload_needs_no_second_sign_in_and_signing_out_ends_it(site: Site, login: ManagedLogin) -> None:
    page = open_with(site, login)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert len(login.grants) == 1
    assert page.evaluate("sessionStorage.getItem('quarry.tokens')") is None


def test_an_expired_token_is_renewed_once(site: Site, login: ManagedLogin) -> None:
    login.first_lifetime_seconds = 30
    page = open_with(site, login)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.get_by_role("textbox").fill("bridge")
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    assert [grant["grant_type"] for grant in login.grants] == ["authorization_code", "refresh_token"]
    assert login.grants[1]["refresh_token"] == "refresh-1"


def test_a_response_to_a_sign_in_started_elsewhere_is_refused(site: Site, login: ManagedLogin) -> None:
    login.forges_state = True
    page = open_with(site, login)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not started here")
    assert login.grants == []
    assert "code" not in page.url


def test_a_shared_answer_needs_no_user(site: Site, login: ManagedLogin) -> None:
    asking = site.open("search?" + urlencode({"q": QUESTION}))
    expect(asking).to_have_url(re.compile("id="))
    page = open_with(site, login, asking.url.removeprefix(f"{site.url}/"))
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    expect(page.locator(".prose")).to_contain_text("elm")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert login.tokens_used == []


def test_back_to_the_previous_users_search_charges_nobody(site: Site, login: ManagedLogin) -> None:
    page = open_with(site, login)
    searches = Searches()
    searches(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.goto(f"{site.url}/{ASKED}")
    asked(page)
    expect(page.get_by_role("article")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.route("**/people/search?only_kept=true", answer_problem(404))
    while "search=" not in page.url:
        page.go_back()
    page.get_by_role("button", name="Search for one credit").wait_for()
    assert len(searches.keys) == 1
