"""The types of civic record: of each, all that is its own. What else there is of it follows: how it is loaded, embedded, read,
searched, counted, cited, and told to a model.

The order of `TYPES` is that in which types are given; that of `_REFERENCES` the one in which they must be loaded.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString, Self

from pydantic import Field, model_validator

from quarry.core.retrieval.facets import Facet, SearchTable
from quarry.core.tables import Line, Names, Row, Text
from quarry.core.text import Identifier
from quarry.records.meetings import BODY, DATE, MATTER, MEETING, SPEAKER, SPEAKER_ROLE, TOPIC

RecordType = str
"""The name of a type of record: of those below, or of a collection."""


class MatterRow(Row):
    """A matter: an ordinance, contract, project or application that meetings return to. Without a date, it has that of its
    introduction.
    """

    id: Identifier
    title: Line
    matter_type: Line | None = None
    status: Line | None = None
    summary: Text | None = None
    sponsors: Names = []
    introduced_on: datetime.date | None = None
    decided_on: datetime.date | None = None
    meeting_id: Identifier | None = None
    date: datetime.date | None = None
    url: Line | None = None

    @model_validator(mode="after")
    def _date_from_introduction(self) -> Self:
        self.date = self.date or self.introduced_on
        return self


class AgendaItemRow(Row):
    """An item of a meeting's agenda."""

    id: Identifier
    meeting_id: Identifier | None = None
    matter_id: Identifier | None = None
    item_number: Line | None = None
    title: Line
    description: Text | None = None
    category: Line | None = None
    date: datetime.date | None = None
    url: Line | None = None


class MotionRow(Row):
    """A motion and how the vote on it went."""

    id: Identifier
    meeting_id: Identifier | None = None
    agenda_item_id: Identifier | None = None
    matter_id: Identifier | None = None
    text_content: Text
    plain_english_summary: Text | None = None
    result: Line | None = None
    mover: Line | None = None
    seconder: Line | None = None
    votes_for: Names = []
    votes_against: Names = []
    abstained: Names = []
    date: datetime.date | None = None
    url: Line | None = None


class DocumentSectionRow(Row):
    """A section of a report, plan, agreement or memo."""

    id: Identifier
    meeting_id: Identifier | None = None
    matter_id: Identifier | None = None
    document_title: Line
    document_type: Line | None = None
    section_number: int | None = Field(default=None, ge=0, le=2_000_000_000)
    heading: Line | None = None
    body: Text
    date: datetime.date | None = None
    url: Line | None = None


class KeyStatementRow(Row):
    """A statement worth quoting, who made it, and what it answered."""

    id: Identifier
    meeting_id: Identifier | None = None
    agenda_item_id: Identifier | None = None
    speaker_name: Line
    speaker_role: Line | None = None
    statement_text: Text
    context: Text | None = None
    stance: Line | None = None
    date: datetime.date | None = None
    url: Line | None = None


class TranscriptSegmentRow(Row):
    """A stretch of a meeting's transcript; seconds count from the start of the recording."""

    id: Identifier
    meeting_id: Identifier | None = None
    agenda_item_id: Identifier | None = None
    speaker_name: Line | None = None
    speaker_role: Line | None = None
    text_content: Text
    start_seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    end_seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    date: datetime.date | None = None
    url: Line | None = None


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

_MOTIONS = SearchTable(
    "motions",
    nouns=("motion", "decision"),
    date="date",
    related=(MEETING, MATTER),
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
        BODY, DATE, TOPIC,
    ),
)  # fmt: skip

_AGENDA_ITEMS = SearchTable(
    "agenda_items",
    nouns=("agenda item", "item"),
    date="date",
    related=(MEETING, MATTER),
    facets=(
        Facet("category", "value", "category", "category", "categories",
              words=("kind", "type"), wording="in the category {}", is_hard=False),
        BODY, DATE, TOPIC,
    ),
)  # fmt: skip

_MATTERS = SearchTable(
    "matters",
    nouns=("matter",),
    date="date",
    related=(MEETING,),
    facets=(
        Facet("title", "title", "title", "title", "titles", leads=("called", "named"), is_hard=False),
        Facet("matter_type", "value", "matter_type", "type", "types",
              words=("kind", "sort"), wording="of the type {}", is_hard=False),
        Facet("status", "value", "status", "status", "statuses",
              words=("outcome", "result"), wording="with the status {}"),
        Facet("sponsor", "array", "sponsors", "sponsor", "sponsors",
              words=("sponsored", "author"), leads=("sponsored by", "introduced by", "by"), wording="sponsored by {}"),
        Facet("introduced_on", "date", "introduced_on", "introduction", "introductions",
              words=("introduced", "filed", "submitted"), wording="introduced {}"),
        Facet("decided_on", "date", "decided_on", "decision", "decisions",
              words=("decided",), wording="decided {}"),
        BODY, DATE,
    ),
)  # fmt: skip

