"""The tables of a city's records that files can be loaded into, ordered so that referenced tables come first."""

from __future__ import annotations

from quarry.civic import rows
from quarry.platform.tables import LoadableTable, Row

_REFERENCES = {"meeting_id": "meetings", "matter_id": "matters", "agenda_item_id": "agenda_items"}


def _record(name: str, row: type[Row]) -> LoadableTable:
    references = {column: table for column, table in _REFERENCES.items() if column in row.model_fields}
    return LoadableTable(name, row, references, {"date": ("meeting_id", "meetings", "date")})


LOADABLE = (
    LoadableTable("meetings", rows.MeetingRow),
    _record("matters", rows.MatterRow),
    _record("agenda_items", rows.AgendaItemRow),
    _record("motions", rows.MotionRow),
    _record("document_sections", rows.DocumentSectionRow),
    _record("key_statements", rows.KeyStatementRow),
    _record("transcript_segments", rows.TranscriptSegmentRow),
)
