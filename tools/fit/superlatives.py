"""Questions for the most or least of what they do not name ("the oldest vehicle"), made from schemas and rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping

from psycopg import Error as DatabaseError
from pydantic import ValidationError

from quarry.platform.errors import InvalidInput
from quarry.reader.names import FieldName, SourceName, names_of
from quarry.schema.algebra import Direction, Query
from tools.fit.pairs import Pair
from tools.fit.training import Fit
from tools.fit.world import Database

HIGHEST_LOWEST: Mapping[str, tuple[str, str]] = {
    "weight": ("heaviest", "lightest"), "height": ("tallest", "shortest"), "length": ("longest", "shortest"),
    "duration": ("longest", "shortest"), "runtime": ("longest", "shortest"), "hours": ("longest", "shortest"),
    "minutes": ("longest", "shortest"), "price": ("most expensive|dearest|priciest", "cheapest|least expensive"),
    "cost": ("most expensive|costliest", "cheapest|least costly"), "fee": ("most expensive", "cheapest"),
    "rent": ("most expensive|dearest", "cheapest"), "charge": ("most expensive", "cheapest"),
    "rate": ("most expensive", "cheapest"), "salary": ("best paid|highest paid", "worst paid|lowest paid"),
    "wage": ("best paid", "worst paid"), "income": ("richest", "poorest"), "age": ("oldest|eldest", "youngest"),
    "size": ("biggest|largest", "smallest"), "area": ("biggest|largest", "smallest"),
    "population": ("most populous|biggest|largest", "smallest|least populous"), "capacity": ("biggest|largest", "smallest"),
    "seats": ("biggest|largest", "smallest"), "employees": ("biggest|largest", "smallest"),
    "budget": ("biggest|largest", "smallest"), "speed": ("fastest|quickest", "slowest"),
    "rating": ("best|best rated|top rated", "worst|worst rated"), "score": ("best|top", "worst"),
    "stars": ("best rated", "worst rated"), "points": ("best", "worst"), "distance": ("farthest|furthest", "nearest|closest"),
    "depth": ("deepest", "shallowest"), "width": ("widest", "narrowest"), "temperature": ("hottest|warmest", "coldest"),
    "attendance": ("best attended", "worst attended"), "views": ("most viewed", "least viewed"),
    "gewicht": ("schwerste", "leichteste"), "preis": ("teuerste", "billigste|günstigste"), "kosten": ("teuerste", "günstigste"),
    "miete": ("teuerste", "billigste"), "alter": ("älteste", "jüngste"), "flaeche": ("größte", "kleinste"),
    "groesse": ("größte", "kleinste"), "dauer": ("längste", "kürzeste"), "prix": ("plus cher", "moins cher"),
    "poids": ("plus lourd", "plus léger"),
}  # fmt: skip
"""What people call the highest and the lowest, by words of the names of numbers."""
BORN = ("born", "birth", "dob", "geb")
BORN_WORDS = ("youngest", "oldest|eldest")
DATE_WORDS = ("latest|most recent|newest|last", "earliest|oldest|first")
YEAR_WORDS = ("newest|latest|most recent", "oldest|earliest")
OF_ONE = (
    "Which {one} is the {most}?", "the {most} {one}", "{most} {one}", "what is the {most} {one}", "show me the {most} {one}",
    "name the {most} {one}", "which {one} is {most}", "what's our {most} {one}?", "{most} {one} please", "find the {most} {one}",
)  # fmt: skip
OF_SEVERAL = ("the {number} {most} {several}", "{number} {most} {several}", "which {number} {several} are the {most}")
NUMBERS = (1, 1, 1, 1, 2, 3)
PER_SOURCE_MAX = 2


def superlatives_of(fit: Fit, pair: Pair) -> list[Pair]:
    """Superlatives over the database of a pair, the same ones each time."""
    database, chosen = fit.world.database(pair.database), random.Random(pair.database)  # noqa: S311 - nothing secret
    found: list[Pair] = []
    for source in names_of(database.schema).sources.values():
        most = list(_most(source))
        chosen.shuffle(most)
        for each, direction, words in most[:PER_SOURCE_MAX]:
            number, word = chosen.choice(NUMBERS), chosen.choice(words.split("|"))
            query = _query(source, each, direction)
            question = _question(database.schema.sources[source.name].nouns[:1], source, word, number, chosen)
            if _is_clear(database, query, number):
                kept = json.dumps({**query, "select": [source.title.name], "limit": number})
                found.append(Pair(pair.database, question, None, kind="extreme", query=kept))
    return found


def _most(source: SourceName) -> Iterator[tuple[FieldName, Direction, str]]:
    """The numbers and dates that one may speak of without their names, each way, with the words for it."""
    dates = [each for each in source.columns if each.is_date and not _is_birth(each)]
    said: dict[tuple[str, str], list[FieldName]] = {}
    for each in source.columns:
        words = _words(each)
        if words is not None and (each not in dates or each is source.dated or len(dates) == 1):
            said.setdefault(words, []).append(each)
    for (highest, lowest), fields in said.items():
        if len(fields) == 1:
            yield fields[0], "desc", highest
            yield fields[0], "asc", lowest


def _words(each: FieldName) -> tuple[str, str] | None:
    if each.is_date:
        return BORN_WORDS if _is_birth(each) else DATE_WORDS
    if each.kind == "year":
        return YEAR_WORDS
    parts = each.name.lower().replace(" ", "_").split("_")
    named = (words for part, words in HIGHEST_LOWEST.items() if part in parts or f"{part}s" in parts)
    return next(named, None) if each.is_amount else None


def _is_birth(each: FieldName) -> bool:
    return any(part in each.name.lower() for part in BORN)


def _query(source: SourceName, each: FieldName, direction: Direction) -> dict[str, object]:
    return {
        "source": source.name, "select": [source.title.name, each.name],
        "where": [{"field": each.name, "op": "not_null"}], "order": [{"by": each.name, "direction": direction}],
    }  # fmt: skip


def _question(nouns: tuple[str, ...], source: SourceName, word: str, number: int, chosen: random.Random) -> str:
    noun = (nouns[0] if nouns else source.name).replace("_", " ")
    one = noun.removesuffix("s") if not noun.endswith("ss") else noun
    form = chosen.choice(OF_ONE if number == 1 else OF_SEVERAL)
    said = chosen.choice({1: ("1",), 2: ("2", "two"), 3: ("3", "three")}[number])
    return form.format(one=one, several=f"{one}s", most=word, number=said)


def _is_clear(database: Database, query: dict[str, object], number: int) -> bool:
    """Whether that many rows have names and no other row ties with the last."""
    try:
        rows = database.rows(Query.model_validate({**query, "limit": number + 1}))
    except (InvalidInput, ValidationError, DatabaseError):
        return False
    return len(rows) > number and rows[number - 1][1] != rows[number][1] and all(row[0] for row in rows)
