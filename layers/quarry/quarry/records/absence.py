"""Whether records answer a question at all, and what it names that none of them holds.

Records are prose: what no facet knows may still stand in a text, and what is asked in one word may be answered in another. So
that a name is held by none says so by itself; of other words, how near the nearest record is in meaning and how much the best
of them holds of what the question says tell together how likely it is answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from math import exp, log, sqrt
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal, Placeholder

from quarry.collections.collection import ENGLISH
from quarry.language.demonyms import called_alike
from quarry.language.everyday import is_everyday
from quarry.language.irregular import other_forms
from quarry.language.tokens import keys
from quarry.platform.errors import ModelError
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.text import STOP_WORDS, placed_words, topic_text, words
from quarry.postgres.pool import Database
from quarry.reader.said import Place, Said
from quarry.records.deeds import names_in_passing
from quarry.records.ranking import RankedRecord
from quarry.records.reading import NAMED_MIN, RecordsReading, tellable
from quarry.records.retrieval import similarities, tables_seen
from quarry.records.searched_types import SearchedType
from quarry.retrieval.fusion import SEMANTIC_WEIGHT
from quarry.services.services import Services
from quarry.spans.question import Clause, Condition, spans_of

_SAYING = frozenset(
    """
    say says said tell tells told wrong problem problems trouble issue issues complain complains complained complaint complaints
    report reports reported mention mentions mentioned
    """.split()
)
"""What records do, whether they say so or not: to say something, or that something is wrong."""
NAMES_MAX = 8
"""So many names of a question are looked for."""
SLIP_LIKENESS_MIN = 0.5
"""So many of their trigrams a name and an everyday word share where one is a slip for the other."""
WORDS_MAX = 24
"""So many words of a question are looked for in the best records."""
VALUES_MAX = 4
"""So many values of facets that a question names."""
RECORDS_MAX = 24
"""So many of the best records are looked at for the words of a question."""

BIAS, SIMILARITY_WEIGHT, WORTH_WEIGHT, ALL_WEIGHT = -16.73, 18.29, 8.32, 1.66
"""Fitted by logistic regression on questions to three collections, each held out in turn: docs/search-quality.md."""

REFUSED_BELOW = 0.15
"""A question that is less likely answered is told that the records hold nothing of it."""
SIZE_WEIGHT = 1.0
"""What odds of refusing gain with the highest of as many random cosines as there are rows: of more, a nearer one is by chance."""
ROWS_MEASURED = (50, 8_000)
"""The smallest and the largest collection on which that was measured."""
ROWS_FITTED = 1_900
"""The rows of the one whose threshold is REFUSED_BELOW."""
DOUBTED_BELOW = 0.5
"""One that is less likely answered is told what may be missing, of fewer rows than ROWS_FITTED when it is less likely still."""
ROWS_LACKING_MIN = 500
"""Among fewer rows most everyday words stand nowhere, whatever is asked: that one does not tells nothing."""
REFUSED_BELOW_UNMEASURED = 0.01
"""With embeddings of another model than the local one, in whose cosines the likelihoods were measured: only what is far off."""

ROWS_SEEN = 500
"""Of records that not every caller may see, so many of the caller's own are counted, as weigh_query does."""
OMITTED_MAX = 4
"""So many words that no record holds are left out of a question, one after the other, to see whether they matter."""
NEARER_BY = -0.005
"""So much nearer (cosine) a word makes a record that says it in other words, at least: less is noise."""

ALL_WORTH = 0.999
"""So much is all of the words, whatever their sum was rounded to."""


async def names_held_by_none(database: Database, reading: RecordsReading, types: Sequence[SearchedType]) -> list[str]:
    """The names in a question that no record of these types holds, written so or nearly so. Raises DatabaseUnavailable."""
    names = islice(_unknown_names(reading), NAMES_MAX)
    return await _held_by_none(database, list(names), types)


