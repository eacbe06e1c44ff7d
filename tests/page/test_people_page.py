"""People on the page: everybody, how a query was understood, who fits and why, how to find more, and contact details."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, Request, Route, expect

from quarry.people.constraints import constraints_of, understood_of
from quarry.people.contract import (
    Constraints,
    Contact,
    Exclude,
    ExperienceCard,
    GatedProfile,
    Must,
    PeopleSearchResponse,
    PersonResult,
    Relaxation,
    Should,
    UnlockResponse,
)
from quarry.platform.contract import Evidence
from quarry.query.contract import Understood
from tests.page.conftest import Site, answer_json, answer_problem, body_of, requests_to

QUERY = "Backend engineers at Paynest in Bengaluru since 2021, no agency"
ASKED = "search?" + urlencode({"domain": "people", "q": QUERY, "place": "Pune"})

CARD = ExperienceCard.model_validate(
    {
        "id": "c-1",
        "title": "Backend engineer",
        "company_name": "Paynest",
        "intent_primary": "work",
        "city": "Bengaluru",
        "start_date": "2021-04-01",
        "is_current": True,
        "summary": "Ran the ledger.",
        "skills": ["Go"],
        "children": [{"id": "k-1", "child_type": "project", "title": "Ledger", "summary": "Double entry, twice."}],
    }
)
WHO: dict[str, Any] = {
    "id": "p-1",
    "name": "Asha Rao",
    "headline": "Backend engineer in payments",
    "bio": "Likes ledgers that balance.",
    "open_to_work": True,
    "open_to_contact": True,
    "work_preferred_locations": ["Pune"],
    "work_preferred_salary_min": 3_000_000,
}
REASONS = ["Three years of payments at Paynest", "In Bengaluru since 2021"]
SAID = [
    ("must.company_norm", "paynest", "Paynest", "affirmed"),
    ("must.city", "bengaluru", "Bengaluru", "affirmed"),
    ("must.time", "since 2021", "since 2021", "affirmed"),
    ("exclude.keywords", "agency", "agency", "negated"),
]
READ = Constraints(
    query_original=QUERY,
    query_cleaned=f"tidied up: {QUERY}",
    must=Must(company_norm=["paynest"], city="bengaluru", time_start="2021-01-01"),
    should=Should(skills_or_tools=["Go"]),
    exclude=Exclude(keywords=["agency"]),
    evidence=[
        Evidence.model_validate(
            {"field": field, "value": value, "start": QUERY.index(said), "end": QUERY.index(said) + len(said)}
            | {"assertion": how}
        )
        for field, value, said, how in SAID
    ],
)
FOUND = PeopleSearchResponse(
    search_id="s-1",
    people=[PersonResult(**WHO, similarity_percent=82, why_matched=REASONS, matched_cards=[CARD])],
    understood=understood_of(READ),
    constraints=READ,
    fallback_tier=1,
    relaxations=[
        Relaxation(constraint="company_norm", label="Any company", additional_people=4),
        Relaxation(constraint="preferred_locations", label="Any preferred place", additional_people=2),
        Relaxation(constraint="is_current", label="Current or not", additional_people=0),
    ],
    degraded=["people_reasons"],
).model_dump(mode="json", by_alias=True)
FOUND["people"][0] |= {"meets": ["at Paynest", "in Bengaluru", "not agency"], "misses": ["since 2021"]}


def sent_as(body: dict[str, Any]) -> Constraints:
    """What the request asks for."""
    return constraints_of(Understood.model_validate(body["understood"]), QUERY)


def profile(contact: Contact | None = None) -> dict[str, Any]:
    return GatedProfile(
        **WHO,
        city="Bengaluru",
        country="India",
        cards=[CARD],
        search_id="s-1",
        why_matched=REASONS,
        contact_unlocked=contact is not None,
        contact=contact,
    ).model_dump(mode="json")


class Searches:
    """Plays the service's search: records the requests, and always gives the same answer."""

    def __init__(self, answer: dict[str, Any] = FOUND) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    def __call__(self, page: Page) -> None:
        requests_to(page, "/people/search$", self.requests)
        page.route("**/people/search", lambda route: answer_json(self.answer)(route))
        page.route("**/people/p-1?search_id=s-1", answer_json(profile()))

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body_of(request) for request in self.requests]

    @property
    def keys(self) -> list[str | None]:
        return [request.headers.get("idempotency-key") for request in self.requests]


