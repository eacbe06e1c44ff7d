"""What is read of records, within what the caller may see, as typed values: candidates, counts, texts, numbered sources, whole
records, and the types there are.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, NamedTuple, Self

from psycopg import DataError
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal, Placeholder

from quarry.agent.sources import describe_sources
from quarry.collections.declaration_parts import Quoting
from quarry.language.messages import gettext
from quarry.language.writing import ENGLISH, languages
from quarry.platform.errors import NotFound
from quarry.platform.text import exact, mark, shorten, unmark, visible_value
from quarry.postgres.pool import Database, array_of_texts, half_vector
from quarry.query.contract import QueryResult, SourceDescription
from quarry.query.describe import reckoned
from quarry.query.execute import SERIAL
from quarry.query.filters import Filtered
from quarry.records.contract import (
    AggregationEvent,
    Collection,
    CollectionFacet,
    Collections,
    RecordKey,
    RecordType,
    Source,
    WholeRecord,
)
from quarry.records.sources import RecordTypes, SearchedType, acting_for, skipping_broken_collections
from quarry.retrieval.fusion import Fused
from quarry.schema.algebra import Condition
from quarry.services.services import Caller, Services

PROSE_WORDS_MIN = 12
"""A line with fewer words is a name or a field's value."""


class RecordCandidate(NamedTuple):
    """A record that matched. `text_score` compares records of all types by their words, `similarity` (cosine) by meaning; None
    where that half did not find it. `is_apart`: it was found among those that meet the question's conditions alone.
    """

    type: RecordType
    id: str
    text_score: float | None
    similarity: float | None
    is_apart: bool = False
    by_words_alone: bool = False
    """Whether its type cannot be searched by meaning, while others are."""

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)


@dataclass(frozen=True)
class RecordText:
    """A record as a reader sees it. `snippet` marks matched words with MATCH_START and MATCH_END; `quoting` says how it
    is quoted.
    """

    type: RecordType
    id: str
    title: str
    body: str
    topic: str | None
    author: str | None
    date: datetime.date | None
    meeting_id: str | None
    url: str | None
    snippet: str
    quoting: Quoting = field(default_factory=Quoting)
    language: str = ENGLISH
    """The language of all records of its type."""

    @property
    def key(self) -> RecordKey:
        return (self.type, self.id)

    @property
    def is_prose(self) -> bool:
        """Whether it has a line of prose, not only values of fields."""
        return any(len(line.split()) >= PROSE_WORDS_MIN for line in self.body.split("\n"))


RankedRecord = Fused[RecordKey]
"""A record in the fused list over all types."""

SOURCES_MAX = 12
PASSAGE_CHARACTERS_MAX = 800


class EvidenceSource(NamedTuple):
    """One source: its number, what it says, its similarity (cosine) to the query that found it, and how well it ranked there,
    as a share of that search's best score.
    """

    n: int
    text: RecordText
    similarity: float | None
    weight: float
    marked: str = ""
    """What is quoted of it, between MATCH_START and MATCH_END, with some text around; empty where nothing is."""

    def to_source(self) -> Source:
        return Source(
            n=self.n,
            type=self.text.type,
            id=self.text.id,
            title=shorten(self.text.title, 200),
            snippet=mark(self.marked or self.text.snippet),
            date=self.text.date,
            meeting_id=self.text.meeting_id,
            url=self.text.url,
            similarity=None if self.similarity is None else round(self.similarity, 4),
        )


