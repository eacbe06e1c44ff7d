"""Content from a model, a record or an address never becomes anything but text."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from quarry.web import page_routes
from tests.page.conftest import Site, answer_json, answer_sse

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "<a href='javascript:window.hacked=1'>click</a>",
    "<base href=//evil.example/>",
    "<form action=//evil.example><button>Send</button></form>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1>",
    "&lt;img src=x onerror=window.hacked=1&gt;",
    "[a](javascript:window.hacked=1)",
    "[a](java\nscript:window.hacked=1)",
    "[a](&#106;avascript:window.hacked=1)",
    "[a](data:text/html,<script>window.hacked=1</script>)",
    "[a](//evil.example/x)",
    "[a](\\\\evil.example\\x)",
    "[a](records/search?q=x)",
    "<javascript:window.hacked=1>",
    "![picture](https://evil.example/pixel.png)",
    "[![picture](https://evil.example/p.png)](https://evil.example)",
    "[1]: javascript:window.hacked=1\n\n[1]",
    "[1](https://evil.example)",
    "[x]: javascript:window.hacked=1\n\n[click][x]",
    "```html\n<script>window.hacked=1</script>\n```",
    "`<img src=x onerror=window.hacked=1>`",
    "| a |\n|---|\n| <img src=x onerror=window.hacked=1> |",
    "# <img src=x onerror=window.hacked=1>",
    "- [ ] <script>window.hacked=1</script>\n- [x] done",
    "</mark><img src=x onerror=window.hacked=1><mark>",
    "[" * 3000 + "](" * 3000,
    "> " * 400 + "deep",
    "*" * 4000 + "a",
    "[1" + "0" * 5000 + "]",
    "\u202e\u2066reversed\u2069 \u200b\ufeff",
    "__proto__ [__proto__] [constructor]",
]

# Everything that an answer may consist of.
PROSE = "a blockquote br button code del div em h2 h3 h4 h5 h6 hr li ol p pre span strong table tbody td th thead tr ul".split()

ASSETS = Path(page_routes.__file__).parents[1] / "page" / "assets"


def module_alone(route: Route) -> None:
    """Answers with one of the modules that the page's script is made of."""
    route.fulfill(path=ASSETS / route.request.url.partition("/modules/")[2], content_type="text/javascript")


FORBIDDEN = ":is(main, dialog) :is(img, iframe, script, style, form:not(.prompt), base, meta, object, embed)"

SOURCE: dict[str, Any] = {
    "n": 1,
    "type": "motion",
    "id": "m-1",
    "title": "A motion",
    "snippet": "It is <mark>so</mark>.",
}


def answer_with(text: str, source: dict[str, Any] = SOURCE) -> Any:
    """An answer in the service's own form, with `text`."""
    return answer_sse(
        {"type": "intent", "intent": "question"},
        {"type": "tool_call", "id": "s", "tool": f"search_{text[:40]}", "arguments": {"query": text}},
        {"type": "tool_observation", "id": "s", "tool": "x", "count": 1, "summary": text},
        {"type": "sources", "sources": [source]},
        {"type": "final_answer_chunk", "chunk": text},
        {"type": "confidence", "level": "high", "source_count": 1, "label": text},
        {"type": "followups", "questions": [text[:200], "And then?"]},
        {"type": "done", "answer_id": "a", "cached": False, "topic_changed": False, "degraded": [text[:100]]},
    )


@pytest.fixture
def requested() -> list[str]:
    """Every address that pages of this test request, other than the served page's own."""
    return []


def watch(page: Page, requested: list[str], own: str) -> None:
    page.on("request", lambda request: requested.append(request.url) if not request.url.startswith(own) else None)


def test_hostile_markdown_becomes_only_allowed_elements(site: Site, requested: list[str]) -> None:
    page = site.open(before=lambda page: watch(page, requested, site.url))
    expect(page.get_by_role("textbox")).to_be_visible()
    page.route("**/modules/**", module_alone)
    made = page.evaluate(
        """async ([module, texts]) => {
            const {markdown} = await import(module);
            return texts.map((text) => {
                const root = markdown(text, (n) => (n === 1 ? document.createElement('button') : null));
                document.querySelector('main').append(root);
                return {
                    names: [...new Set([...root.querySelectorAll('*')].map((node) => node.localName))],
                    attributes: [...new Set([...root.querySelectorAll('*')].flatMap((node) => node.getAttributeNames()))],
                    links: [...root.querySelectorAll('a')].map((link) => link.getAttribute('href')),
                    targets: [...root.querySelectorAll('a')].map((link) => link.rel + link.target),
                    typed: [...root.querySelectorAll('[type]')].map((node) => `${node.localName} ${node.getAttribute('type')}`),
                };
            });
        }""",
        ["./modules/markdown.js", HOSTILE],
    )
    page.wait_for_timeout(300)
    for text, each in zip(HOSTILE, made, strict=True):
        assert set(each["names"]) <= set(PROSE), text
        assert set(each["attributes"]) <= {"class", "href", "rel", "start", "tabindex", "target", "type"}, text
        assert all(link.startswith(("http://", "https://")) for link in each["links"]), text
        assert set(each["targets"]) <= {"noopener noreferrer nofollow_blank"}, text
        assert set(each["typed"]) <= {"button button"}, text  # the headings that sort a table
    assert page.evaluate("window.hacked") is None
    assert requested == []


