"""The tables of a city's records: which can be loaded (referenced ones come first), which have vectors, what expires."""

from __future__ import annotations

import datetime
from typing import Self

from pydantic import Field, model_validator

from quarry.collections.facets import embedded_table, own_tables
from quarry.platform.tables import ExpiringTable, Forgettable, Line, LoadableTable, Names, Row, Text
from quarry.platform.text import Identifier


class MeetingRow(Row):
    """A meeting. Other records may belong to one; without a date of their own, they take its date."""

    id: Identifier
    body: Line
    title: Line
    date: datetime.date
    started_at: Line | None = None
    location: Line | None = None
    attendees: Names = []
    summary: Text | None = None
    video_url: Line | None = None
    minutes_url: Line | None = None


class MatterRow(Row):
    """A matter: an ordinance, contract, project or application that several meetings discuss. Its default date is that of its
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
    """A motion and its vote."""

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
    """A statement worth quoting, who made it, and what it replied to."""

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
    """A segment of a meeting's transcript. Seconds count from the start of the recording."""

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


_REFERENCES = {"meeting_id": "meetings", "matter_id": "matters", "agenda_item_id": "agenda_items"}


def _record(name: str, row: type[Row]) -> LoadableTable:
    references = {column: table for column, table in _REFERENCES.items() if column in row.model_fields}
    return LoadableTable(name, row, references, {"date": ("meeting_id", "meetings", "date")})


LOADABLE = (
    LoadableTable("meetings", MeetingRow),
    _record("matters", MatterRow),
    _record("agenda_items", AgendaItemRow),
    _record("motions", MotionRow),
    _record("document_sections", DocumentSectionRow),
    _record("key_statements", KeyStatementRow),
    _record("transcript_segments", TranscriptSegmentRow),
)

COLLECTIONS = own_tables(__file__, LOADABLE)

DECLARED_IN = ("collections",)
"""The table that says what other records there are to search."""

NAMES = frozenset(each.name for each in COLLECTIONS)

EMBEDDED = tuple(embedded_table(each) for each in COLLECTIONS if each.declaration.embedded)

EXPIRING = (ExpiringTable("answer_cache", "answers", "expires_at < now()"),)

_OF_ITS_PARTS = (
    "delete from answer_cache where sources @> jsonb_build_array(jsonb_build_object('meeting_id', %(id)s::text))",
)
"""What other records are part of goes out with these as `meeting_id`."""

FORGETTABLE = tuple(
    Forgettable(each.name, each.rows, also=() if each.declaration.text else _OF_ITS_PARTS) for each in COLLECTIONS
)