async def _held_by_none(database: Database, names: Sequence[_Name], types: Sequence[SearchedType]) -> list[str]:
    """Those of the names that no record of these types holds, written so or nearly so: a slip in a name is near a name, and
    near a word that everybody uses only where they hardly differ. A place is held where its people are.
    """
    if not names:
        return []
    held, alike = list[Composed](), list[Composed]()
    for language in dict.fromkeys(language for each in types for language in each.languages):
        tables, seen = tables_seen(each for each in types if language in each.languages)
        held += [
            SQL(
                "exists (select from {} t where t.text_search @@ asked_words({}::regconfig, n.words, true) and ({}))"
            ).format(Identifier(table), Literal(language), SQL(is_seen or "true"))
            for table, is_seen in zip(tables, seen, strict=True)
        ]
        alike.append(
            SQL(
                "array(select case when similarity(w.word, n.words) < {2} then w.word end"
                " from weigh_query({0}, n.words, p_language => {1}::regconfig, p_seen => {3}) q, unnest(q.words) w (word)"
                " where w.word <> all (tsvector_to_array(said_words({1}::regconfig, n.words))))"
            ).format(Literal(tables), Literal(language), Literal(SLIP_LIKENESS_MIN), Literal(seen))
        )
    alternatives = {name.words: (name.words, *called_alike(name.words)) for name in names}
    rows = await database.rows(
        SQL("select n.words, {} as alike from unnest(%(words)s::text[]) n (words) where not ({})").format(
            SQL(" || ").join(alike), SQL(" or ").join(held)
        ),
        {"words": list(dict.fromkeys(chain(*alternatives.values())))},
    )
    unheld = {row["words"]: row["alike"] for row in rows}
    unknown = [
        name.name
        for name in names
        if all(words in unheld for words in alternatives[name.words])
        and (
            (name.words == name.name and " " in name.name)
            or all(word and is_everyday(word) for word in unheld[name.words])
        )
    ]
    return list(dict.fromkeys(unknown))


@dataclass(frozen=True)
class Held:
    """What the best of the records found hold of a question's words. `worth` is how much the words say that one of them holds, in
    words that a single record holds; `is_all`: one holds all of them but `missing`, which no record does, and but for those of
    saying. `apart`: the two that say most, where no record holds both. `has_meaning`: some record can be found by its meaning.
    `is_met`: one has the values of facets that the question names, and holds all its other words. `rows`: how many are searched.
    """

    worth: float
    is_all: bool
    missing: Sequence[str] = ()
    apart: Sequence[str] = ()
    has_meaning: bool = True
    is_met: bool = False
    rows: float = ROWS_FITTED


@dataclass(frozen=True)
class Answerability:
    """How likely the records answer a question, from 0 to 1, and which of its words no record holds: any, or both of two.
    `is_listed`: it asks for the records that meet its conditions, and these were found; `is_held`: one holds all its words.
    """

    probability: float
    missing: Sequence[str] = ()
    apart: Sequence[str] = ()
    refused_below: float = REFUSED_BELOW
    doubted_below: float = DOUBTED_BELOW
    is_listed: bool = False
    is_held: bool = False

    @property
    def is_refused(self) -> bool:
        return self.probability < self.refused_below

    @property
    def is_doubtful(self) -> bool:
        return self.probability < self.doubted_below


