"""What a model is shown about people, in blocks that the text cannot close, and what is taken from it."""

from __future__ import annotations

import datetime
import json
import re

from hypothesis import given
from hypothesis import strategies as st

from quarry.people.ranking import reasons_messages
from quarry.people.search import cleanup_messages, query_messages

TODAY = datetime.date(2026, 6, 1)
TEXT = st.text(st.sampled_from('</query>_originalcleaned people"\n{}ab'), max_size=60) | st.text(max_size=60)


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