def asked(page: Page) -> Page:
    """The page after its reader agreed to the cost of the search: a link alone spends nothing."""
    page.get_by_role("button", name="Search for one credit").click()
    return page


def state(page: Page) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(urlsplit(page.url).query).items()}


def test_everybody_can_be_browsed_without_a_credit(site: Site) -> None:
    page = site.open("search?domain=people")
    cards = page.get_by_role("region", name="Everybody").get_by_role("listitem")
    expect(cards).to_have_count(24)
    page.get_by_role("button", name="Show more").press("Enter")
    expect(cards.nth(24)).to_be_visible()
    expect(cards.nth(24).get_by_role("button")).to_be_focused()
    name = cards.nth(0).locator(".card-title").inner_text()
    cards.nth(0).get_by_role("button").press("Enter")
    expect(page.get_by_role("dialog", name=name).locator(".career-card").first).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("button", name="Show contact details")).to_have_count(0)


def test_a_search_shows_how_it_was_understood_and_why_each_person_was_found(site: Site) -> None:
    searches = Searches()
    page = asked(site.open(ASKED, before=searches))
    understood = page.get_by_role("region", name="How the query was understood")
    expect(understood.locator(".chip")).to_have_text(["at Paynest", "in Bengaluru", "since 2021", "with Go", "agency"])
    remarks = page.get_by_role("note")
    expect(remarks.nth(0)).to_contain_text("time was relaxed")
    expect(remarks.nth(1)).to_contain_text("the reasons")
    expect(understood.locator("mark")).to_have_text(["Paynest", "Bengaluru", "since 2021", "agency"])
    expect(page.locator("mark.is-negated")).to_have_text(["agency"])
    person = page.get_by_role("list", name="People").get_by_role("article")
    expect(person.get_by_role("list", name="Conditions").get_by_role("listitem")).to_have_text(
        ["Meets: at Paynest", "Meets: in Bengaluru", "Meets: not agency", "Misses: since 2021"]
    )
    expect(person.get_by_role("list", name="Why").get_by_role("listitem")).to_have_text(REASONS)
    expect(person).to_contain_text("Backend engineer, Paynest")
    expect(person).to_contain_text("Misses 1 condition")
    expect(person).not_to_contain_text("%")
    assert searches.bodies == [{"query": QUERY, "preferred_locations": ["Pune"]}]


def test_removing_a_condition_searches_by_the_others_and_back_charges_nothing(site: Site) -> None:
    searches = Searches()
    page = asked(site.open(ASKED, before=searches))
    understood = page.get_by_role("region", name="How the query was understood")
    expect(understood).to_contain_text("costs one credit")
    understood.get_by_role("button", name="Remove: in Bengaluru").press("Enter")
    expect(understood.get_by_role("button", name="Read the query again")).to_be_visible()
    expect(page.get_by_role("textbox", name="Describe")).to_have_value(QUERY)
    [read, edited] = searches.bodies
    assert read == {"query": QUERY, "preferred_locations": ["Pune"]}
    assert {name: edited[name] for name in read} == read
    left = sent_as(edited)
    assert (left.must.company_norm, left.must.time_start, left.must.city) == (["paynest"], "2021-01-01", None)
    assert (left.exclude.keywords, left.exclude.ever) == (["agency"], None)
    assert [each.field for each in left.evidence] == ["must.company_norm", "must.time", "exclude.keywords"]
    with page.expect_request("**/people/search"):
        understood.get_by_role("button", name="Read the query again").click()
    expect(understood.get_by_role("button", name="Read the query again")).to_have_count(0)
    assert searches.bodies[2] == read
    page.go_back()
    page.go_back()
    expect(page.get_by_role("article")).to_be_visible()
    assert len(searches.bodies) == 3
    assert len(set(searches.keys)) == 3