async def answerability(
    services: Services,
    query: str,
    ranked: Sequence[RankedRecord],
    reading: RecordsReading,
    types: Sequence[SearchedType],
    *,
    meets: bool,
    has_values: bool = False,
) -> Answerability:
    """How likely the records that were found for a question answer it. `meets`: some of them meet its conditions
    (`is_met`). `has_values`: only records with given values of facets were searched. Raises DatabaseUnavailable.
    """
    database = services.reader
    is_measured = services.embeddings.name == LOCAL_EMBEDDING_MODEL
    asked = _words(query)[:WORDS_MAX]
    named = _named(query, reading, is_met=meets)
    if meets and named.words.issuperset(asked):
        # it says nothing but which records are meant, and these were found
        return Answerability(1.0, is_listed=True)
    looked_at = _looked_at(ranked)
    readings = [
        await _held(database, asked, named, looked_at, types, language)
        for language in dict.fromkeys(language for each in types for language in each.languages)
    ]
    held = max(readings, key=lambda each: each.worth)
    passing = names_in_passing(query)
    unheld = [word for word in held.missing if all(word in each.missing for each in readings) and word not in passing]
    written = {word: query[start:end] for word, start, end in placed_words(query)}
    missing = [written[word] for word in unheld]
    if missing and is_measured and held.has_meaning:
        otherwise = await _said_otherwise(missing, query, looked_at, types, services)
        missing = [word for word in missing if word not in otherwise]
        held = replace(held, worth=held.worth + len(otherwise))
    if (held.is_met or (has_values and held.is_all)) and not missing:
        # of what stands in facets alone its meaning does not tell
        return Answerability(1.0)
    is_known_by_words = any(item.by_words_alone for item in looked_at)
    if not missing and ((held.is_all and is_known_by_words) or not held.has_meaning):
        # words are all that is known of them
        return Answerability(1.0)
    if not held.has_meaning:
        return Answerability(REFUSED_BELOW, missing)
    similarity = max((item.similarity or 0.0 for item in ranked), default=0.0)
    threshold = refused_below(held.rows) if is_measured else REFUSED_BELOW_UNMEASURED
    likely = probability(similarity, replace(held, missing=missing))
    if reading.types.united.reckons and reading.named and held.is_all and not missing:
        # rows are asked for by all that one of them says
        likely = max(likely, DOUBTED_BELOW)
    # that records say it nowhere says nothing of what was said
    is_told = len(readings) == 1 and _SAYING.isdisjoint(held.apart) and named.kinds.isdisjoint(held.apart)
    return Answerability(
        likely,
        missing if likely < threshold or held.rows >= ROWS_LACKING_MIN else (),
        [written[word] for word in held.apart if word not in passing] if is_told else (),
        threshold,
        doubted_below(held.rows),
        is_held=held.is_all and not missing,
    )


def _looked_at(ranked: Sequence[RankedRecord]) -> Sequence[RankedRecord]:
    """The best records, words and meaning weighing as they did where the likelihood was fitted, whatever the question."""

    def weighed(item: RankedRecord) -> float:
        return (1 - SEMANTIC_WEIGHT) * (item.text_score or 0.0) + SEMANTIC_WEIGHT * (item.similarity or 0.0)

    return sorted(ranked, key=lambda item: -weighed(item))[:RECORDS_MAX]


async def _said_otherwise(
    missing: Sequence[str],
    query: str,
    ranked: Sequence[RankedRecord],
    types: Sequence[SearchedType],
    services: Services,
) -> list[str]:
    """Those of the words that a record found may say in other words ("washroom" where it says "toilet"): without one, the
    question is no nearer to the nearest of them. None where the model fails or finds nothing in what is left.
    """
    looked_at = missing[:OMITTED_MAX]
    without = (re.sub(rf"\b{re.escape(word)}\b\s?", "", query) for word in looked_at)
    try:
        vectors = await services.queries.embed_all([query, *without])
    except ModelError:
        return []
    if vectors is None:
        return []
    near = await similarities(services.reader, vectors, [item.key for item in ranked], types)
    return [word for word, nearness in zip(looked_at, near[1:], strict=True) if near[0] - nearness > NEARER_BY]


def probability(similarity: float, held: Held) -> float:
    """How likely a question is answered to which the nearest record is so similar (cosine), and of whose words the best hold so
    much.
    """
    odds = BIAS + SIMILARITY_WEIGHT * similarity + WORTH_WEIGHT * log(1 + held.worth)
    return _likelihood(odds + ALL_WEIGHT * (held.is_all and not held.missing))


