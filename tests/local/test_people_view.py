"""The answer to a search of people, in the terminal."""

from __future__ import annotations

import datetime
import io

from rich.console import Console

from quarry.local.people_view import PeopleView
from quarry.people.contract import (
    Constraints,
    Exclude,
    ExperienceCard,
    Must,
    PeopleSearchResponse,
    PersonResult,
    Relaxation,
    Should,
)

CARD = ExperienceCard(
    id="c1",
    title="Backend engineer",
    company_name="Kestrel\x1b[2J Labs",
    city="Pune",
    intent_primary="work",
    start_date=datetime.date(2019, 4, 1),
    is_current=True,
)
ASHA = PersonResult(
    id="p1",
    name="Asha Verma",
    headline="Builds payments",
    bio=None,
    similarity_percent=82,
    why_matched=["Go at Kestrel Labs", "Open to work"],
    open_to_work=True,
    open_to_contact=False,
    work_preferred_locations=[],
    work_preferred_salary_min=None,
    matched_cards=[CARD],
    meets=["at Kestrel Labs"],
    misses=["in Pune\x1b[2J"],
)
RESPONSE = PeopleSearchResponse(
    search_id="s-1",
    people=[
        ASHA,
        ASHA.model_copy(update={"name": None, "headline": None, "similarity_percent": None, "matched_cards": []}),
    ],
    constraints=Constraints(
        query_original="q",
        query_cleaned="q",
        must=Must(company_norm=["kestrel labs"], city="pune", is_current=True),
        should=Should(skills_or_tools=["go", "kafka"]),
        exclude=Exclude(company_norm=["lumen grid"]),
    ),
    fallback_tier=2,
    relaxations=[Relaxation(constraint="location", label="Anywhere, not only Pune", additional_people=1200)],
    degraded=["people_reasons"],
)


def shown(response: PeopleSearchResponse) -> str:
    file = io.StringIO()
    PeopleView(Console(file=file, width=200, highlight=False, markup=False, emoji=False)).show(response)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_an_answer_is_shown_with_its_reading_people_relaxations_and_what_it_cost() -> None:
    assert (
        shown(RESPONSE)
        == """\
must   company: kestrel labs; city: pune; is current: yes
should skills or tools: go, kafka
not    company: lumen grid

Too few people fit exactly: location relaxed.

1. Asha Verma
   Builds payments
   ✓ at Kestrel Labs  ✗ in Pune[2J
   • Go at Kestrel Labs
   • Open to work
   Backend engineer, Kestrel[2J Labs, Pune, 2019 to now

2. p1
   ✓ at Kestrel Labs  ✗ in Pune[2J
   • Go at Kestrel Labs
   • Open to work

With one constraint less
• Anywhere, not only Pune: 1,200 more

Degraded: people_reasons
search s-1, which cost a credit"""
    )


def test_an_answer_with_nobody_says_so() -> None:
    nobody = RESPONSE.model_copy(update={"people": [], "relaxations": [], "degraded": []})
    assert "Nobody was found." in shown(nobody)
    assert "Too few" not in shown(nobody)
