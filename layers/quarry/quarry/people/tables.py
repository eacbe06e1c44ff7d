"""The tables of people: the fields of their files, the texts to embed, and what expires."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import Field, Strict, StringConstraints, ValidationInfo, field_validator

from quarry.platform.tables import EmbeddedTable, ExpiringTable, Forgettable, Line, LoadableTable, Names, Row, Text
from quarry.platform.text import Identifier, Storable

Intent = Literal[
    "work", "education", "project", "business", "research", "teaching",
    "community", "certification", "achievement", "career_break", "other",
]  # fmt: skip
EmploymentType = Literal["full_time", "part_time", "contract", "freelance", "internship", "self_employed", "volunteer"]
SeniorityLevel = Literal["intern", "entry", "mid", "senior", "lead", "manager", "director", "executive", "founder"]

Rupees = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False, strict=True)]
"""Indian rupees a year."""

ChildType = Literal[
    "responsibility", "achievement", "project", "skill", "tool", "metric", "collaboration", "learning"
]  # fmt: skip

Name = Annotated[str, StringConstraints(min_length=1, max_length=200), Storable]
"""An indexed text, whose length Postgres limits."""
IndexedNames = Annotated[list[Name], Field(max_length=200)]


class PersonRow(Row):
    """A person: profile, work preferences (the salary is INR a year), and contact details, which are shown only to those who
    have unlocked them.
    """

    id: Identifier
    name: Line | None = None
    headline: Line | None = None
    bio: Text | None = None
    city: Line | None = None
    country: Line | None = None
    open_to_work: bool = False
    open_to_contact: bool = False
    work_preferred_locations: IndexedNames = []
    work_preferred_salary_min: Annotated[Rupees, Strict(False)] | None = None
    email: Line | None = None
    phone: Line | None = None
    links: Names = []


class ExperienceCardRow(Row):
    """One experience of a person: a job, a degree, a project, … A card that is not visible, and
    its children, are never found or shown.
    """

    id: Identifier
    person_id: Identifier
    title: Line
    company_name: Name | None = None
    team: Name | None = None
    intent_primary: Intent
    intent_secondary: list[Intent] = []
    domain: Name | None = None
    sub_domain: Name | None = None
    employment_type: EmploymentType | None = None
    seniority_level: SeniorityLevel | None = None
    location: Line | None = None
    city: Name | None = None
    country: Name | None = None
    start_date: datetime.date | None = None
    end_date: datetime.date | None = None
    is_current: bool | None = None
    summary: Text | None = None
    skills: IndexedNames = []
    search_phrases: Names = []
    visible: bool = True

    @field_validator("end_date")
    @classmethod
    def _not_before_the_start(cls, end_date: datetime.date | None, info: ValidationInfo) -> datetime.date | None:
        start_date = info.data.get("start_date")
        if start_date and end_date and end_date < start_date:
            raise ValueError("must not be earlier than `start_date`")
        return end_date


class ExperienceCardChildRow(Row):
    """One aspect of an experience: an achievement, a project, a tool, …"""

    id: Identifier
    card_id: Identifier
    child_type: ChildType
    title: Line
    headline: Line | None = None
    summary: Text | None = None
    context: Text | None = None
    tags: Names = []
    search_phrases: Names = []


# in loading order: referenced tables come first
LOADABLE = (
    LoadableTable("people", PersonRow),
    LoadableTable("experience_cards", ExperienceCardRow, {"person_id": "people"}),
    LoadableTable("experience_card_children", ExperienceCardChildRow, {"card_id": "experience_cards"}),
)

EMBEDDED = (
    EmbeddedTable(
        "experience_cards",
        "experience_card_embeddings",
        ("title", "company_name", "team", "domain", "sub_domain", "location", "summary", "skills", "search_phrases"),
    ),
    EmbeddedTable(
        "experience_card_children",
        "experience_card_child_embeddings",
        ("title", "headline", "summary", "context", "tags", "search_phrases"),
    ),
)

EXPIRING = (ExpiringTable("people_searches", "people_searches", "expires_at <= now()"),)

# paid searches stay without the person; those that name the person are deleted
FORGETTABLE = (
    Forgettable(
        "person",
        "people",
        # a name of one word is many people's, and what is very short says nothing
        names="""select array(
              select lower(btrim(t.text)) from unnest(
                array[p.email, p.phone, case when btrim(p.name) like '%% %%' then p.name end]) t (text)
              where length(btrim(t.text)) >= 5) as texts
            from people p where p.id = %(id)s""",
        also=(
            """update idempotency_keys set response = jsonb_set(response::jsonb, '{people}', (
                 select coalesce(jsonb_agg(p.person order by p.place), '[]')
                 from jsonb_array_elements(response::jsonb -> 'people') with ordinality p (person, place)
                 where p.person ->> 'id' <> %(id)s))::text
               where endpoint = 'POST /people/search' and strpos(response, %(quoted)s) > 0""",
            "delete from idempotency_keys where endpoint = 'POST /people/search' and holds_any_text(response, %(texts)s)",
            """delete from people_searches
               where holds_any_text(query_text || parsed_constraints::text || filters::text, %(texts)s)""",
            """delete from search_runs
               where domain = 'people' and holds_any_text(concat_ws(' ', query, request::text, feedback_reason), %(texts)s)""",
            # what was booked stays booked; behind the search's id stands the person's
            """update credit_ledger set reference = 'forgotten/' || entry_number
               where reason = 'unlock' and substr(reference, 38) = %(id)s""",
        ),
    ),
)