def refused_below(rows: float) -> float:
    """The likelihood below which a question to so many rows is refused: among few, the nearest is less near by chance."""
    return _likelihood(log(REFUSED_BELOW / (1 - REFUSED_BELOW)) + _by_chance(rows))


def doubted_below(rows: float) -> float:
    """The likelihood below which a question to so many rows is doubted: among more than ROWS_FITTED no more."""
    return _likelihood(log(DOUBTED_BELOW / (1 - DOUBTED_BELOW)) + min(0.0, _by_chance(rows)))


def _by_chance(rows: float) -> float:
    """What the odds of refusing gain with so many rows."""
    fewest, most = ROWS_MEASURED
    return SIZE_WEIGHT * (sqrt(2 * log(min(max(rows, fewest), most))) - sqrt(2 * log(ROWS_FITTED)))


def _likelihood(odds: float) -> float:
    return 1 / (1 + exp(-odds))


def _words(query: str) -> list[str]:
    """The words of a question that carry a topic. An adjective behind "how" carries none: it asks how much."""
    said = words(query)
    degrees = {behind for word, behind in pairwise(said) if word == "how"}
    return [word for word in said if word not in STOP_WORDS and word not in degrees] or words(topic_text(query))


@dataclass(frozen=True)
class _Named:
    """What a question says by names that the data has for its records: the words, and for each value of a facet its clause and in
    how many rows it is. `kinds`: those of the words that rows, or what they tell, are called by.
    """

    words: frozenset[str]
    values: Sequence[tuple[Clause, int]]
    kinds: frozenset[str] = frozenset()


async def is_met(
    database: Database, reading: RecordsReading, ranked: Sequence[RankedRecord], types: Sequence[SearchedType]
) -> bool:
    """Whether conditions must hold, and hold of records that were found: where none meets them, others are."""
    if not (reading.must_hold and reading.clauses):
        return False
    met = list[Composable]()
    for each in types:
        ids = [item.key[1] for item in ranked[:RECORDS_MAX] if item.key[0] == each.name]
        clauses = reading.clauses_for(each.table) if ids else None
        if clauses and (condition := each.condition(clauses)):
            met.append(
                SQL("exists (select from {} t where t.id = any({}) and {})").format(
                    Identifier(each.rows), Literal(ids), condition
                )
            )
    if not met:
        return False
    [row] = await database.rows(SQL("select {} as is_met").format(SQL(" or ").join(met)))
    return bool(row["is_met"])


def _named(query: str, reading: RecordsReading, *, is_met: bool) -> _Named:
    said = reading.read.said
    if not query.startswith(reading.text):
        return _Named(_SAYING, ())
    values = list[tuple[Clause, int]]()
    spans = [(each.start, each.end) for each in spans_of(reading.clauses if is_met else ())]
    called = list[tuple[int, int]]()
    for value in said.values:
        whole = [link for link in value.links if link.is_whole]
        if whole:
            values.append(
                (tuple(Condition(link.field, (link.value,)) for link in whole), max(link.rows for link in whole))
            )
            spans.append(_characters(value.place, said))
    for places in said.named.values():
        called += [_characters(each, said) for each in places if each.likeness >= NAMED_MIN]
    inside, outside, kinds = set[str](), set[str](), set[str]()
    for word, start, end in placed_words(reading.text):
        is_kind = any(first <= start and end <= last for first, last in called)
        is_named = is_kind or any(first <= start and end <= last for first, last in spans)
        (inside if is_named else outside).add(word)
        kinds |= {word} if is_kind else set()
    return _Named(_SAYING.union(inside - outside), values[:VALUES_MAX], frozenset(kinds))


def _characters(place: Place, said: Said) -> tuple[int, int]:
    return said.tokens[place.first].start, said.tokens[place.last - 1].end


