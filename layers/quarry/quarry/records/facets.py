"""What each type of civic record can be filtered, counted and grouped by. The body is that of the meeting a record is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from quarry.core.retrieval.facets import Facet, Related, SearchTable
from quarry.records.contract import RecordType

_MEETING = Related("meeting", "meetings", "r.id = t.meeting_id")
_MATTER = Related("matter", "matters", "r.id = t.matter_id")

_BODY = Facet(
    "body", "name", "body", "body", "bodies", related="meeting",
    words=("committee", "council", "board", "commission"), leads=("by", "of", "in", "before", "at"), wording="of {}",
)  # fmt: skip
_DATE = Facet("date", "date", "date", "date", "dates", words=("day", "meeting date"))
_TOPIC = Facet(
    "matter", "title", "title", "matter", "matters", related="matter",
    words=("topic", "subject", "project"), leads=("about", "on", "regarding"), wording="about {}", is_hard=False,
)  # fmt: skip
_SPEAKER = Facet(
    "speaker", "name", "speaker_name", "speaker", "speakers",
    leads=("by", "from", "of"), wording="by {}",
)  # fmt: skip
_SPEAKER_ROLE = Facet(
    "speaker_role", "title", "speaker_role", "speaker's role", "speakers' roles",
    words=("role", "office", "position"), leads=("by", "from"), wording="by a {}", is_hard=False,
)  # fmt: skip

_OUTCOME = (
    r"substring(t.result from "
    r"'(?i)^(?:(?:the|this|motion|item|resolution|amendment|bill|vote|was|is|were) +)*([[:alpha:]]+)')"
)
"""The word for how it went: "Carried" of "Carried 7–2", "failed" of "Motion failed (3 to 12)"."""
_OUTCOMES = (
    ("passed", "carried"), ("pass", "carried"), ("carried", "passed"), ("adopted", "carried"), ("approved", "carried"),
    ("failed", "defeated"), ("fail", "defeated"), ("defeated", "failed"), ("rejected", "defeated"),
)  # fmt: skip
_OUTCOME_WORDS = tuple(dict.fromkeys(word for word, _ in _OUTCOMES))
_TALLY = (
    r"array_remove(array[substring(t.result from '\d+ ?(?:to|[-–:]) ?\d+'), "
    r"regexp_replace(substring(t.result from '\d+ ?(?:to|[-–:]) ?\d+'), ' ?(?:to|[-–:]) ?', ' to ')], null)"
)
"""The votes for and against, as they are written and as they are said."""

MOTIONS = SearchTable(
    "motions",
    nouns=("motion", "decision"),
    date="date",
    related=(_MEETING, _MATTER),
    facets=(
        Facet(
            "result", "value", _OUTCOME, "result", "results",
            words=("outcome", "decision"), synonyms=_OUTCOMES, wording="with the result {}",
        ),
        Facet("tally", "array", _TALLY, "tally", "tallies",
              words=("count of votes",), leads=(*_OUTCOME_WORDS, "by", "vote of", "vote was", "votes of"), wording="by {}"),
        Facet("mover", "name", "mover", "mover", "movers",
              words=("moved", "proposer", "proposed"), leads=("moved by", "proposed by"), wording="moved by {}"),
        Facet("seconder", "name", "seconder", "seconder", "seconders",
              words=("seconded",), leads=("seconded by",), wording="seconded by {}"),
        Facet("votes_for", "array", "votes_for", "vote in favour", "votes in favour",
              words=("voted for", "in favour", "in favor", "ayes", "yes votes"), leads=("supported by", "backed by"),
              wording="with {} in favour"),
        Facet("votes_against", "array", "votes_against", "vote against", "votes against",
              words=("voted against", "opposed", "nays", "no votes"), leads=("opposed by",), wording="with {} against"),
        Facet("abstained", "array", "abstained", "abstention", "abstentions",
              words=("abstained", "abstaining"), wording="with {} abstaining"),
        _BODY, _DATE, _TOPIC,
    ),
)  # fmt: skip

AGENDA_ITEMS = SearchTable(
    "agenda_items",
    nouns=("agenda item", "item"),
    date="date",
    related=(_MEETING, _MATTER),
    facets=(
        Facet("category", "value", "category", "category", "categories",
              words=("kind", "type"), wording="in the category {}", is_hard=False),
        _BODY, _DATE, _TOPIC,
    ),
)  # fmt: skip

MATTERS = SearchTable(
    "matters",
    nouns=("matter",),
    date="date",
    related=(_MEETING,),
    facets=(
        Facet("title", "title", "title", "title", "titles", leads=("called", "named"), is_hard=False),
        Facet("type", "value", "matter_type", "type", "types",
              words=("kind", "sort"), wording="of the type {}", is_hard=False),
        Facet("status", "value", "status", "status", "statuses",
              words=("outcome", "result"), wording="with the status {}"),
        Facet("sponsor", "array", "sponsors", "sponsor", "sponsors",
              words=("sponsored", "author"), leads=("sponsored by", "introduced by", "by"), wording="sponsored by {}"),
        Facet("introduced_on", "date", "introduced_on", "introduction", "introductions",
              words=("introduced", "filed", "submitted"), wording="introduced {}"),
        Facet("decided_on", "date", "decided_on", "decision", "decisions",
              words=("decided",), wording="decided {}"),
        _BODY, _DATE,
    ),
)  # fmt: skip

DOCUMENT_SECTIONS = SearchTable(
    "document_sections",
    nouns=("document section", "section"),
    date="date",
    related=(_MEETING, _MATTER),
    facets=(
        Facet("document", "title", "document_title", "document", "documents",
              words=("title", "report"), wording="from {}", is_hard=False),
        Facet("document_type", "value", "document_type", "document type", "document types",
              words=("kind", "type"), wording="of the type {}", is_hard=False),
        _BODY, _DATE, _TOPIC,
    ),
)  # fmt: skip

KEY_STATEMENTS = SearchTable(
    "key_statements",
    nouns=("statement", "quote"),
    date="date",
    related=(_MEETING,),
    facets=(
        _SPEAKER, _SPEAKER_ROLE,
        Facet("stance", "value", "stance", "stance", "stances",
              words=("position", "opinion", "view"), wording="with the stance {}", is_hard=False),
        _BODY, _DATE,
    ),
)  # fmt: skip

TRANSCRIPT_SEGMENTS = SearchTable(
    "transcript_segments",
    nouns=("transcript segment", "segment", "speech"),
    date="date",
    related=(_MEETING,),
    facets=(_SPEAKER, _SPEAKER_ROLE, _BODY, _DATE),
)

VOTERS = frozenset(("mover", "seconder", "votes_for", "votes_against", "abstained"))
"""The facets of motions that name people."""

PEOPLE_FACETS = VOTERS | {"speaker", "sponsor"}

SAID_FACETS = frozenset(("speaker_role", "category", "stance", "type", "document_type", "status"))
"""Facets whose values, said whole, are meant as such where records are counted, though elsewhere they are words like others."""

KIND_FACETS: Mapping[RecordType, str] = {"matter": "type", "document_section": "document_type"}
"""The facets that say what kind of thing a record of the type is, as its noun does."""

SEARCHED_BY_TYPE: Mapping[RecordType, SearchTable] = {
    "motion": MOTIONS,
    "agenda_item": AGENDA_ITEMS,
    "matter": MATTERS,
    "document_section": DOCUMENT_SECTIONS,
    "key_statement": KEY_STATEMENTS,
    "transcript_segment": TRANSCRIPT_SEGMENTS,
}

MEETINGS = SearchTable(
    "meetings",
    nouns=("meeting", "session", "sitting"),
    date="date",
    facets=(replace(_BODY, column="body", related=None), _DATE),
)
"""No kind of record, but something that is counted."""

SEARCHED = tuple(SEARCHED_BY_TYPE.values())

RECORDS = SearchTable(
    "records",
    nouns=tuple(dict.fromkeys(noun for table in (*SEARCHED, MEETINGS) for noun in table.nouns)),
    facets=tuple({facet.name: facet for table in SEARCHED for facet in table.facets}.values()),
    date="date",
    related=(_MEETING, _MATTER),
    united=SEARCHED,
)
"""All types together, as a question is read that names none of them."""
