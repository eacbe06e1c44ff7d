"""Every reader of a text that a caller, a model or a loaded row gives, on texts made to be read again and again."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.campaigns.answer import campaigns_spoken_of
from quarry.campaigns.conditions import named_values, resolve
from quarry.campaigns.contract import Campaign, CampaignFilters
from quarry.campaigns.results import CampaignSet, KnownValues
from quarry.companies.contract import ChatMessage, Company
from quarry.companies.fallback_ranking import rerank_by_rule
from quarry.companies.fallbacks import plan_by_rule
from quarry.companies.names import is_about, read_names, without_names
from quarry.companies.prompts import PlanInputs, RerankInputs
from quarry.companies.snippets import profile_words, snippets
from quarry.files.guessing import TableGuesser, staged
from quarry.files.identifiers import Identifiers
from quarry.files.reading import read_records
from quarry.files.records import UnreadableFile
from quarry.files.writing import Format, ReadOptions
from quarry.language.sentences import sentences
from quarry.language.tokens import tokenise
from quarry.models.answers import without_fence
from quarry.models.wordpiece import split_words
from quarry.people.as_query import payload_of
from quarry.people.contract import Constraints, Must, PeopleQuery
from quarry.people.normalisation import normalise, validated
from quarry.people.reasons import sanitised
from quarry.people.search import read_cut
from quarry.people.segments import measured, put_together
from quarry.platform.snippet import mark, unmark
from quarry.platform.text import QUERY_MAX_CHARACTERS, shorten, significant_words, storable, words
from quarry.records.citations import CitationFilter
from quarry.records.contract import PriorTurn
from quarry.records.conversation import take_up
from quarry.records.extraction import candidates, chosen, quoted
from quarry.records.intent import without_exclusions, words_to_look_up
from quarry.records.searched_types import BUILT_IN
from quarry.spans.gazetteer import places_in
from tests.companies.asking import seeking
from tests.companies.factories import entry, plan
from tests.linear.measuring import assert_linear, cpu_seconds, pieces_of_work, repeated
from tests.records.sources import record, source

KNOWN = KnownValues(
    {
        "channel": ("Email", "Direct Mail", "Push"),
        "company": ("Acme Bank", "B & C"),
        "value_prop": ("Cash Back / Rewards",),
    },
    datetime.date(2025, 5, 1),
    datetime.date(2025, 5, 1),
)
CAMPAIGN = Campaign(id="camp-1", company="Acme Bank", channel="Email", campaign_text="Save")
COMPANY = Company(id="c1", company_name="Harbor", status="startup", description="Payments for bakeries.")


def _constraints(text: str) -> Constraints:
    tokens = tokenise(text)
    return payload_of(read_cut(put_together(text, tokens, measured(text, tokens, datetime.date(2025, 5, 1)), ())).asked)


def _validated(text: str) -> object:
    """A model's reading that says much of what the query does, and much that it does not."""
    pieces = [f"{text[place : place + 8]}{place % 3}" for place in range(0, len(text), 8)]
    given = {"company_norm": pieces, "team_norm": pieces, "city": text, "location_text": text, "time_start": text}
    wished, ruled_out = {"skills_or_tools": pieces, "keywords": pieces}, {"company_norm": pieces, "keywords": pieces}
    query = {"must": given, "should": wished, "exclude": ruled_out, "query_embedding_text": text}
    quotes = [{"key": "must.company_norm", "words": piece} for piece in pieces]
    return validated(PeopleQuery.model_validate(query | {"quotes": quotes}), text, text)


def _normalised(text: str) -> object:
    must = Must(
        company_norm=[text],
        domain=[text],
        time_start=text,
        location_text=text,
        city=text,
        offer_salary_inr_per_year=5e5,
    )
    return normalise(Constraints(query_original=text, query_cleaned=text, must=must))


def _cited(size: int) -> Callable[[str], object]:
    def cited(text: str) -> str:
        citations = CitationFilter({1, 2})
        pieces = [citations.feed(text[start : start + size]) for start in range(0, len(text), size)]
        return "".join([*pieces, citations.finish()])

    return cited


