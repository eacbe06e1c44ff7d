"""Records out of Postgres: candidates, counts and texts, of what the caller may see. Nothing is decided here."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, Self

from psycopg import DataError
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal, Placeholder

from quarry.collections.collection import ENGLISH
from quarry.platform.errors import NotFound
from quarry.platform.text import shown
from quarry.postgres.adapters import half_vector
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.query.of_table import Filtered
from quarry.records.collections_contract import WholeRecord
from quarry.records.contract import RecordKey, RecordType
from quarry.records.evidence import Candidate, RecordText
from quarry.records.searched_types import RecordTypes, SearchedType

ROWS_RANKED = 4_000
"""So many rows are ranked by their words in one search, shared by its arms; of a query of few words more (text_candidates)."""
ROWS_RANKED_MIN = 500
"""So many of each arm at least: of judged collections these hold 99 % of what ranking all rows finds in its first hundred."""


@dataclass(frozen=True)
class Arm:
    """One type searched for some words, among the records that meet the conditions. `is_apart`: the question gave these."""

    type: SearchedType
    query: str
    conditions: Sequence[Condition] = ()
    is_apart: bool = False


async def find_candidates(
    database: Database,
    arms: Sequence[Arm],
    *,
    vector: Sequence[float] | None,
    depth: int,
    is_strict: bool = False,
    reads_english_alone: bool = False,
) -> list[Candidate]:
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
        SQL("hybrid_candidates({table}, {embeddings}, {words}, {vector}::halfvec, %(depth)s, {condition}, %(rows)s)"),
        values,
        is_strict=is_strict,
        reads_english_alone=reads_english_alone,
    )
    return [
        Candidate(
            row["type"],
            row["id"],
            row["text_score"],
            row["similarity"],
            arms[row["arm"]].is_apart,
            by_words_alone=vector is not None and not (row["by_meaning"] and arms[row["arm"]].type.has_meaning),
        )
        for row in rows
    ]


async def coverages(database: Database, arms: Sequence[Arm]) -> dict[str, float]:
    """How much of the words that say most the best record holds, for each query of these arms, in one round trip; of a query that
    finds nothing, nothing.
    """
    arms = [each for each in arms if each.type.is_searched]
    if not arms:
        return {}
    function = SQL("hybrid_candidates({table}, {embeddings}, {words}, {vector}::halfvec, 1, {condition}, %(rows)s)")
    values = {"embedding": None, "rows": ROWS_RANKED_MIN}
    best: dict[str, float] = {}
    for row in await _of_each_arm(database, arms, function, values, is_strict=False):
        query = arms[row["arm"]].query
        best[query] = max(best.get(query, 0.0), row["coverage"] or 0.0)
    return best


@dataclass(frozen=True)
class Count:
    """How many records of a type are found; `is_capped`: there may be more than these, which were counted."""

    rows: int
    is_capped: bool = False

    @classmethod
    def up_to(cls, limit: int, rows: int, is_capped: bool = False) -> Self:
        return cls(min(rows, limit), is_capped or rows > limit)


async def count_found(
    database: Database,
    arms: Sequence[Arm],
    found: Mapping[RecordType, Sequence[str]],
    limit: int,
    *,
    is_strict: bool = False,
) -> dict[RecordType, Count]:
    """How many records the arms find by their words, and those of `found`, by type; each is counted once, and of a type at most
    `limit`.
    """
    arms = [each for each in arms if each.type.is_searched]
    values = {"limit": limit} | {f"found_{arm.type.name}": list(found.get(arm.type.name, ())) for arm in arms}
    function = SQL("count_candidates({table}, {words}, {condition}, %(limit)s, {found})")
    counts: dict[RecordType, Count] = {}
    for row in await _of_each_arm(database, arms, function, values, is_strict=is_strict) if arms else ():
        before = counts.get(row["type"], Count(0))
        counts[row["type"]] = Count.up_to(limit, before.rows + row["rows"], before.is_capped or row["is_capped"])
    return counts


async def _of_each_arm(
    database: Database,
    arms: Sequence[Arm],
    function: SQL,
    values: dict[str, Any],
    *,
    is_strict: bool,
    reads_english_alone: bool = False,
) -> list[DictRow]:
    """The rows that a function gives for each arm, of its words and its condition, and whether they were looked for by meaning.
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
        values[f"tables_{place}"], values[f"seen_{place}"] = tables_seen(each.arm.type for each in in_it)
        values[f"others_{place}"], values[f"others_seen_{place}"] = tables_seen(each.arm.type for each in others)
        values[f"other_languages_{place}"] = list(dict.fromkeys(each.reading[1] for each in others))
    calls: list[Composed] = []
    for place, search in enumerate(searches):
        condition = search.condition
        by_meaning = search.language in (None, ENGLISH) or not reads_english_alone
        if condition is not None:
            values[f"filter_{place}"] = condition.as_string(None)
        called = function.format(
            table=Literal(search.arm.type.rows),
            embeddings=Literal(search.arm.type.windows),
            vector=Placeholder("embedding") if by_meaning else SQL("null"),
            words=Identifier(f"asked_{readings.index(search.reading)}"),
            condition=Placeholder(f"filter_{place}") if condition is not None else SQL("null"),
            found=Placeholder(f"found_{search.arm.type.name}"),
        )
        calls.append(
            SQL("select {} as arm, {} as type, {} as by_meaning, c.* from asked, ").format(
                Literal(search.place), Literal(search.arm.type.name), Literal(by_meaning)
            )
            + called
            + SQL(" c")
        )
    return await database.rows(
        SQL("with asked as materialized (select {}) ").format(_weighed(len(readings))) + SQL(" union all ").join(calls),
        values,
    )


