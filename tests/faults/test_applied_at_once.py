"""Several `quarry apply` at once: each succeeds, and the searched rows are the rows of the table."""

from __future__ import annotations

from pathlib import Path

from tests.collections.support import HELP_DESK, TICKETS, owner
from tests.faults.commands import Nursery
from tests.people.factories import rows, value

MORE = """
insert into support.tickets (subject, body) select 'Parcel ' || i, 'The courier left it at depot ' || i
from generate_series(1, 1500) i
"""
AT_ONCE = 3

_DIFFERENCES = """
select t.id, r.id from support.tickets t full join quarry.rows_1 r on r.id = t.id::text
where r.id is null or t.id is null or not r.text_search @@ plainto_tsquery('english', t.subject)
"""


def test_applies_take_turns_and_end_with_rows_in_step(database_url: str, nursery: Nursery, tmp_path: Path) -> None:
    owner(database_url, HELP_DESK, MORE)
    path = tmp_path / "quarry.toml"
    # the second round changes what the first has made
    for text, action in (
        (TICKETS, "create"),
        (TICKETS.replace('price = { kind = "money", currency = "EUR" }\n', ""), "change"),
    ):
        path.write_text(text)
        started = [
            nursery.start("apply", path, "--no-embed", environment={"DATABASE_URL": database_url})
            for _ in range(AT_ONCE)
        ]
        assert [each.wait() for each in started] == [0] * AT_ONCE, [each.said() for each in started]
        actions = sorted(each.said().split("tickets (support.tickets)")[0].split()[-1] for each in started)
        assert actions == sorted([action, "keep", "keep"])
    assert value(database_url, "select count(*) from quarry.collections") == 1
    assert rows(database_url, _DIFFERENCES) == []
    assert rows(database_url, "select from quarry.collection_changes") == []