def _profile(text: str) -> object:
    company = COMPANY.model_copy(update={"description": text})
    return profile_words(company), snippets(company, {"bakeri"})


def _planned(text: str) -> object:
    company = COMPANY.model_copy(update={"tagline": text, "niches": [text, "x"]})
    inputs = PlanInputs(text, [ChatMessage.model_construct(role="user", content=text)])
    sought = seeking(text)
    return plan_by_rule(inputs, sought, named=True), plan_by_rule(replace(inputs, seed=company), sought, named=False)


def _reranked(text: str) -> object:
    pieces = [text[place : place + 50] for place in range(0, len(text), 50)]
    entries = [
        entry(COMPANY.model_copy(update={"id": f"c{n}", "description": text, "niches": pieces, "categories": pieces}))
        for n in range(3)
    ]
    inputs, sought = RerankInputs(text, plan(text), entries), seeking(text)
    return rerank_by_rule(inputs, sought), rerank_by_rule(replace(inputs, seed=entries[0].company), sought)


def _filtered(text: str) -> object:
    filters = CampaignFilters.model_construct(channel=[text[place : place + 4] for place in range(0, len(text), 4)])
    named = named_values(filters)
    return resolve(filters, named, [[] for _ in named], KNOWN)


def _spoken_of(text: str) -> object:
    campaigns = tuple(CAMPAIGN.model_copy(update={"id": f"a{'-a' * n}"}) for n in range(50))
    return campaigns_spoken_of(text, [CampaignSet(50, campaigns)])


def _file_of(format: Format) -> Callable[[str], object]:
    def guessed(text: str) -> None:
        with suppress(UnreadableFile), read_records(io.BytesIO(text.encode()), "rows", ReadOptions(format)) as file:
            guesser = TableGuesser()
            guesser.add_columns(file)
            for record in file.records:
                if isinstance(record.fields, dict):
                    guesser.add(record.fields, file, record.number)
                    staged(record.fields)
            guesser.guessed()

    return guessed


def _identified(text: str) -> object:
    found = Identifiers()
    return [found.add(name) for name in (text, *text[:1500])]


def _extracted(text: str) -> object:
    """An answer from records of each type, of which title, topic and body are long."""
    records = [record(type, type=type, title=text, topic=text, body=text, author=text) for type in BUILT_IN]
    sources = [source(n, each, weight=1 / n) for n, each in enumerate(records, start=1)]
    question = text[:QUERY_MAX_CHARACTERS]
    return [*quoted(chosen(candidates(question, sources)))]


def _taken_up(text: str) -> object:
    return take_up("why?", [PriorTurn.model_construct(question=text, answer=text)])


SPACES = [
    ("spaces", repeated(" ", "x", "y")),
    ("line ends", repeated("\n", '"', '"')),
    ("tabs", repeated("\t", "1", "%")),
]


def _queries(*pieces: str) -> list[tuple[str, Callable[[int], str]]]:
    return [
        *SPACES,
        *((piece, repeated(piece)) for piece in pieces),
        *((f"{piece}…y", repeated(piece, "x", "y")) for piece in pieces),
    ]