_DOCUMENT_SECTIONS = SearchTable(
    "document_sections",
    nouns=("document section", "section"),
    date="date",
    related=(MEETING, MATTER),
    facets=(
        Facet("document", "title", "document_title", "document", "documents",
              words=("title", "report"), wording="from {}", is_hard=False),
        Facet("document_type", "value", "document_type", "document type", "document types",
              words=("kind", "type"), wording="of the type {}", is_hard=False),
        BODY, DATE, TOPIC,
    ),
)  # fmt: skip

_KEY_STATEMENTS = SearchTable(
    "key_statements",
    nouns=("statement", "quote"),
    date="date",
    related=(MEETING,),
    facets=(
        SPEAKER, SPEAKER_ROLE,
        Facet("stance", "value", "stance", "stance", "stances",
              words=("position", "opinion", "view"), wording="with the stance {}", is_hard=False),
        BODY, DATE,
    ),
)  # fmt: skip

_TRANSCRIPT_SEGMENTS = SearchTable(
    "transcript_segments",
    nouns=("transcript segment", "segment", "speech"),
    date="date",
    related=(MEETING,),
    facets=(SPEAKER, SPEAKER_ROLE, BODY, DATE),
)


@dataclass(frozen=True)
class Declared:
    """A type of record. `row` is what its files may hold, `table` what it can be filtered, counted and grouped by, `embedded` the
    columns whose texts have vectors, `told` what a model is told that it holds.

    `titles`, the first of them, stand before each window of a long text.

    `title` and `body` are what a reader sees of it, `topic` what it belongs to, `speaker` who said it, as SQL over its row `r`
    and, where it has such, its matter `t` and its agenda item `a`.
    """

    row: type[Row]
    table: SearchTable
    told: str
    title: LiteralString
    body: LiteralString
    embedded: tuple[str, ...]
    titles: tuple[str, ...] = ()
    topic: LiteralString = "coalesce(t.title, a.title)"
    speaker: LiteralString = "null"


_SPEAKER_TITLE = " || coalesce(', ' || r.speaker_role, '')"

TYPES: Mapping[RecordType, Declared] = {
    "motion": Declared(
        MotionRow, _MOTIONS, "motions: the formal text, the result, who moved and who voted against",
        title="coalesce(r.plain_english_summary, left(r.text_content, 160))",
        body="""joined_text(r.plain_english_summary,
    'Result: ' || r.result
      || case when cardinality(r.votes_against) > 0 then '. Against: ' || joined_names(r.votes_against) else '' end
      || case when cardinality(r.abstained) > 0 then '. Abstained: ' || joined_names(r.abstained) else '' end || '.',
    r.text_content, 'Moved by ' || r.mover || coalesce(', seconded by ' || r.seconder, '') || '.',
    case when cardinality(r.votes_for) > 0 then 'For: ' || joined_names(r.votes_for) || '.' end)""",
        embedded=("plain_english_summary", "text_content"),
    ),
    "agenda_item": Declared(
        AgendaItemRow, _AGENDA_ITEMS, "agenda items: what a meeting had before it",
        title="r.title", body="coalesce(r.description, r.title)", topic="coalesce(t.title, r.title)",
        embedded=("title", "description"), titles=("title",),
    ),
    "matter": Declared(
        MatterRow, _MATTERS, "matters: ordinances, contracts and projects with their whole story and status",
        title="r.title", body="joined_text(r.summary, 'Status: ' || r.status || '.')", topic="r.title",
        embedded=("title", "summary"), titles=("title",),
    ),
    "document_section": Declared(
        DocumentSectionRow, _DOCUMENT_SECTIONS, "sections of staff reports, studies, plans and agreements: reasons and figures",
        title="r.document_title || coalesce(': ' || r.heading, '')", body="r.body", topic="coalesce(t.title, r.document_title)",
        embedded=("document_title", "heading", "body"), titles=("document_title", "heading"),
    ),
    "key_statement": Declared(
        KeyStatementRow, _KEY_STATEMENTS, "statements of councillors, staff and residents worth quoting",
        title="r.speaker_name" + _SPEAKER_TITLE,
        body=r"joined_text(regexp_replace(r.statement_text, '\s*\n\s*', ' ', 'g'), r.context)", speaker="r.speaker_name",
        embedded=("statement_text", "context"),
    ),
    "transcript_segment": Declared(
        TranscriptSegmentRow, _TRANSCRIPT_SEGMENTS, "transcripts: what was said word for word",
        title="coalesce(r.speaker_name, 'Unnamed speaker')" + _SPEAKER_TITLE, body="r.text_content", speaker="r.speaker_name",
        embedded=("text_content",),
    ),
}  # fmt: skip
