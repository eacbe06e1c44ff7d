"""Meetings, which records are from, and what records of several types have in common."""

from __future__ import annotations

import datetime
from dataclasses import replace

from quarry.core.retrieval.facets import Facet, Related, SearchTable
from quarry.core.tables import Line, Names, Row, Text
from quarry.core.text import Identifier


class MeetingRow(Row):
    """A meeting. Every other record may name one, and takes its date where it has none."""

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


MEETING = Related("meeting", "meetings", "r.id = t.meeting_id")
MATTER = Related("matter", "matters", "r.id = t.matter_id")

BODY = Facet(
    "body", "name", "body", "body", "bodies", related="meeting",
    words=("committee", "council", "board", "commission"), leads=("by", "of", "in", "before", "at"), wording="of {}",
)  # fmt: skip
DATE = Facet("date", "date", "date", "date", "dates", words=("day", "meeting date"))
TOPIC = Facet(
    "matter", "title", "title", "matter", "matters", related="matter",
    words=("topic", "subject", "project"), leads=("about", "on", "regarding"), wording="about {}", is_hard=False,
)  # fmt: skip
SPEAKER = Facet(
    "speaker", "name", "speaker_name", "speaker", "speakers",
    leads=("by", "from", "of"), wording="by {}",
)  # fmt: skip
SPEAKER_ROLE = Facet(
    "speaker_role", "title", "speaker_role", "speaker's role", "speakers' roles",
    words=("role", "office", "position"), leads=("by", "from"), wording="by a {}", is_hard=False,
)  # fmt: skip

MEETINGS = SearchTable(
    "meetings",
    nouns=("meeting", "session", "sitting"),
    date="date",
    facets=(replace(BODY, column="body", related=None), DATE),
)
"""No kind of record, but something that is counted."""