Reader = Callable[[str], object]
HALF_A_QUERY = QUERY_MAX_CHARACTERS // 2
# The name of a reader, the reader, what it is given, and the length of the shorter of the two texts compared.
READERS: list[tuple[str, Reader, list[tuple[str, Callable[[int], str]]], int]] = [
    (
        "people: constraints",
        _constraints,
        _queries("nor x ", "2020 ", "in pune, ", "not X "),
        HALF_A_QUERY,
    ),
    ("people: a model's reading", _validated, _queries("a b ", "x", "1"), HALF_A_QUERY),
    ("people: normalisation", _normalised, _queries("1 ", "only "), HALF_A_QUERY),
    ("people: places", places_in, _queries("or ", "x/"), HALF_A_QUERY),
    ("people: reasons", lambda text: sanitised([text]), _queries("[", "<a", "**", "[x]("), 20_000),
    ("companies: names", read_names, _queries("? ", '"x', "Xx of ", "like "), HALF_A_QUERY),
    ("companies: like names", lambda text: without_names(text, ["x"]), _queries("similar to x "), HALF_A_QUERY),
    ("companies: about names", lambda text: is_about(text, ["1"]), _queries("1x "), HALF_A_QUERY),
    ("companies: profiles", _profile, _queries("a. ", "bakery! "), 20_000),
    ("companies: plans", _planned, _queries("payments ", "like Harbor "), HALF_A_QUERY),
    ("companies: ranking", _reranked, _queries("payments ", "a. "), HALF_A_QUERY),
    ("campaigns: filters", _filtered, _queries("x", "emai"), HALF_A_QUERY),
    ("campaigns: what an answer speaks of", _spoken_of, _queries("a-", "camp-1 "), 20_000),
    ("records: answers", _extracted, _queries("It is. ", "x: y\n", "7-2 ", "“"), 5000),
    ("records: query", words_to_look_up, _queries('"x', "-x ", "or "), HALF_A_QUERY),
    ("records: exclusions", without_exclusions, _queries('"x', "-x ", "-", '-"', "“", "„x", "«x"), HALF_A_QUERY),
    ("records: conversation", _taken_up, _queries("a'b "), 10_000),
    ("records: citations in one", _cited(1 << 20), _queries("[1,", "`", "` ", "[", "【1"), 20_000),
    ("records: citations by character", _cited(1), _queries("[1,", "`", "` ", "`x"), 10_000),
    ("words", words, _queries("a'", "_"), 20_000),
    ("significant words", significant_words, _queries("voted ", "'s"), 20_000),
    ("sentences", sentences, _queries('."', ". ", "A. ", "!\n ", "No. "), 20_000),
    ("shortened text", lambda text: shorten(text, 100), _queries(",;"), 20_000),
    ("storable text", storable, _queries("é"), 20_000),
    ("marks", lambda text: unmark(mark(text)), _queries("<mark>", "\ue000", "&lt;"), 20_000),
    ("marks of others", unmark, _queries("<mark>", "</mark>"), 20_000),
    ("a model's JSON", without_fence, [("open fence", repeated("\n", "```")), *_queries("```", "```\n", "``` ")], 20_000),
    ("files: CSV", _file_of("csv"), _queries('"x', ",", "a\n", "\r"), 40_000),
    ("files: JSON", _file_of("json"), _queries("[", '{"a":', "9", '"'), 40_000),
    ("files: JSON Lines", _file_of("jsonl"), _queries("[", "{}\n", "9"), 40_000),
    ("files: names", _identified, _queries("é", "aB", "_ "), 10_000),
    ("pieces of words", split_words, _queries("é", "漢", "x."), 20_000),
]  # fmt: skip


def _cases() -> Iterator[Any]:
    for name, reader, texts, length in READERS:
        for text_name, hostile in texts:
            yield pytest.param(reader, hostile, length, id=f"{name}-{text_name!a}")


@pytest.mark.parametrize(("read", "hostile", "length"), [*_cases()])
def test_twice_the_text_takes_about_twice_as_long(read: Reader, hostile: Callable[[int], str], length: int) -> None:
    assert_linear(read, hostile, length)


QUESTION_READERS: list[Reader] = [
    _constraints,
    _normalised,
    read_names,
    lambda text: take_up(text, []),
    words_to_look_up,
]
WORK_MAX = 500.0
"""In pieces of work, of all readers together, of one query as long as it may be: ten times what the slowest of many takes."""

hostile_texts = st.text('1 -"(.,x\n\t$%', max_size=QUERY_MAX_CHARACTERS) | st.builds(
    lambda piece, times: (piece * times)[:QUERY_MAX_CHARACTERS],
    st.text('1 -"(.,x\n\t$%', min_size=1, max_size=12),
    st.integers(1, QUERY_MAX_CHARACTERS),
)


@settings(max_examples=20, deadline=None)
@given(text=hostile_texts)
def test_no_query_takes_long_to_read(text: str) -> None:
    def read_by_all(query: str) -> None:
        for reader in QUESTION_READERS:
            reader(query)

    assert pieces_of_work(cpu_seconds(read_by_all, text)) < WORK_MAX
