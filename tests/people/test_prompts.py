"""What a model is shown about people, in blocks that the text cannot close, and what is taken from it."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from quarry.models.schemas import response_format
from quarry.people.contract import Constraints, EmploymentType, Intent, PeopleQuery, SeniorityLevel
from quarry.people.reasons import reasons_messages
from quarry.people.search import cleanup_messages, query_messages

TODAY = datetime.date(2026, 6, 1)
TEXT = st.text(st.sampled_from('</query>_originalcleaned people"\n{}ab'), max_size=60) | st.text(max_size=60)
EMPTY: dict[str, Any] = {"must": {}, "should": {}, "exclude": {}}


@given(TEXT, TEXT)
def test_what_a_query_and_people_say_is_data_in_blocks_that_it_cannot_close(query: str, wrote: str) -> None:
    people = [{"person_id": "a", "title": wrote}, {"person_id": "b", "title": wrote}]
    asked = [cleanup_messages(query), query_messages(query, TODAY), reasons_messages(query, people)]
    for messages in asked:
        assert [message.role for message in messages] == ["system", "user"]
        assert re.search(r"(?:^|\n)<query>\n[^<>]*\n</query>(?:\n|$)", messages[1].content)
    blocks = re.search(r"\n<people>\n([^<>]*)\n</people>$", asked[2][1].content)
    assert blocks is not None
    assert [json.loads(line)["person_id"] for line in blocks[1].split("\n")] == ["a", "b"]


def test_the_model_fills_what_clients_get_but_for_what_is_known_or_unused() -> None:
    schema = response_format("people_query", PeopleQuery)["json_schema"]["schema"]
    expected = Constraints().model_dump()
    known = {"query_original", "query_cleaned", "evidence", "search_phrases"}
    assert {*schema["required"]} == expected.keys() - known | {"quotes"}
    for part in ("must", "should", "exclude"):
        assert {*schema["properties"][part]["required"]} == expected[part].keys()
    must = schema["properties"]["must"]["properties"]
    for field, taxonomy in (
        ("seniority_level", SeniorityLevel),
        ("employment_type", EmploymentType),
        ("intent_primary", Intent),
    ):
        assert must[field]["items"]["enum"] == list(get_args(taxonomy))


def test_what_a_model_leaves_out_gives_as_null_or_outside_the_taxonomy_spoils_nothing() -> None:
    must = {"company_norm": None, "domain": "finance", "seniority_level": ["boss", None], "city": "pune", "new": 1}
    given = EMPTY | {"must": must, "query_embedding_text": None, "quotes": None, "confidence_score": None}
    query = PeopleQuery.model_validate_json(json.dumps(given))
    assert (query.must.company_norm, query.must.domain, query.must.seniority_level) == ([], ["finance"], ["boss"])
    assert (query.must.city, query.query_embedding_text, query.quotes) == ("pune", "", [])


@pytest.mark.parametrize(
    "given",
    [
        {},
        EMPTY | {"must": None},
        EMPTY | {"must": {"company_norm": [1]}},
        EMPTY | {"must": {"city": "a\x00b"}},
        EMPTY | {"must": {"offer_salary_inr_per_year": "a lot"}},
    ],
)
def test_what_is_no_reading_at_all_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PeopleQuery.model_validate(given)