async def _held(
    database: Database,
    asked: Sequence[str],
    named: _Named,
    ranked: Sequence[RankedRecord],
    types: Sequence[SearchedType],
    language: str | None,
) -> Held:
    """What records of one language hold of the words. One of the language that none holds is no slip of the pen for another."""
    searched = [each for each in types if language in each.languages]
    parameters: dict[str, Any] = {}
    holding = SQL(" union all ").join(
        SQL(
            "select h.weight, h.topic, h.others + {met} as beside, {is_met} as is_met from {rows} t, one o, asked a"
            " cross join lateral (select coalesce(sum(w.weight), 0) as weight,"
            " coalesce(sum(w.weight) filter (where w.word <> all(a.saying)), 0) as topic,"
            " coalesce(sum(w.weight) filter (where w.word <> all(a.named)), 0) as others"
            " from unnest(a.words, a.weights) w (word, weight) where t.text_search @@ quote_literal(w.word)::tsquery"
            ") h where t.id = any({ids})"
        ).format(
            rows=Identifier(each.rows),
            ids=_kept(parameters, [item.key[1] for item in ranked if item.key[0] == each.name]),
            **_met(each, named.values, parameters),
        )
        for each in searched
    )
    tables, seen = tables_seen(searched)
    together = SQL(" or ").join(
        SQL("exists (select from {} t where t.text_search @@ b.words and ({}))").format(
            Identifier(table), SQL(is_seen or "true")
        )
        for table, is_seen in zip(tables, seen, strict=True)
    )
    windows = [SQL("exists (select from {})").format(Identifier(each.windows)) for each in types if each.has_meaning]
    [row] = await database.rows(
        SQL(_HELD).format(
            holding=holding,
            together=together,
            language=Literal(language),
            has_meaning=SQL(" or ").join([SQL("false"), *windows]),
            rows_seen=Literal(ROWS_SEEN),
        ),
        {
            "words": list(asked),
            "everyday": [is_everyday(word) for word in asked],
            "named": [word in named.words for word in asked],
            "saying": [word in _SAYING for word in asked],
            "forms": [" ".join((word, *(other_forms(word) if language in (None, ENGLISH) else ()))) for word in asked],
            "value_rows": [rows for _, rows in named.values],
            "tables": tables,
            "seen": seen,
        }
        | parameters,
    )
    is_beside = row["beside"] > ALL_WORTH * row["possible_beside"]
    return Held(
        max(row["worth"], row["beside"]),
        row["topic"] > ALL_WORTH * row["possible_topic"] or is_beside,
        row["missing"],
        row["apart"],
        row["has_meaning"],
        is_met=bool(row["is_met"]) and bool(named.values),
        rows=row["rows"],
    )


def _kept(parameters: dict[str, Any], value: object) -> Placeholder:
    name = f"p{len(parameters)}"
    parameters[name] = value
    return Placeholder(name)


def _met(type: SearchedType, values: Sequence[tuple[Clause, int]], parameters: dict[str, Any]) -> dict[str, Composable]:
    """How much the values say that a row `t` of the type has, and whether it has all of them."""
    met, all_met = list[Composable]([SQL("0")]), list[Composable]([SQL("true")])
    for clause, rows in values:
        told = tellable(clause, type.table)
        has = (type.condition([told], parameters) if told else None) or SQL("false")
        met.append(SQL("case when {} then ln(1 + o.rows / ({} + .5)) else 0 end").format(has, Literal(rows)))
        all_met.append(SQL("({})").format(has))
    return {"met": SQL(" + ").join(met), "is_met": SQL(" and ").join(all_met)}


