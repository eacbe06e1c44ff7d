"""What is known of an answer by the query that was read, and what is doubted without one."""

from __future__ import annotations

from quarry.records.by_reader import doubted
from quarry.records.candidates import RecordText
from quarry.records.evidence import EvidenceSource
from quarry.records.facts import Facts


def source(body: str) -> EvidenceSource:
    text = RecordText("boats", "1", "Tern", body, None, None, None, None, None, "")
    return EvidenceSource(1, text, 0.8, 1.0)


def test_rows_of_values_are_in_doubt_where_no_query_was_read_for_sure() -> None:
    row = source("Tern\nharbour: Oslo\nbuilt: 1998")
    assert "“moored” was not understood" in doubted(Facts(), [row], ["moored"]).doubt
    prose = source("Tern\nShe was laid up in Oslo for two winters because nobody could pay for the repair of her hull.")
    assert not doubted(Facts(), [row, prose], ["moored"]).doubt