def test_an_answer_with_hostile_parts_is_text(site: Site, requested: list[str]) -> None:
    for text in (" ".join(HOSTILE[:15]), "\n\n".join(HOSTILE[:25])):
        answer = answer_with(text, SOURCE | {"title": text, "snippet": text})
        page = site.open()
        page.route("**/records/ask", answer)
        watch(page, requested, site.url)
        page.get_by_role("textbox").fill("What is this?")
        page.keyboard.press("Enter")
        expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
        expect(page.locator(".source .card-title")).to_contain_text("onerror")
        links = page.evaluate("[...document.querySelectorAll('main a')].map((link) => link.getAttribute('href'))")
        assert all(link.startswith(("http://", "https://")) for link in links)
        assert page.locator(FORBIDDEN).count() == 0
        assert page.evaluate("window.hacked") is None
    assert requested == []


def test_hostile_results_and_records_are_text(site: Site, requested: list[str]) -> None:
    results = [
        {"type": "motion", "id": f"m-{n}", "title": text, "snippet": text, "score": 1, "url": text, "matched": {}}
        for n, text in enumerate(HOSTILE)
    ]
    found = {
        "query": "x",
        "intent": "keyword",
        "results": results,
        "counts": {"motion": len(results)},
        "more": False,
        "degraded": HOSTILE[:3],
    }
    fields = {f"field_{n}": text for n, text in enumerate(HOSTILE)} | {"text_content": HOSTILE[1], "list": HOSTILE}
    meeting = {
        "id": "x",
        "body": HOSTILE[0],
        "title": HOSTILE[1],
        "date": "2024-01-01",
        "video_url": "javascript:window.hacked=1",
    }
    whole = {
        "type": "motion",
        "id": "x",
        "title": "x",
        "url": "javascript:window.hacked=1",
        "fields": fields,
        "meeting": meeting,
    }

    def prepare(page: Page) -> None:
        watch(page, requested, site.url)
        page.route("**/records/motion/*", answer_json(whole))
        page.route("**/records/search?*", answer_json(found))

    page = site.open("search?q=x", before=prepare)
    expect(page.locator(".result")).to_have_count(len(HOSTILE))
    page.locator(".result-open").first.click()
    panel = page.get_by_role("dialog")
    expect(panel).to_contain_text("Field 1")
    expect(panel).to_contain_text("Video")
    assert panel.get_by_role("link").count() == 0
    assert page.evaluate("window.hacked") is None
    assert page.locator(FORBIDDEN).count() == 0
    assert requested == []


def test_a_hostile_address_is_text(site: Site) -> None:
    page = site.open()
    for text in HOSTILE[:6]:
        page.goto(f"{site.url}/search?" + urlencode(dict.fromkeys(("q", "tab", "type", "from"), text)))
        expect(page.get_by_role("textbox")).to_be_visible()
        assert page.evaluate("window.hacked") is None
        assert page.locator(FORBIDDEN).count() == 0


def test_markdown_becomes_elements(site: Site) -> None:
    text = (
        "## Heading\n\nSome **bold**, *thin*, ~~gone~~ and `code` [link](https://example.org/a) [1][9].\n\n"
        "- one\n  1. inner\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx < y\n```\n\n---\n"
        "\n##### Deeper\n\n# Other\n"
    )
    page = site.open(before=lambda page: page.route("**/records/ask", answer_with(text)))
    page.get_by_role("textbox").fill("What is this?")
    page.keyboard.press("Enter")
    prose = page.locator(".prose")
    # under the question, which is the page's h1, no level is left out
    expect(prose.locator("h2")).to_have_text(["Heading", "Other"])
    expect(prose.locator("h3")).to_have_text("Deeper")
    for tag, inside in (
        ("strong", "bold"),
        ("em", "thin"),
        ("del", "gone"),
        ("blockquote", "quoted"),
        ("pre", "x < y"),
    ):
        expect(prose.locator(tag)).to_have_text(inside)
    expect(prose.locator("ol > li")).to_have_text("inner")
    expect(prose.locator("td")).to_have_text(["1", "2"])
    link = prose.get_by_role("link", name="link")
    expect(link).to_have_attribute("href", "https://example.org/a")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(prose.locator(".citation")).to_have_text(["1"])
    expect(prose.locator("p").first).to_contain_text("[9]")


def test_scripts_from_elsewhere_and_inline_scripts_are_refused(site: Site) -> None:
    page = site.open()
    policy = page.request.get(f"{site.url}/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    expect(page.get_by_role("textbox")).to_be_visible()
    broken: list[str] = page.evaluate("""() => new Promise((resolve) => {
        const found = [];
        document.addEventListener('securitypolicyviolation', (event) => found.push(event.effectiveDirective));
        const inline = document.createElement('script');
        try { inline.textContent = 'window.hacked = 1'; } catch (error) { found.push(error.name); }
        document.body.append(inline);
        document.body.append(Object.assign(new Image(), {src: 'https://evil.example/pixel.png'}));
        fetch('https://evil.example/').catch(() => {});
        try { document.body.innerHTML = '<p>'; } catch (error) { window.refused = error.name; }
        setTimeout(() => resolve(found), 1000);
    })""")
    assert {"img-src", "connect-src", "require-trusted-types-for"} <= set(broken)
    assert page.evaluate("window.refused") == "TypeError"
    assert page.evaluate("window.hacked") is None
    site.complaints.clear()
