"""The answer to a search of people, in the terminal."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from quarry.local.people_view import PeopleView
from quarry.people.contract import PeopleSearchResponse

ASHA: dict[str, Any] = {
    "id": "p1", "name": "Asha Verma", "headline": "Builds payments", "bio": None, "similarity_percent": 82,
    "why_matched": ["Go at Kestrel Labs"], "open_to_work": True, "open_to_contact": False, "work_preferred_locations": [],
    "work_preferred_salary_min": None, "meets": ["at Kestrel Labs"], "misses": ["in Pune\x1b[2J"],
    "matched_cards": [
        {"id": "c1", "title": "Backend engineer", "company_name": "Kestrel\x1b[2J Labs", "city": "Pune",
         "intent_primary": "work", "start_date": "2019-04-01", "is_current": True},
    ],
}  # fmt: skip
RESPONSE: dict[str, Any] = {
    "search_id": "s-1", "people": [ASHA], "fallback_tier": 2, "degraded": ["people_reasons"],
    "constraints": {
        "query_original": "q", "query_cleaned": "q", "must": {"company_norm": ["kestrel labs"], "city": "pune"},
        "should": {"skills_or_tools": ["go", "kafka"]}, "exclude": {"company_norm": ["lumen grid"]},
    },
    "relaxations": [{"constraint": "location", "label": "Anywhere, not only Pune", "additional_people": 1200}],
}  # fmt: skip


def test_an_answer_is_shown_with_its_reading_people_relaxations_and_what_it_cost() -> None:
    file = io.StringIO()
    view = PeopleView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    view.show(PeopleSearchResponse.model_validate(RESPONSE))
    assert [line.rstrip() for line in file.getvalue().splitlines() if line.strip()] == [
        "must   company: kestrel labs; city: pune",
        "should skills or tools: go, kafka",
        "not    company: lumen grid",
        "Too few people fit exactly: location relaxed.",
        "1. Asha Verma",
        "   Builds payments",
        "   ✓ at Kestrel Labs  ✗ in Pune[2J",
        "   • Go at Kestrel Labs",
        "   Backend engineer, Kestrel[2J Labs, Pune, 2019 to now",
        "With one constraint less",
        "• Anywhere, not only Pune: 1,200 more",
        "Degraded: people_reasons",
        "search s-1, which cost a credit",
    ]
