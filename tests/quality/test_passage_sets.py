"""Which passages lead the answers about collections that were not made like the sample, without a model.

The floors lie a little below what was measured when they were set.
"""

from __future__ import annotations

import pytest

from tests.quality.passage_sets import asked, shares


@pytest.mark.parametrize(("name", "floor"), [("club", 0.5), ("clinic", 0.6)])
def test_the_right_passage_leads(server_url: str, migrated_template: str, name: str, floor: float) -> None:
    found = asked(server_url, migrated_template, name)
    right = sum(each.leads for each in found)
    wrong = [(each.kind, each.question, each.answer[:200]) for each in found if not each.leads]
    assert right >= floor * len(found), (shares(found), wrong)