def passage(text: RecordText) -> str:
    """What a model reads of a record: all of its text or, of a long one, its matched snippet and its beginning."""
    if len(text.body) <= PASSAGE_CHARACTERS_MAX:
        return text.body
    snippet = shorten(unmark(mark(text.snippet)), PASSAGE_CHARACTERS_MAX // 2)
    beginning = shorten(text.body, PASSAGE_CHARACTERS_MAX - len(snippet))
    return beginning if not snippet or snippet in beginning else f"{beginning}\n… {snippet} …"


@dataclass
class NumberedSources:
    """The numbered sources so far, at most `sources_max`."""

    sources_max: int = SOURCES_MAX
    sources: list[EvidenceSource] = field(default_factory=list)
    _by_key: dict[RecordKey, EvidenceSource] = field(default_factory=dict)

    def add(self, records: Iterable[tuple[RankedRecord, RecordText]]) -> list[EvidenceSource]:
        """The sources of these records, known or newly numbered, up to `sources_max` in all."""
        sources: list[EvidenceSource] = []
        best = 0.0
        for ranked, text in records:
            best = best or ranked.score
            source = self._by_key.get(text.key)
            if source is None and len(self.sources) < self.sources_max:
                share = ranked.score / best if best else 1.0
                source = EvidenceSource(len(self.sources) + 1, text, ranked.similarity, share)
                self.sources.append(source)
                self._by_key[text.key] = source
            if source is not None:
                sources.append(source)
        return sources

    def add_texts(self, texts: Iterable[RecordText]) -> list[EvidenceSource]:
        """The sources for records that were read by their ids."""
        return self.add((RankedRecord(text.key, 1.0), text) for text in texts)


def aggregation_of(results: Sequence[QueryResult]) -> AggregationEvent | None:
    """The event for the first query with numbers; None where no query has any."""
    results_asked = (each for each in results if each.query.last.aggregate)
    return next(map(_event, results_asked), None)


def _event(result: QueryResult) -> AggregationEvent:
    filters = {chip.pointer: chip.label for chip in result.filters}
    return AggregationEvent(**reckoned(result), filters=filters, query=result.query, sentence=result.sentence)


ROWS_RANKED = 4_000
"""Rows that one search ranks by their words, shared by its arms; more for a query of few words (text_candidates)."""
ROWS_RANKED_MIN = 500
"""Rows of each arm at least: on judged collections they hold 99 % of the first hundred of a ranking of all rows."""


class TypeSearch(NamedTuple):
    """One type searched for some words, among the records that meet the conditions. `is_apart`: the question gave these.
    `fitting` are the keys of these records, where they are known; `fits_many`: they are not, but there are many.
    """

    type: SearchedType
    query: str
    conditions: Sequence[Condition] = ()
    is_apart: bool = False
    fitting: Sequence[str] | None = None
    fits_many: bool = False


async def with_fitting(database: Database, arms: Sequence[TypeSearch]) -> list[TypeSearch]:
    """The arms with the keys of the records that meet their conditions, where these are few, in one round trip."""
    reads = [arm.type.fitting(arm.conditions) for arm in arms]
    statements = [*dict.fromkeys(each for each in reads if isinstance(each, str))]
    selects = [
        SQL("select {} as place, s.keys from ({}) s").format(Literal(place), SQL(each))
        for place, each in enumerate(statements)
    ]
    rows = await database.acting(SERIAL).rows(SQL(" union all ").join(selects)) if selects else []
    keys = {statements[row["place"]]: row["keys"] for row in rows}
    keys_by_arm = [keys[each] if isinstance(each, str) else each.keys if each else None for each in reads]
    return [
        arm if statement is None else arm._replace(fitting=fitting, fits_many=fitting is None)
        for arm, statement, fitting in zip(arms, reads, keys_by_arm, strict=True)
    ]


async def find_candidates(
    database: Database,
    arms: Sequence[TypeSearch],
    *,
    vector: Sequence[float] | None,
    depth: int,
    is_strict: bool = False,
    reads_english_alone: bool = False,
) -> list[RecordCandidate]:
    """Of each arm the `depth` best candidates by words and as many by meaning, in one round trip. Without a vector: by words
    alone. Phrases in quotes must hold where the search `is_strict`. What a word says is reckoned over all types that are
    searched in one language, so that scores of all arms are of one scale. A vector whose model `reads_english_alone` is compared
    with no row in another language: these are found by words alone.
    """
    arms = [each for each in arms if each.type.is_searched]
    if not arms:
        return []
    values = {
        "embedding": half_vector(vector) if vector is not None else None,
        "depth": depth,
        "rows": max(ROWS_RANKED_MIN, ROWS_RANKED // len(arms)),
    }
    rows = await _of_each_arm(
        database,
        arms,
        SQL(
            "hybrid_candidates({table}, {embeddings}, {words}, {vector}::halfvec, %(depth)s, {condition}, %(rows)s,"
            " p_fitting => {fitting}, p_fits_many => {fits_many})"
        ),
        values,
        is_strict=is_strict,
        reads_english_alone=reads_english_alone,
    )
    has_meaning = [arm.type.has_meaning for arm in arms]
    return [
        RecordCandidate(
            row["type"],
            row["id"],
            row["text_score"],
            row["similarity"],
            arms[row["arm"]].is_apart,
            by_words_alone=vector is not None and not (row["by_meaning"] and has_meaning[row["arm"]]),
        )
        for row in rows
    ]


async def coverages(database: Database, arms: Sequence[TypeSearch]) -> dict[str, float]:
    """For each query of these arms, how much of its rarest words the best record holds, in one round trip. Queries that find
    nothing are left out.
    """
    arms = [each for each in arms if each.type.is_searched]
    if not arms:
        return {}
    function = SQL("hybrid_candidates({table}, {embeddings}, {words}, {vector}::halfvec, 1, {condition}, %(rows)s)")
    values = {"embedding": None, "rows": ROWS_RANKED_MIN}
    arms = await with_fitting(database, arms)
    best: dict[str, float] = {}
    for row in await _of_each_arm(database, arms, function, values, is_strict=False):
        query = arms[row["arm"]].query
        best[query] = max(best.get(query, 0.0), row["coverage"] or 0.0)
    return best


class Count(NamedTuple):
    """How many records of a type are found; there may be more where it `is_capped`."""

    rows: int
    is_capped: bool = False

    @classmethod
    def up_to(cls, limit: int, rows: int, is_capped: bool = False) -> Self:
        return cls(min(rows, limit), is_capped or rows > limit)


async def count_matches(
    database: Database,
    arms: Sequence[TypeSearch],
    ids: Mapping[RecordType, Sequence[str]],
    limit: int,
    *,
    is_strict: bool = False,
) -> dict[RecordType, Count]:
    """How many records the arms find by their words, and those of `ids`, by type; each is counted once, and of a type at most
    `limit`.
    """
    arms = [each for each in arms if each.type.is_searched]
    values = {"limit": limit} | {f"found_{arm.type.name}": list(ids.get(arm.type.name, ())) for arm in arms}
    function = SQL("count_candidates({table}, {words}, {condition}, %(limit)s, {found}, {fitting})")
    counts: dict[RecordType, Count] = {}
    for row in await _of_each_arm(database, arms, function, values, is_strict=is_strict) if arms else ():
        before = counts.get(row["type"], Count(0))
        counts[row["type"]] = Count.up_to(limit, before.rows + row["rows"], before.is_capped or row["is_capped"])
    return counts


async def _of_each_arm(
    database: Database,
    arms: Sequence[TypeSearch],
    function: SQL,
    values: dict[str, Any],
    *,
    is_strict: bool,
    reads_english_alone: bool = False,
) -> list[DictRow]:
    """The rows of a function for each arm's words and condition, and whether it searched by meaning.
    Words are weighed over all types that are read in one language.
    """
    searches = [each for place, arm in enumerate(arms) for each in _searches(place, arm)]
    readings = list(dict.fromkeys(each.reading for each in searches))
    values = values | {"strict": is_strict}
    for place, (query, language) in enumerate(readings):
        values[f"query_{place}"] = query
        values[f"language_{place}"] = language
        in_it = [each for each in searches if each.reading[1] == language]
        others = [each for each in searches if each.reading[1] != language]
        values[f"tables_{place}"], values[f"seen_{place}"] = word_tables(each.arm.type for each in in_it)
        values[f"others_{place}"], values[f"others_seen_{place}"] = word_tables(each.arm.type for each in others)
        values[f"other_languages_{place}"] = list(dict.fromkeys(each.reading[1] for each in others))
    calls: list[Composed] = []
    for place, search in enumerate(searches):
        by_meaning = search.language in (None, ENGLISH) or not reads_english_alone
        reading = readings.index(search.reading)
        call = search.call(function, place, reading, by_meaning=by_meaning, values=values)
        start = SQL("select {} as arm, {} as type, {} as by_meaning, c.* from asked, ").format(
            Literal(search.place), Literal(search.arm.type.name), Literal(by_meaning)
        )
        calls.append(SQL("{}{} c").format(start, call))
    return await database.rows(
        SQL("with asked as materialized (select {}) ").format(_weighed(len(readings))) + SQL(" union all ").join(calls),
        values,
    )


def _weighed(readings: int) -> Composed:
    """The words of each of the readings of the query, weighed. The parameters of a reading end with its number."""
    parameters = ("tables", "query", "language", "others", "other_languages", "seen", "others_seen")
    return SQL(", ").join(
        SQL(
            "weigh_query({}, {}, %(strict)s, p_language => {}::regconfig, p_others => {}, p_other_languages => {}::regconfig[],"
            " p_seen => {}, p_others_seen => {}) as {}"
        ).format(*(Placeholder(f"{name}_{place}") for name in parameters), Identifier(f"asked_{place}"))
        for place in range(readings)
    )


def word_tables(types: Iterable[SearchedType]) -> tuple[list[str], list[str | None]]:
    """The tables with the words of some types, each once, and for each the condition of the rows that the caller may see."""
    conditions = {each.rows: each.visible for each in types}
    return [*conditions], [*conditions.values()]


class _ArmSearch(NamedTuple):
    """The arm at `place`, and the language that it is searched in; None: as our own tables are."""

    place: int
    arm: TypeSearch
    language: str | None

    @property
    def reading(self) -> tuple[str, str | None]:
        """The words, and the language that they are read in. Without accents, English is read alike in every table."""
        query, language = self.arm.query, self.language
        return query, None if language == ENGLISH and query.isascii() else language

    @property
    def condition(self) -> Composable | None:
        """The condition on a row `t`; None for any row, and where the rows that meet it are known."""
        if self.arm.fitting is not None:
            return None
        condition_ = self.arm.type.condition(self.arm.conditions)
        if not self.arm.type.tells_language:
            return condition_
        of_language = SQL("t.language = {}").format(Literal(self.language))
        return SQL("{} and ({})").format(of_language, condition_) if condition_ is not None else of_language

    def call(self, function: SQL, place: int, reading: int, *, by_meaning: bool, values: dict[str, Any]) -> Composed:
        """The call of a function for its words, which are those of a reading, and its condition. Adds its parameters to `values`;
        their names end with its `place`.
        """
        null, condition, fitting = SQL("null"), self.condition, self.arm.fitting
        if condition is not None:
            values[f"filter_{place}"] = condition.as_string(None)
        if fitting is not None:
            values[f"fitting_{place}"] = array_of_texts(fitting)
        return function.format(
            table=Literal(self.arm.type.rows),
            embeddings=Literal(self.arm.type.windows),
            vector=Placeholder("embedding") if by_meaning else null,
            words=Identifier(f"asked_{reading}"),
            condition=Placeholder(f"filter_{place}") if condition is not None else null,
            found=Placeholder(f"found_{self.arm.type.name}"),
            fitting=SQL("{}::text[]").format(Placeholder(f"fitting_{place}")) if fitting is not None else null,
            fits_many=Literal(self.arm.fits_many),
        )


def _searches(place: int, arm: TypeSearch) -> Iterator[_ArmSearch]:
    for language in arm.type.languages:
        yield _ArmSearch(place, arm, language)


async def ids_meeting(
    database: Database, conditions: Mapping[SearchedType, Sequence[Condition]], limit: int
) -> dict[RecordType, list[str]]:
    """Records of each type that meet its conditions, latest first, `limit` of a type at most."""
    return {
        each.name: await Filtered(each.table, type_conditions).keys(database, limit)
        for each, type_conditions in conditions.items()
    }


_NO_LANGUAGE: LiteralString = "null"
COMPARED_CHARACTERS_MAX = 2_000
"""The beginning of a record that is compared with others."""


async def describe(
    database: Database, keys: Sequence[RecordKey], types: RecordTypes, query: str = ""
) -> dict[RecordKey, RecordText]:
    """The texts of the named records that the caller may see, in the order of `keys`, with snippets for `query`."""
    # the query is read once for each language, not for each record
    rows = await _of_keys(
        database,
        keys,
        {each.name: (each.text, each.row_language) for each in types.values()},
        ", asked as materialized (select l.language, (read_query(%(query)s, l.language)).words[:16] as words"
        " from (select distinct s.language from seen s) l)"
        " select s.type, s.id, s.title, s.body, s.topic, s.author, s.date, s.meeting_id, s.url,"
        " record_snippet(s.body, a.words, s.language) as snippet"
        " from seen s join asked a on a.language is not distinct from s.language order by s.place",
        query=query,
    )
    texts = (
        RecordText(
            **_row_for_readers(row, ("title", "body", "topic", "author", "snippet")),
            quoting=types[row["type"]].quoting,
            language=types[row["type"]].table.language,
        )
        for row in rows
    )
    return {text.key: text for text in texts}


def _row_for_readers(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """A row with the texts of these names as readers see them, since citations count their characters. Ids and values that
    clients filter by stay as they are, since clients send them back.
    """
    return {**row, **{name: visible_value(row[name]) for name in names if name in row}}


async def dates_of(database: Database, keys: Sequence[RecordKey], types: RecordTypes) -> dict[RecordKey, datetime.date]:
    """The dates of the named records that have one and that the caller may see."""
    selects = {each.name: (each.text, _NO_LANGUAGE) for each in types.values()}
    rows = await _of_keys(database, keys, selects, " select s.type, s.id, s.date from seen s where s.date is not null")
    return {(row["type"], row["id"]): row["date"] for row in rows}


async def own_texts(database: Database, keys: Sequence[RecordKey], types: RecordTypes) -> dict[RecordKey, str]:
    """The title and texts of each named record that the caller may see. Of a long one it is the beginning with a digest of the
    whole, so that two are the same only if all of their text is.
    """
    rows = await _of_keys(
        database,
        keys,
        {each.name: (each.own_text, _NO_LANGUAGE) for each in types.values()},
        " select s.type, s.id, left(s.own_text, %(longest)s)"
        " || case when length(s.own_text) > %(longest)s then ' ' || md5(s.own_text) else '' end as own_text from seen s",
        longest=COMPARED_CHARACTERS_MAX,
    )
    return {(row["type"], row["id"]): row["own_text"] for row in rows}


async def _of_keys(
    database: Database,
    keys: Sequence[RecordKey],
    selects: Mapping[RecordType, tuple[LiteralString, LiteralString]],
    rest: LiteralString,
    **values: Any,
) -> list[DictRow]:
    """The rows of a statement over the named records. In `rest` they are `seen`: what `selects` has for their type, and their
    language.
    """
    names = {name for name, _ in keys}
    own_selects = {name: own for name, own in selects.items() if name in names}
    if not own_selects:
        return []
    visible = [
        SQL(
            "select k.place, r.*, ({})::regconfig as language from keys k cross join lateral ({} offset 0) r"
            " where k.type = any({})"
        ).format(
            SQL(language),
            SQL(select),
            Literal([name for name, own in own_selects.items() if own == (select, language)]),
        )
        for select, language in dict.fromkeys(own_selects.values())
    ]
    statement = SQL(
        "with keys as materialized ("
        "select * from unnest(%(types)s::text[], %(ids)s::text[]) with ordinality k (type, id, place)), seen as ({})"
    ).format(SQL(" union all ").join(visible)) + SQL(rest)
    parameters = {"types": [name for name, _ in keys], "ids": [id for _, id in keys], **values}
    return await database.rows(statement, parameters)


async def whole_record(database: Database, type: SearchedType, record_id: str) -> WholeRecord:
    """A record with its title, all its columns and what it is part of. Raises NotFound, also for what the caller may not see."""
    query = SQL("select w.* from (select %s::text as id) k cross join lateral ({} offset 0) w").format(SQL(type.whole))
    try:
        row = await database.row(query, [record_id])
    except DataError:
        # no row of that table can have such a key
        row = None
    if row is None:
        raise NotFound(gettext("There is no {type} with this id.", type=type.name.replace("_", " ")))
    whole = exact(_row_for_readers(row, ("title", "fields", "meeting")))
    return WholeRecord(type=type.name, id=record_id, texts=list(type.texts), **whole)


async def describe_collections(caller: Caller, services: Services) -> Collections:
    """All types of record, in their order, and the other sources that a caller may ask. Raises DatabaseUnavailable."""
    types, _ = await acting_for(caller, services)
    sources = await describe_sources(caller, services)
    return Collections(
        collections=[_collection(each, sources.get(name)) for name, each in types.items()],
        sources=[source for name, source in sources.items() if name not in types.whole],
        degraded=types.degraded(),
    )


def _collection(type: SearchedType, source: SourceDescription | None) -> Collection:
    return Collection(
        name=type.name,
        label=type.label,
        description=type.description[0].upper() + type.description[1:],
        facets=[
            CollectionFacet(name=each.name, kind=each.facet or "value", label=each.label, currency=each.currency)
            for each in type.facets
        ],
        date=type.table.dated,
        language=_code(type.table.languages or (ENGLISH,)),
        left_out=source.left_out if source else None,
        fields=source.fields if source else [],
        related=source.related if source else [],
        measures=source.measures if source else None,
    )


def _code(read_by: Sequence[str]) -> str | None:
    """The code of the one language of these text search configurations."""
    language = languages().get(read_by[0]) if len(read_by) == 1 else None
    return language.code if language else None


async def read_record(type: RecordType, record_id: str, caller: Caller, services: Services) -> WholeRecord:
    """One whole record. Raises InvalidInput for a type that there is not, NotFound, SourceUnavailable and DatabaseUnavailable."""
    types, services = await acting_for(caller, services)

    async def whole_of(types: RecordTypes) -> WholeRecord:
        [type_] = types.by_names([type])
        whole = await whole_record(services.reader, type_, record_id)
        texts = await describe(services.reader, [(type_.name, record_id)], types)
        return whole.model_copy(update={"text": next((text.body for text in texts.values()), None)})

    return await skipping_broken_collections(types, services.memory, whole_of)