_HELD: LiteralString = """
with said as materialized (
  -- as records say it: in the form of an irregular verb that one holds, where none holds the question's own
  select s.word, s.is_everyday, s.is_named, s.is_saying, f.form,
    tsvector_to_array(said_words({language}::regconfig, f.form)) as lexemes
  from unnest(%(words)s::text[], %(everyday)s::boolean[], %(named)s::boolean[], %(saying)s::boolean[],
    %(forms)s::text[]) s (word, is_everyday, is_named, is_saying, forms)
  cross join lateral (select coalesce((
    select o.form from regexp_split_to_table(s.forms, ' ') with ordinality o (form, place)
    cross join lateral (select tsvector_to_array(said_words({language}::regconfig, o.form)) as lexemes) l
    where s.forms <> s.word and unwritten(%(tables)s, l.lexemes, %(seen)s) <> l.lexemes order by o.place limit 1
  ), s.word) as form) f
), missing as materialized (
  select s.word from said s
  where s.is_everyday and not s.is_named and s.lexemes <> '{{}}' and case
    when exists (
      select from lexeme_counts c join unnest(%(tables)s, %(seen)s) o (of_table, seen) using (of_table)
      where c.lexeme = any(s.lexemes) and o.seen is null) then false
    else unwritten(%(tables)s, s.lexemes, %(seen)s) = s.lexemes end
), asked as materialized (
  select q.words, q.weights, array(select unnest(s.lexemes) from said s where s.is_named) as named,
    array(select unnest(s.lexemes) from said s where s.is_saying) as saying from weigh_query(%(tables)s, (
    select coalesce(string_agg(s.form, ' '), '') from said s where s.word not in (select m.word from missing m)
  ), p_language => {language}::regconfig, p_seen => %(seen)s) q
), one as (
  -- what a word says that a single row holds
  select ln(1 + t.rows / 1.5)::float8 as weight, t.rows from (
    select greatest(1, sum(case
      when o.seen is null then (select t.rows from text_totals t where t.of_table = o.of_table)
      else (select s.rows from seen_words(o.of_table, o.seen, '{{}}', {rows_seen}) s) end))::float8 as rows
    from unnest(%(tables)s, %(seen)s) o (of_table, seen)) t
), held as ({holding}), possible as (
  select coalesce(sum(w.weight) filter (where w.word <> all(a.saying)), 0) as topic,
    coalesce(sum(w.weight) filter (where w.word <> all(a.named)), 0) as others,
    (select coalesce(sum(ln(1 + o.rows / (v.rows + .5))), 0) from unnest(%(value_rows)s::int[]) v (rows), one o) as of_values
  from asked a, unnest(a.words, a.weights) w (word, weight)
), heaviest as (
  -- as they were said: what was read as another word is none of them
  select w.word as lexeme, (select s.word from said s where w.word = any(s.lexemes) order by s.word limit 1) as word
  from asked a, unnest(a.words, a.weights) w (word, weight) order by w.weight desc, w.word limit 2
), both_words as (
  select string_agg(quote_literal(h.lexeme), ' & ')::tsquery as words, array_agg(h.word order by h.word) as said from heaviest h
  having count(distinct h.word) = 2
)
select coalesce((select max(h.weight) from held h), 0) / o.weight as worth,
  coalesce((select max(h.topic) from held h), 0) as topic, p.topic as possible_topic,
  coalesce((select max(h.beside) from held h), 0) / o.weight as beside,
  (p.others + p.of_values) / o.weight as possible_beside,
  exists (select from held h where h.is_met and h.beside > .999 * (p.others + p.of_values)) as is_met,
  array(select m.word from missing m) as missing,
  coalesce((select b.said from both_words b where not ({together})), '{{}}') as apart,
  exists (select from embedding_model) and ({has_meaning}) as has_meaning, o.rows
from one o, possible p
"""


@dataclass(frozen=True)
class _Name:
    """A name, and the words of it that a record must hold one after the other."""

    name: str
    words: str


def _unknown_names(reading: RecordsReading) -> Iterator[_Name]:
    """Words written as names where capitals say something: each must be there, for a record may put several otherwise."""
    for each in reading.read.said.texts:
        yield from (_Name(each.text, word) for word in keys(each.text))