def _weighed(readings: int) -> Composed:
    """The words of so many readings of the query, weighed; parameters of each have its number behind their names."""
    parameters = ("tables", "query", "language", "others", "other_languages", "seen", "others_seen")
    return SQL(", ").join(
        SQL(
            "weigh_query({}, {}, %(strict)s, p_language => {}::regconfig, p_others => {}, p_other_languages => {}::regconfig[],"
            " p_seen => {}, p_others_seen => {}) as {}"
        ).format(*(Placeholder(f"{name}_{place}") for name in parameters), Identifier(f"asked_{place}"))
        for place in range(readings)
    )


def tables_seen(types: Iterable[SearchedType]) -> tuple[list[str], list[str | None]]:
    """The tables of words of some types, each once, and for each what is true of its rows that the caller may see."""
    seen = {each.rows: each.seen for each in types}
    return [*seen], [*seen.values()]


@dataclass(frozen=True)
class _Search:
    """The arm at `place`, and the language that it is searched in; None: as our own tables are."""

    place: int
    arm: Arm
    language: str | None

    @property
    def reading(self) -> tuple[str, str | None]:
        """The words, and the language that they are read in. Without accents, English is read alike in every table."""
        query, language = self.arm.query, self.language
        return query, None if language == ENGLISH and query.isascii() else language

    @property
    def condition(self) -> Composable | None:
        """What is asked of a row `t`; None where it may be any."""
        asked = self.arm.type.condition(self.arm.conditions)
        if not self.arm.type.tells_language:
            return asked
        of_language = SQL("t.language = {}").format(Literal(self.language))
        return SQL("{} and ({})").format(of_language, asked) if asked is not None else of_language


def _searches(place: int, arm: Arm) -> Iterator[_Search]:
    for language in arm.type.languages:
        yield _Search(place, arm, language)


async def ids_meeting(
    database: Database, conditions: Mapping[SearchedType, Sequence[Condition]], limit: int
) -> dict[RecordType, list[str]]:
    """Records of each type that meet its conditions, latest first, `limit` of a type at most."""
    return {each.name: await Filtered(each.table, given).keys(database, limit) for each, given in conditions.items()}


async def latest_records(
    database: Database,
    types: RecordTypes,
    limit: int,
    *,
    among: Sequence[SearchedType],
    given: Sequence[Condition] = (),
) -> list[RecordText]:
    """The latest `limit` records that meet the conditions, `among` these types: of the one whose titles others have for topics;
    where there is none, of the first. `types` are all that the caller may see.
    """
    topical = next((each for each in among if each.is_topic), None) or next(iter(among), None)
    if topical is None:
        return []
    ids = await ids_meeting(database, {topical: given}, limit)
    return await describe(database, [(topical.name, id) for id in ids[topical.name]], types, "")


