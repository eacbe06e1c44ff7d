"""`quarry explain`: how a question is read without a model: what its words may mean, and the likeliest queries."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from quarry.local.telling import note, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.reader.candidates import Candidate
from quarry.reader.names import FieldName, SourceName
from quarry.reader.reading import Reading

if TYPE_CHECKING:
    from quarry.local.database import LocalDatabase

SHOWN_MAX = 8
"""Candidates that are shown."""
VALUES_MAX = 3
LIKENESS_MIN = 0.5


async def explain(question: str, database: LocalDatabase, *, sources: Sequence[str], as_json: bool) -> None:
    """Read a question, and print how. Raises InvalidInput for a source that there is not, and DatabaseUnavailable."""
    from quarry.agent.reading import read_over
    from quarry.agent.sources import what_may_be_asked
    from quarry.query.paths import source_of
    from quarry.services.services import LOCAL_USER, Caller

    async with database.services() as services:
        asked = await what_may_be_asked(Caller(LOCAL_USER), services)
        for name in sources:
            source_of(asked.schema, name, "/source")
        names = list(sources or asked.schema.sources)
        reading = await read_over(question, names, asked, services, datetime.datetime.now(datetime.UTC).date())
    if as_json:
        write_json(as_told(reading))
    else:
        _show(reading)


def as_told(reading: Reading) -> dict[str, Any]:
    """What a reading holds, as JSON."""
    return {
        "verdict": reading.verdict,
        "chance": round(reading.chance, 3),
        "unread": list(reading.unread),
        "spans": [{"said": said, "means": means} for said, means in _spans(reading)],
        "candidates": [
            {
                "query": each.query,
                "score": round(each.score, 2),
                **({"pair_score": round(pair, 2)} if pair is not None else {}),
                "probability": round(chance, 4),
            }
            for each, chance, pair in _candidates(reading)
        ],
    }


def _candidates(reading: Reading) -> list[tuple[Candidate, float, float | None]]:
    """The first candidates with their probabilities, and how well the pair model finds that they fit."""
    rows = zip_longest(reading.best[:SHOWN_MAX], reading.pair_scores[:SHOWN_MAX])
    return [(candidate, chance, pair) for (candidate, chance), pair in rows]


def _spans(reading: Reading) -> Iterator[tuple[str, str]]:
    """Words of the question, each with what they may mean."""
    said = reading.said
    meant: list[tuple[int, int, str]] = []
    for named, places in said.named.items():
        if isinstance(named, FieldName | SourceName) and places[0].likeness >= LIKENESS_MIN:
            label = f"{named.source}.{named.name}" if isinstance(named, FieldName) else named.name
            meant.append((places[0].first, places[0].last, label))
    for value in said.values:
        links = value.links[:VALUES_MAX]
        named_values = "; ".join(f"{link.source}.{link.field} = {link.value}" for link in links)
        meant.append((value.place.first, value.place.last, named_values))
    meant += [(each.place.first, each.place.last, f"number {each.op} {each.one:g}") for each in said.numbers]
    meant += [(each.place.first, each.place.last, f"from {each.days.first} to {each.days.last}") for each in said.days]
    meant += [(each.place.first, each.place.last, f"time of {each.one:g} months") for each in said.lengths]
    meant += [(each.place.first, each.place.last, "text") for each in said.texts]
    for first, last, means in sorted(meant):
        yield said.text[said.tokens[first].start : said.tokens[last - 1].end], means


def _show(reading: Reading) -> None:
    console = make_console()
    write_table(console, ["said", "may mean"], ([printable(said), printable(means)] for said, means in _spans(reading)))
    console.print()
    rows = (
        [f"{chance:.3f}", f"{each.score:.2f}", "" if pair is None else f"{pair:.2f}", printable(json.dumps(each.query))]
        for each, chance, pair in _candidates(reading)
    )
    write_table(console, ["probability ", "score ", "pair score ", "query"], rows)
    console.print()
    console.print(f"{reading.verdict}: right with a chance of {reading.chance:.2f}")
    if reading.unread:
        note(f"not read: {', '.join(map(printable, reading.unread))}")
