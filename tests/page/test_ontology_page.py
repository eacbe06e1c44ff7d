"""Projects on the page: results by type, filters, and the details of one entity next to the list."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from quarry.ontology.contract import EntityResult, OntologySearchResponse, Project, WholeEntity
from tests.page.conftest import Site, answer_json, body_of

ASKED = "search?domain=projects&q=fuel+sensor"
PROJECTS = {"tank": "Tank telemetry", "yard": "Yard works"}

RESULTS = [
    EntityResult(
        type=kind,  # type: ignore[arg-type]
        id=f"{kind}-{number}",
        project_id=project,
        project_name=PROJECTS[project],
        title=f"{kind.title()} {number} of the sensor",
        snippet="Fit the <mark>fuel sensor</mark> &lt;b&gt;first&lt;/b&gt;",
        score=1 / (number + 1),
    )
    for number, (kind, project) in enumerate(
        [("document", "tank"), ("task", "tank"), ("task", "yard"), ("requirement", "yard")]
    )
]
WHOLE = WholeEntity(
    type="document",
    id="document-0",
    project_id="tank",
    title="Document 0 of the sensor",
    props={
        "body_markdown": "## Wiring\n\nUse **shielded** cable.\n\n<img src=x onerror=alert(1)>",
        "doc_type": "spec",
        "tags": ["hardware", "safety"],
        "is_final": True,
        "limits": {"max_depth": 3, "unit": "metre"},
    },
    project=Project(id="tank", name="Tank telemetry"),
).model_dump(mode="json")


class Workspace:
    """Plays the service: filters by project and type, and reports `total` matches, or `more`."""

    def __init__(self, total: int | None = None, *, more: bool = False) -> None:
        self.total = total
        self.more = more or None
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, page: Page) -> None:
        page.route("**/ontology/search", self._search)
        page.route("**/ontology/document/document-0", answer_json(WHOLE))

    def _search(self, route: Route) -> None:
        body = body_of(route.request)
        self.bodies.append(body)
        found = [
            result
            for result in RESULTS
            if result.project_id == body.get("project_id", result.project_id)
            and result.type in body.get("types", [result.type])
        ]
        total = self.total if self.total is not None and "types" not in body else len(found)
        answer = OntologySearchResponse(results=found, total=total, message=f"{total} found", more=self.more)
        answer_json(answer.model_dump(mode="json"))(route)


def test_results_are_grouped_by_type_with_their_words_marked(site: Site) -> None:
    workspace = Workspace()
    page = site.open(ASKED, before=workspace)
    expect(page.locator(".entity-group .section-label")).to_have_text(
        ["Documents · 1", "Tasks · 2", "Requirements · 1"]
    )
    expect(page.locator(".result mark").first).to_have_text("fuel sensor")
    expect(page.locator(".result .card-text").first).to_have_text("Fit the fuel sensor <b>first</b>")
    page.get_by_role("button", name="Tasks 2").press("Enter")
    expect(page.locator(".result")).to_have_count(2)
    expect(page.get_by_role("button", name="Tasks 2")).to_be_focused()
    assert len(workspace.bodies) == 1
    page.get_by_role("button", name="Yard works").click()
    expect(page.locator(".result")).to_have_count(1)
    assert workspace.bodies[1:] == [{"query": "fuel sensor", "project_id": "yard"}]
    page.go_back()
    expect(page.locator(".result")).to_have_count(2)
    page.go_back()
    expect(page.locator(".result")).to_have_count(4)
    assert len(workspace.bodies) == 2


def test_a_result_opens_whole_and_its_address_opens_it_again(site: Site) -> None:
    page = site.open(ASKED, before=Workspace())
    page.locator(".result-open").first.press("Enter")
    panel = page.get_by_role("dialog", name="Document 0 of the sensor")
    expect(panel.get_by_role("heading", name="Wiring")).to_be_visible()
    expect(panel.locator(".prose")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(panel.locator("img")).to_have_count(0)
    expect(panel).to_contain_text("hardware")
    expect(panel).to_contain_text("Max depth")
    expect(page).to_have_url(re.compile("#document/document-0$"))
    page.reload()
    expect(panel.get_by_role("heading", name="Wiring")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page).not_to_have_url(re.compile("#"))


def test_an_answer_is_asked_for_once_and_stands_above_the_list(site: Site) -> None:
    asked: list[dict[str, Any]] = []

    def before(page: Page) -> None:
        Workspace()(page)
        told = {
            "response": "Fit the **fuel sensor** first.",
            "results": [RESULTS[0].model_dump(mode="json")],
            "total": 1,
        }

        def answer(route: Route) -> None:
            asked.append(body_of(route.request))
            answer_json(told | {"statements": [], "telemetry": {}})(route)

        page.route("**/ontology/ask", answer)

    page = site.open(ASKED, before=before)
    page.get_by_role("button", name="Answer this question").click()
    answered = page.get_by_role("region", name="Answer")
    expect(answered.locator(".prose strong")).to_have_text("fuel sensor")
    expect(answered.locator(".result")).to_have_count(1)
    page.reload()
    expect(answered).to_be_visible()
    assert asked == [{"question": "fuel sensor"}]
