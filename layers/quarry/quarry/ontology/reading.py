"""A query as a workspace is searched for it: by its words, but for values of the data that it rules out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quarry.language.tokens import tokenise
from quarry.ontology.facets import SEARCHED, SEARCHED_BY_TYPE
from quarry.platform.off_loop import off_loop
from quarry.platform.text import STOP_WORDS
from quarry.postgres.pool import Database
from quarry.retrieval.reading import read_question
from quarry.services.services import Caller
from quarry.spans.cues import cues
from quarry.spans.mention import Cue, Known, Mention, ParsedQuery

WORKSPACE = replace(
    SEARCHED_BY_TYPE["task"],
    name="workspace",
    nouns=tuple(noun for table in SEARCHED for noun in table.nouns),
    related=(),
    united=SEARCHED,
)
"""All kinds of things together, to read questions by."""
_TABLES = [table.name for table in SEARCHED]


async def searched_words(database: Database, query: str, caller: Caller) -> str:
    """What is searched for: `query`, with a value of the caller's things that it rules out as an exclusion ("tasks that are not
    blocked": "tasks that are -blocked"). Raises DatabaseUnavailable.
    """
    if not await off_loop(_rules_out, query):
        return query
    reading = await read_question(database, WORKSPACE, query, owners=dict.fromkeys(_TABLES, caller.user_id))
    return with_exclusions(reading.parsed)


def with_exclusions(parsed: ParsedQuery) -> str:
    """The text of a question in which each known value that is ruled out is excluded; as it is where none is."""
    ruled_out = [mention for mention in parsed.mentions if _values(mention) and _is_what_is_ruled_out(parsed, mention)]
    if not ruled_out:
        return parsed.text
    triggers = [mention for mention in parsed.mentions if _is_trigger(mention)]
    left = _without(parsed.text, [*ruled_out, *triggers])
    return " ".join([*left, *(f'-"{value}"' for mention in ruled_out for value in _values(mention))])


def _rules_out(query: str) -> bool:
    words = [token.key for token in tokenise(query)]
    said = (cues().longest_at(words, place) for place in range(len(words)))
    return any(cue is not None and cue.meaning.startswith("negates") for cue in said)


def _values(mention: Mention) -> list[str]:
    """The values, each once, that a mention says whole, without what would end a quotation."""
    value = mention.value
    if not isinstance(value, Known) or mention.is_latent:
        return []
    return list(dict.fromkeys(each.value.replace('"', " ") for each in value.values if each.is_whole))


def _is_what_is_ruled_out(parsed: ParsedQuery, mention: Mention) -> bool:
    """Whether it is negated, and no other word stands between: "not done in Harbour" rules out no Harbour."""
    triggers = [each.end for each in parsed.mentions if _is_trigger(each) and each.end <= mention.start]
    between = [token for token in parsed.tokens if triggers and triggers[-1] <= token.start < mention.start]
    known = [each for each in parsed.mentions if _values(each)]
    return mention.assertion == "negated" and all(
        token.key in STOP_WORDS or any(each.start <= token.start < each.end for each in known) for token in between
    )


def _is_trigger(mention: Mention) -> bool:
    return isinstance(mention.value, Cue) and mention.value.what.startswith("negates")


def _without(text: str, mentions: Sequence[Mention]) -> list[str]:
    """What stands between the mentions."""
    kept, last = [], 0
    for mention in sorted(mentions, key=lambda each: each.start):
        kept.append(text[last : mention.start].strip())
        last = mention.end
    return [each for each in (*kept, text[last:].strip()) if each]
