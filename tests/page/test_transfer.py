"""What the browser downloads, how much, and how long it may cache it; and that the page works under any prefix."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Page, Request, Response, expect

from quarry.web.page_bundle import BUNDLES, NotBundled, bundle_script
from quarry.web.page_routes import page as served_page
from tests.page.conftest import ALL_DOMAINS, Site, requests_to
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

BUDGET_BYTES = 120_000
TRIES_MAX = 3
"""How often the page loads itself anew where a file of it could not be fetched."""
COUNTED_TRIES = "sessionStorage.getItem('quarry.tries')"


@pytest.fixture(scope="package")
def served_under_prefix(page_database: str) -> Iterator[str]:
    with running_server(page_database, prefix="/prod", RATE_LIMIT_PER_MINUTE="0") as url:
        yield url


@pytest.mark.parametrize("name", BUNDLES)
def test_a_page_with_all_that_it_loads_is_under_120_kilobytes(name: str) -> None:
    served = served_page()
    html = served.html["english"] if name == "page" else served.reference
    files = [html, served.assets[f"{name}.js"], served.assets[f"{name}.css"]]
    assert sum(len(gzip.compress(file.body)) for file in files) < BUDGET_BYTES


def test_the_messages_of_a_language_are_under_10_kilobytes() -> None:
    messages = [file for name, file in served_page().assets.items() if name.startswith("languages/")]
    assert len(messages) == 2
    assert all(len(gzip.compress(file.body)) < 10_000 for file in messages)


def test_a_first_visit_fetches_no_file_twice_and_nothing_from_elsewhere(site: Site) -> None:
    responses: list[Response] = []
    page = site.open(before=lambda page: page.on("response", lambda response: responses.append(response)))
    expect(page.get_by_role("textbox")).to_be_visible()
    addresses = [response.url for response in responses]
    assert len(addresses) == len(set(addresses)) == 4  # the document, its script, its style sheet, and /config.json
    assert all(address.startswith(site.url) for address in addresses)
    sent = [response for response in responses if "/assets/" in response.url]
    assert sent
    assert all(response.headers["content-encoding"] == "gzip" for response in sent)


def test_assets_are_cached_for_good_and_the_page_is_revalidated(served: str) -> None:
    with httpx2.Client(base_url=served, timeout=PATIENCE_SECONDS) as client:
        html = client.get("/")
        assert html.headers["cache-control"] == "no-cache"
        assert client.get("/", headers={"If-None-Match": html.headers["etag"]}).status_code == 304
        assert client.get("/search?q=x").text == html.text
        addresses = re.findall(r'(?:href|src)="(assets/[^"]+)"', html.text)
        assert len(addresses) == 2
        for address in addresses:
            asset = client.get(f"/{address}")
            assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert asset.headers["x-content-type-options"] == "nosniff"
            unchanged = client.get(f"/{address}", headers={"If-None-Match": f'"x", {asset.headers["etag"]}'})
            assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_an_open_page_still_finds_its_files_after_an_update(served: str) -> None:
    with httpx2.Client(base_url=served, timeout=PATIENCE_SECONDS) as client:
        old = client.get("/assets/0123456789ab/page.js")
        assert (old.status_code, old.headers["cache-control"]) == (200, "no-cache")
        for unknown in (
            "page.js",
            f"{served_page().version}/nothing.js",
            f"{served_page().version}/../index.html",
            "%2e%2e/x",
        ):
            assert client.get(f"/assets/{unknown}").status_code == 404


def test_under_a_prefix_everything_works(site: Site, served_under_prefix: str) -> None:
    prefixed = Site(site.sessions, served_under_prefix, site.complaints)
    asked: list[Request] = []
    page = prefixed.open("prod/", before=lambda page: requests_to(page, "", asked))
    page.get_by_role("textbox").fill("Why did the council keep the old elm in Quill Square?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    assert page.url.startswith(f"{served_under_prefix}/prod/search?q=")
    page.reload()
    expect(page.locator(".prose")).to_contain_text("elm")
    page.get_by_role("link", name="Quarry").click()
    expect(page).to_have_url(f"{served_under_prefix}/prod/")
    assert all(request.url.startswith(f"{served_under_prefix}/prod/") for request in asked)
    prefixed.close()


def test_only_domains_with_data_are_offered(site: Site) -> None:
    page = site.open(domains=["records"])
    expect(page.get_by_role("textbox")).to_be_visible()
    expect(page.get_by_role("navigation", name="What to search")).to_be_hidden()
    page = site.open(domains=ALL_DOMAINS)
    expect(page.get_by_role("navigation", name="What to search").get_by_role("link")).to_have_text(
        ["Records", "Companies", "People", "Projects", "Campaigns"]
    )


@pytest.mark.parametrize("file", ["page.js", "page.css"])
def test_a_file_that_cannot_be_fetched_is_retried_and_then_told(site: Site, file: str) -> None:
    loaded: list[Page] = []

    def refuse(page: Page) -> None:
        page.route(f"**/{file}", lambda route: route.abort())
        page.on("load", lambda page: loaded.append(page))

    page = site.open(before=refuse)
    while len(loaded) < 1 + TRIES_MAX:
        page.wait_for_event("load")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    page.unroute(f"**/{file}")
    page.reload()
    expect(page.get_by_role("textbox")).to_be_visible()
    assert page.evaluate(COUNTED_TRIES) is None


def test_a_first_page_needs_no_other_modules_than_its_script(site: Site) -> None:
    page = site.open(domains=ALL_DOMAINS)
    asked: list[Request] = []
    requests_to(page, "assets/", asked)
    for name in ("Companies", "People", "Projects", "Campaigns"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_title(re.compile(name))
    assert asked == []


@pytest.mark.parametrize(
    "source",
    ["import x from './b.js';", "export default 1;", "import {a} from './a.js';", 'import {\n  b,\n} from "./b.js";'],
)
def test_what_cannot_be_bundled_is_refused_when_the_page_is_put_together(source: str) -> None:
    with pytest.raises(NotBundled):
        bundle_script({"a.js": source, "b.js": ""}.__getitem__, "a.js")


def test_a_bundle_has_each_module_once_after_those_that_it_imports() -> None:
    files = {
        "a.js": "import {b as named} from './x/b.js';\nimport * as c from './c.js';\nnamed(c);\n",
        "x/b.js": "import {c} from '../c.js';\nexport function b() { return c; }\n",
        "c.js": "export const c = 1;\nconst d = 2;\nexport {d as e};\n",
    }
    c, b, a = bundle_script(files.__getitem__, "a.js").split("const _")[1:]
    assert "return {c, e: d};" in c
    assert "const {c} = _0;" in b
    assert "const {b: named} = _1;\nconst c = _0;\nnamed(c);" in a
