"""A query as a workspace is searched for it: by its words, but for values of the data that it rules out."""

from __future__ import annotations

import datetime

from quarry.agent.matches import value_links
from quarry.agent.reading import read_over
from quarry.agent.sources import Asked
from quarry.ontology.sources import sources_for
from quarry.platform.off_loop import off_loop
from quarry.query.schema import Schema
from quarry.reader.likely import ruled_out
from quarry.reader.reading import Reading
from quarry.services.services import Caller, Services

RULED_OUT_MIN = 0.5
"""From this probability on, a value is excluded; else its words are searched for."""
_DOMAIN = "ontology"


async def searched_words(query: str, caller: Caller, services: Services) -> str:
    """What is searched for: `query`, with each value of the caller's things that it rules out as an exclusion ("tasks not
    blocked": `tasks not -"blocked"`). Raises DatabaseUnavailable.
    """
    sources, settings = await sources_for(caller, services)
    names = list(sources)
    asked = Asked(Schema(sources), caller, settings, {name: (_DOMAIN, name) for name in names})
    # most queries name no value, and need no more than this look-up
    links = await value_links(query, names, asked, services)
    if not links:
        return query
    today = datetime.datetime.now(datetime.UTC).date()
    return await off_loop(with_exclusions, await read_over(query, names, asked, services, today, links=links))


def with_exclusions(reading: Reading) -> str:
    """The text of a question in which each value that it likely rules out is excluded; as it is where there is none."""
    said, kept, last = reading.said, list[str](), 0
    excluded = sorted(ruled_out(reading, RULED_OUT_MIN), key=lambda each: each.place.first)
    for value in excluded:
        start, end = said.tokens[value.place.first].start, said.tokens[value.place.last - 1].end
        kept.append(said.text[last:start].strip())
        last = end
    # a quotation mark would end the exclusion
    values = dict.fromkeys(link.value.replace('"', " ") for each in excluded for link in each.links)
    return " ".join(filter(None, (*kept, said.text[last:].strip(), *(f'-"{value}"' for value in values))))