def test_a_condition_is_changed_and_restored_by_keyboard_on_a_small_phone(site: Site) -> None:
    searches = Searches()
    page = asked(site.open(ASKED, width=320, before=searches))
    understood = page.get_by_role("region", name="How the query was understood")
    company = understood.get_by_role("button", name="at Paynest", exact=True)
    company.press("Enter")
    editor = understood.get_by_role("group", name="Change: at Paynest")
    expect(editor).to_contain_text("costs one credit")
    expect(editor.get_by_role("button", name="Must")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.keyboard.press("Escape")
    expect(company).to_be_focused()
    company.press("Enter")
    with page.expect_request("**/people/search"):
        editor.get_by_role("button", name="Not").press("Enter")
    ruled_out = sent_as(searches.bodies[-1])
    assert (ruled_out.must.company_norm, ruled_out.must.city) == ([], "bengaluru")
    assert (ruled_out.exclude.keywords, ruled_out.exclude.company_norm) == (["agency"], ["paynest"])
    company.press("Enter")
    editor.get_by_label("Value").fill("Kite")
    with page.expect_request("**/people/search"):
        editor.get_by_label("Value").press("Enter")
    assert sent_as(searches.bodies[-1]).must.company_norm == ["Kite"]


def test_contact_costs_a_credit_and_the_balance_says_so(site: Site) -> None:
    page = asked(site.open(ASKED, before=Searches()))
    contact = Contact(
        email="asha@example.org", phone="+91 80 1234", links=["https://asha.example", "javascript:alert(1)"]
    )
    answer = UnlockResponse(charged=True, balance=0, contact=contact).model_dump(mode="json")
    page.get_by_role("article").get_by_role("button").press("Enter")
    panel = page.get_by_role("dialog", name="Asha Rao")
    expect(panel).to_contain_text("Double entry, twice.")
    page.route("**/unlock-contact", answer_problem(402, "This needs one credit; you have none."))
    panel.get_by_role("button", name="Show contact details").click()
    expect(panel.get_by_role("alert")).to_contain_text("Out of credits")
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "#" not in url)  # until then, going back would close what is opened next
    page.route("**/unlock-contact", answer_json(answer))
    page.get_by_role("article").get_by_role("button").press("Enter")
    panel.get_by_role("button", name="Show contact details").press("Enter")
    expect(panel.get_by_role("link", name="asha@example.org")).to_have_attribute("href", "mailto:asha@example.org")
    expect(panel.get_by_role("link", name="asha.example", exact=True)).to_be_visible()
    expect(panel.get_by_role("link")).to_have_count(3)
    page.keyboard.press("Escape")
    expect(page.locator(".balance")).to_have_text("0 credits")


def test_a_search_opened_in_a_new_tab_spends_nothing_until_the_reader_agrees(site: Site) -> None:
    searches = Searches()
    page = site.open(ASKED, before=searches)
    expect(page.get_by_role("heading", name="This link is a search for people")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="This link is a search for people")).to_be_visible()
    assert searches.keys == []
    asked(page)
    expect(page.get_by_role("article")).to_be_visible()
    page.reload()
    expect(page.get_by_role("article")).to_be_visible()
    assert len(searches.keys) == 1


def test_a_shared_link_shows_what_was_found_and_to_others_offers_to_search(site: Site) -> None:
    searches = Searches()
    page = asked(site.open(ASKED, before=searches))
    expect(page.get_by_role("article")).to_be_visible()
    link, [key] = page.url, searches.keys
    assert key is not None
    assert state(page)["search"] == key
    kept: list[Route] = []

    def share(answer: Callable[[Route], None]) -> Callable[[Page], None]:
        def told(route: Route) -> None:
            kept.append(route)
            answer(route)

        def prepare(page: Page) -> None:
            searches(page)
            page.route("**/people/search?only_kept=true", told)

        return prepare

    path = link.removeprefix(f"{site.url}/")
    own = site.open(path, before=share(answer_json(FOUND)))
    expect(own.get_by_role("article")).to_be_visible()
    other = site.open(path, before=share(answer_problem(404)))
    expect(other.get_by_role("heading", name="This search was shared with you")).to_be_visible()
    assert [route.request.headers["idempotency-key"] for route in kept] == [key, key]
    assert len(searches.keys) == 1
    other.get_by_role("button", name="Search for one credit").click()
    expect(other.get_by_role("article")).to_be_visible()
    assert searches.keys[1] not in (None, key)
    assert state(other)["search"] == searches.keys[1]


def test_an_empty_balance_and_an_empty_result_are_shown(site: Site) -> None:
    refusing = answer_problem(402, "A search costs one credit; you have none.")
    page = asked(site.open(ASKED, before=lambda page: page.route("**/people/search", refusing)))
    expect(page.get_by_role("alert")).to_contain_text("Out of credits")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.unroute("**/people/search")
    Searches(FOUND | {"people": []})(page)
    page.reload()
    expect(page.get_by_role("heading", name="Nobody fits")).to_be_visible()
