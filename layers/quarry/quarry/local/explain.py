"""`quarry explain`: how a question is read without a model: what its words may mean, and the likeliest queries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quarry.local.telling import note, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.query.contract import Explanation, ExplanationRequest

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase


async def explain(question: str, database: LocalDatabase, *, sources: Sequence[str], as_json: bool) -> None:
    """Read a question, and print how. Raises InvalidInput for a source that does not exist, and DatabaseUnavailable."""
    from quarry.agent.explanation import explain as explained
    from quarry.services.services import LOCAL_USER, Caller

    request = ExplanationRequest(question=question, sources=[*sources])
    async with database.services() as services:
        explanation = await explained(request, Caller(LOCAL_USER), services)
    if as_json:
        write_json(explanation.model_dump(mode="json", exclude_none=True))
    else:
        _show(explanation)


def _show(explanation: Explanation) -> None:
    console = make_console()
    words = ([printable(each.text), printable(each.means)] for each in explanation.words)
    write_table(console, ["words", "may mean"], words)
    console.print()
    queries = (
        [
            f"{each.probability:.3f}",
            f"{each.score:.2f}",
            "" if each.pair_score is None else f"{each.pair_score:.2f}",
            printable(json.dumps(each.query)),
        ]
        for each in explanation.queries
    )
    write_table(console, ["probability ", "score ", "pair score ", "query"], queries)
    console.print()
    console.print(f"{explanation.verdict}: right with a chance of {explanation.chance:.2f}")
    if explanation.unread:
        note(f"not read: {', '.join(map(printable, explanation.unread))}")