SAID_MAX_CHARACTERS = 2_000
"""So much of what a record says is compared with what others say."""


async def describe(database: Database, keys: Sequence[RecordKey], types: RecordTypes, query: str) -> list[RecordText]:
    """The texts of the named records, in the order of `keys`, with snippets for `query`; without what the caller may not see."""
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return []
    rows = await database.rows(
        texts_query(of_keys),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys], "query": query},
    )
    return [
        RecordText(
            **_shown(row, ("title", "body", "topic", "author", "snippet")),
            quoting=types[row["type"]].quoting,
            language=types[row["type"]].table.language,
        )
        for row in rows
    ]


def _shown(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """A row whose texts of these names are as readers see them: places that citations tell are counted in those texts. Ids and
    values that clients filter by stay as they are, since they come back.
    """
    return {**row, **{name: shown(row[name]) for name in names if name in row}}


def texts_query(types: Sequence[SearchedType]) -> Composed:
    """Selects the texts of records by the parameters `types` and `ids`, with snippets for `query`."""
    # the query is read once for each language, not for each record
    return _of_keys({each.name: (each.text, each.row_language) for each in types}) + SQL(
        ", asked as materialized (select l.language, (read_query(%(query)s, l.language)).words[:16] as words"
        " from (select distinct s.language from seen s) l)"
        " select s.type, s.id, s.title, s.body, s.topic, s.author, s.date, s.meeting_id, s.url,"
        " record_snippet(s.body, a.words, s.language) as snippet"
        " from seen s join asked a on a.language is not distinct from s.language order by s.place"
    )


async def dates_of(database: Database, keys: Sequence[RecordKey], types: RecordTypes) -> dict[RecordKey, datetime.date]:
    """The dates of the named records, without those that have none and what the caller may not see."""
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return {}
    rows = await database.rows(
        _of_keys({each.name: (each.text, "null") for each in of_keys})
        + SQL(" select s.type, s.id, s.date from seen s where s.date is not null"),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys]},
    )
    return {(row["type"], row["id"]): row["date"] for row in rows}


async def what_they_say(database: Database, keys: Sequence[RecordKey], types: RecordTypes) -> dict[RecordKey, str]:
    """The title and texts of each of the named records, without what the caller may not see. Of a long one stands the beginning,
    with a digest of the whole behind it: these say the same only if all of it is the same.
    """
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return {}
    rows = await database.rows(
        _of_keys({each.name: (each.said, "null") for each in of_keys})
        + SQL(
            " select s.type, s.id, left(s.said, %(longest)s)"
            " || case when length(s.said) > %(longest)s then ' ' || md5(s.said) else '' end as said from seen s"
        ),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys], "longest": SAID_MAX_CHARACTERS},
    )
    return {(row["type"], row["id"]): row["said"] for row in rows}


def _of_keys(selects: Mapping[RecordType, tuple[LiteralString, LiteralString]]) -> Composed:
    """The beginning of a statement: `seen` is what these select of the records that the parameters `types` and `ids` name, and
    the language of each.
    """
    seen = [
        SQL(
            "select k.place, r.*, ({})::regconfig as language from keys k cross join lateral ({} offset 0) r"
            " where k.type = any({})"
        ).format(
            SQL(language), SQL(select), Literal([name for name, own in selects.items() if own == (select, language)])
        )
        for select, language in dict.fromkeys(selects.values())
    ]
    return SQL(
        "with keys as materialized ("
        "select * from unnest(%(types)s::text[], %(ids)s::text[]) with ordinality k (type, id, place)), seen as ({})"
    ).format(SQL(" union all ").join(seen))


async def whole_record(database: Database, type: SearchedType, record_id: str) -> WholeRecord:
    """A record with its title, all its columns and what it is part of. Raises NotFound, also for what the caller may not see."""
    query = SQL("select w.* from (select %s::text as id) k cross join lateral ({} offset 0) w").format(SQL(type.whole))
    try:
        row = await database.row(query, [record_id])
    except DataError:
        # of no such key is a row of that table
        row = None
    if row is None:
        raise NotFound(f"There is no {type.name.replace('_', ' ')} with this id.")
    return WholeRecord(
        type=type.name, id=record_id, texts=list(type.texts), **_shown(row, ("title", "fields", "meeting"))
    )
