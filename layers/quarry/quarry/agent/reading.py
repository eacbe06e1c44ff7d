"""Reading a question without a model, over sources that a caller may ask: one look-up of values, then no more I/O."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from quarry.agent.matches import value_links
from quarry.agent.sources import Asked
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.off_loop import off_loop
from quarry.query.schema import Schema
from quarry.reader.learned import learned
from quarry.reader.pair_model import pair_model
from quarry.reader.reading import Reading, read_question
from quarry.reader.values import ValueLink
from quarry.services.services import Services


async def read_over(
    question: str,
    names: Sequence[str],
    asked: Asked,
    services: Services,
    today: datetime.date,
    before: Reading | None = None,
    links: Sequence[ValueLink] | None = None,
) -> Reading:
    """What a question asks of these sources, where it may go on from the one `before`. `links` are the values that its words may
    mean, where they were looked up before. Raises DatabaseUnavailable.
    """
    if links is None:
        links = await value_links(question, names, asked, services)
    schema = Schema({name: asked.schema.sources[name] for name in names})
    pairs = await off_loop(pair_model) if isinstance(services.embeddings, LocalEmbedding) else None
    return await off_loop(read_question, question, schema, links, today, await off_loop(learned), before, pairs)
