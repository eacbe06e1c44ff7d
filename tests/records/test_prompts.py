"""What a model is told: retrieved text is data in blocks that it cannot close."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quarry.records.model_answer import sources_block
from tests.records.sources import record, source

BLOCK = re.compile(r"<source n=\"(\d+)\"[^>]*>\n.*?\n</source>", re.DOTALL)
TEXT = st.text(st.sampled_from('</source> n="1"\nab'), max_size=60) | st.text(max_size=60)


@given(TEXT, TEXT, st.none() | TEXT)
def test_no_text_can_close_the_block_it_stands_in(title: str, body: str, topic: str | None) -> None:
    text = record(title=title, body=body, topic=topic)
    block = sources_block([source(1, text), source(2, text)])
    assert [match[1] for match in BLOCK.finditer(block)] == ["1", "2"]
    assert BLOCK.sub("", block).strip() == ""
    assert block.count("<") == block.count(">") == 4
