"""Fits the probability that records answer a question, and prints how good it is on held-out collections.

    python -m tools.fit.answerability --features FILE [--prose tests/pairs/prose] [--cache FOLDER] [--write]

The collections are the sample and those of PROSE that the pair model was not trained on. Each is asked its own questions, the
follow-up questions that the product would suggest about its records, and questions of other collections, which it cannot
answer. Each collection is held out in turn; the weights that `--write` puts into the package are fitted to all. Measured
features are saved in FILE and reused in the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

import quarry.records
from quarry.collections.declaration_parts import Quoting
from quarry.local.data import load_sample, sample_directory
from quarry.local.database import LocalDatabase
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.budget import Budget
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS, Settings
from quarry.platform.text import shorten, significant_words
from quarry.postgres.migrate import migrate
from quarry.reader.features import chance_of
from quarry.records.finding import SearchToolset
from quarry.records.passages import (
    BY_MEANING,
    BY_WORDS,
    WEIGHTS_FILE,
    Features,
    features_of,
    question_words_of,
    read_sentences,
    select_quotes,
)
from quarry.records.reading import read_records
from quarry.records.retrieval import RecordText, describe, ids_meeting
from quarry.records.sources import RecordTypes, SearchedType, acting_for
from quarry.services.services import Caller, Services
from quarry_tools.judged import read_judged
from quarry_tools.measures import mentioned
from tools.evaluate_sets import DEFAULT_CACHE, PARAMETERS, find_sets, set_database
from tools.fit.logistic import logistic_regression
from tools.fit.sentences import HELD_OUT, read_prose

NOT_BY_WORDS = ("similarity", "similarity gap", "sentence share", "found", "asked", "answers", "answers gap")
"""Features that are left out if only words are known: the local model computes them, or chose what they describe."""
WEIGHTS = Path(quarry.records.__file__).parent / "weights" / WEIGHTS_FILE
SEEN_MIN = 10
"""Features with fewer questions are left out."""
SHRINKING = 1.0
OTHERS_QUESTIONS, OTHERS_TITLES_STEP = 6, 15
"""How many questions of other collections each is asked, and the step for asking about their titles, which are easy."""
PART_STEMS_MIN = 2
"""A part of a record that is called by fewer significant words ("Findings") is named with the whole."""
TOPIC_CHARACTERS_MAX = 90
SUGGESTED_RECORDS, SUGGESTED_QUESTIONS = 40, 5
"""How many records of each type are read, and how many follow-up questions about them are asked."""
REFUSED_ANSWERABLE, DOUBTED_ANSWERABLE = 0.04, 0.12
"""The share of answerable questions of held-out collections that may be refused, and doubted."""


@dataclass(frozen=True)
class Question:
    """A question on a collection, with the facts of a right answer or the relevant records; neither if it has no answer."""

    collection: str
    text: str
    is_answerable: bool
    mentions: Sequence[str] = ()
    relevant: Sequence[str] = ()


@dataclass(frozen=True)
class Seen:
    """The features of a question. `is_right`: a quoted sentence states a fact of a right answer, or its record is relevant;
    None if neither is known.
    """

    collection: str
    text: str
    is_answerable: bool
    is_right: bool | None
    features: Features


async def seen_of(question: Question, services: Services) -> Seen | None:
    """The features of a search for the question; None if it finds nothing."""
    types, services = await acting_for(Caller("fit"), services)
    with services.run("records", Caller("fit"), question.text, {}, Budget.without_model(60.0)) as run:
        reading = await read_records(Caller("fit"), services, types, question.text)
        toolset = SearchToolset(services, Caller("fit"), run, types.by_names(()), types, reading.access, reading)
        first = await toolset.search(question.text)
        if not first.ranked:
            return None
        said = [each for each in first.sources if each.text.author in reading.authors]
        found = await read_sentences(question.text, said or first.sources, services)
        asked = await question_words_of(question.text, first, toolset)
    quotes = select_quotes(found)
    is_right: bool | None = False if not question.is_answerable else None
    if question.mentions:
        is_right = any(mentioned(each.text, question.mentions) > 0 for each in quotes)
    elif question.relevant:
        is_right = any(":".join(each.source.text.key) in question.relevant for each in quotes)
    return Seen(question.collection, question.text, question.is_answerable, is_right, features_of(first, asked, found))


def weights_of(seen: Sequence[Seen], names: Sequence[str]) -> dict[str, float]:
    """A logistic regression of being answerable. A collection's answerable questions weigh as much as its others, since
    collections differ in how many of each they have.
    """
    written = Counter((each.collection, each.is_answerable) for each in seen)
    counts = [
        1.0 if each.is_answerable else written[each.collection, True] / written[each.collection, False] for each in seen
    ]
    rows, right = [each.features for each in seen], [each.is_answerable for each in seen]
    return logistic_regression(rows, right, names, shrinking=SHRINKING, counts=counts)


def names_of(seen: Sequence[Seen], *, by_meaning: bool) -> list[str]:
    """The features that occur often enough in several collections."""
    collections: dict[str, Counter[str]] = defaultdict(Counter)
    for each in seen:
        for name in each.features:
            collections[name][each.collection] += 1
    return sorted(
        name
        for name, counts in collections.items()
        if counts.total() >= SEEN_MIN and len(counts) > 1 and (by_meaning or name not in NOT_BY_WORDS)
    )


Rated = tuple[float, Seen]


def held_out(seen: Sequence[Seen], *, by_meaning: bool) -> list[Rated]:
    """Each question with its probability by weights fitted to the other collections."""
    rated: list[Rated] = []
    for collection in dict.fromkeys(each.collection for each in seen):
        others = [each for each in seen if each.collection != collection]
        weights = weights_of(others, names_of(others, by_meaning=by_meaning))
        rated += [(chance_of(weights, each.features), each) for each in seen if each.collection == collection]
    return rated


def judged_questions(name: str, path: Path) -> list[Question]:
    """The questions of a judged file. The reader handles those that ask for a number."""
    return [
        Question(name, each.query, each.answerable is not False, each.answer_mentions, list(each.relevant))
        for each in read_judged(path)
        if each.number is None
    ]


def asked_questions(path: Path) -> list[Question]:
    """The sample's questions, with the facts of a right answer."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Question("sample", each["query"], "answer_mentions" in each, each.get("answer_mentions", ())) for each in lines
    ]


def prose_questions(name: str, told: Mapping[str, Any]) -> list[Question]:
    """The questions of a small collection in one file."""
    answered = [Question(name, text, True, [fact]) for text, fact in told["answered"]]
    return answered + [Question(name, text, False) for text in told["unanswerable"]]


def write_prose(name: str, told: Mapping[str, Any], folder: Path) -> None:
    """Writes a small collection as a set that can be loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"{name}-{place}", "document_title": title, "body": body}
        for place, (title, body) in enumerate(told["records"], start=1)
    ]
    (folder / "document_sections.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "judged.jsonl").write_text("", encoding="utf-8")


def with_others(questions: Mapping[str, Sequence[Question]]) -> dict[str, list[Question]]:
    """The questions of each collection, plus some of others, which it cannot answer."""
    joined: dict[str, list[Question]] = {}
    for name, own in questions.items():
        others = [each for other, asked in questions.items() if other != name for each in asked if each.is_answerable]
        step = max(1, len(others) // OTHERS_QUESTIONS)
        joined[name] = [*own, *(Question(name, each.text, False) for each in others[::step])]
    return joined


def others_titles(name: str, prose: Mapping[str, Mapping[str, Any]]) -> Iterator[Question]:
    """The product's follow-up questions about records of other collections."""
    for other, told in prose.items():
        if other != name:
            yield from (Question(name, Quoting().followup.format(topic=title), False) for title, _ in told["records"])


def measure(given: argparse.Namespace) -> Iterator[Seen]:
    """The features of searches for all questions, one collection after another."""
    cache: Path = given.cache.absolute()
    prose = {name: told for name, told in read_prose(given.prose).items() if name in HELD_OUT}
    for name, told in prose.items():
        write_prose(name, told, cache / "prose" / name)
    questions = {name: prose_questions(name, told) for name, told in prose.items()}
    questions["sample"] = asked_questions(given.asked)
    for name in ("judged", "near_misses"):
        questions["sample"] += judged_questions("sample", sample_directory() / "records" / f"{name}.jsonl")
    asked = {
        name: [*own, *[*others_titles(name, prose)][::OTHERS_TITLES_STEP]]
        for name, own in with_others(questions).items()
    }
    with EmbeddedPostgres(cache / "postgres", parameters=PARAMETERS) as server:
        with _sample_database(server) as database:
            yield from asyncio.run(_seen_of_set("sample", asked["sample"], database))
        for set_ in find_sets(cache / "prose", [*prose]):
            with set_database(server, set_) as database:
                yield from asyncio.run(_seen_of_set(set_.name, asked[set_.name], database))


@contextmanager
def _sample_database(server: EmbeddedPostgres) -> Iterator[LocalDatabase]:
    """The sample in its own database."""
    name = "fitted_sample"
    url = f"{server.url().rsplit('/', 1)[0]}/{name}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        if connection.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
            connection.execute(SQL("create database {}").format(Identifier(name)))
    migrate(url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS)
    settings = Settings.from_environment({"DATABASE_URL": url, "EMBEDDINGS": "local"})
    database = LocalDatabase(settings, url)
    asyncio.run(_load_sample(database))
    yield database


async def _load_sample(database: LocalDatabase) -> None:
    async with database.services() as services:
        await load_sample(services.database, database.url, LocalEmbedding())


async def _seen_of_set(name: str, questions: Sequence[Question], database: LocalDatabase) -> list[Seen]:
    async with database.services() as services:
        found: list[Seen | None] = []
        asked = [*questions, *await suggested_questions(name, services)]
        for place, question in enumerate(asked, 1):
            found.append(await seen_of(question, services))
            if place % 20 == 0:
                print(f"{name}: {place} of {len(asked)}", file=sys.stderr, flush=True)
    return [each for each in found if each is not None]


async def suggested_questions(name: str, services: Services) -> list[Question]:
    """The follow-up questions about records of each type, which these records answer."""
    types, services = await acting_for(Caller("fit"), services)
    questions: list[Question] = []
    for each in types.by_names(()):
        records = await _latest_records(services, types, each)
        asked = dict.fromkeys(filter(None, map(question_about, records)))
        questions += [Question(name, text, True) for text in [*asked][:SUGGESTED_QUESTIONS]]
    return questions


async def _latest_records(services: Services, types: RecordTypes, of: SearchedType) -> list[RecordText]:
    """The latest records of a type, where its titles are the topics of others; else its first."""
    ids = await ids_meeting(services.reader, {of: ()}, SUGGESTED_RECORDS)
    return [*(await describe(services.reader, [(of.name, id) for id in ids[of.name]], types)).values()]


def question_about(text: RecordText) -> str | None:
    """A question that the record answers; None where its author or topic would be named, and is missing."""
    asked = text.quoting.followup
    if "{author}" in asked and not (text.author and text.topic):
        return None
    whole, _, part = text.title.partition(": ")
    if part and len(significant_words(part)) < PART_STEMS_MIN:
        part = f"{part} ({whole})"
    return asked.format(topic=_topic(_called(text)), title=_topic(part or _called(text)), author=text.author)


def _topic(title: str) -> str:
    """A title as it stands in a question."""
    return shorten(title.strip().rstrip(".?!"), TOPIC_CHARACTERS_MAX)


def _called(record: RecordText) -> str:
    """What a record is about: its topic or title, with its text where that is a number or a code."""
    name = record.topic or record.title
    is_code = all(any(map(str.isdigit, part)) for part in name.split())
    return f"{name}: {' '.join(record.body.split())}" if is_code else name


def fit(seen: Sequence[Seen], *, by_meaning: bool) -> tuple[dict[str, Any], list[Rated]]:
    """The weights and thresholds for one kind of model, and the probabilities of all questions while held out."""
    rated = held_out(seen, by_meaning=by_meaning)
    weights = weights_of(seen, names_of(seen, by_meaning=by_meaning))
    answerable = sorted(likely for likely, each in rated if each.is_answerable)
    return {
        "weights": {name: round(value, 4) for name, value in weights.items()},
        "refused_below": round(answerable[int(REFUSED_ANSWERABLE * len(answerable))], 4),
        "doubted_below": round(answerable[int(DOUBTED_ANSWERABLE * len(answerable))], 4),
    }, rated


def report(name: str, found: Mapping[str, Any], rated: Sequence[Rated]) -> Iterator[str]:
    """The shares of refused and doubted questions by collection."""
    yield f"{name}: refused below {found['refused_below']}, doubted below {found['doubted_below']}"
    for collection in dict.fromkeys(each.collection for _, each in rated):
        of_it = [(likely, each) for likely, each in rated if each.collection == collection]
        shares = [
            f"{sum(likely < found[bound] for likely in asked)}/{len(asked)}"
            for is_answerable in (False, True)
            for asked in [[likely for likely, each in of_it if each.is_answerable == is_answerable]]
            for bound in ("refused_below", "doubted_below")
        ]
        yield f"  {collection}: unanswerable refused {shares[0]}, doubted {shares[1]}; answerable {shares[2]}, {shares[3]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Fits, reports and, if requested, writes."""
    given = _given(arguments)
    if given.features.exists():
        seen = [Seen(**json.loads(line)) for line in given.features.read_text("utf-8").splitlines()]
    else:
        seen = _measured(given)
    written: dict[str, dict[str, Any]] = {}
    for name, by_meaning in ((BY_MEANING, True), (BY_WORDS, False)):
        written[name], rated = fit(seen, by_meaning=by_meaning)
        print("\n".join(report(name, written[name], rated)))
    if given.write:
        WEIGHTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def _measured(given: argparse.Namespace) -> list[Seen]:
    """The measured features, saved to the features file one by one."""
    seen: list[Seen] = []
    with given.features.open("w", encoding="utf-8") as file:
        for each in measure(given):
            seen.append(each)
            file.write(json.dumps(asdict(each), ensure_ascii=False) + "\n")
            file.flush()
    return seen


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fit.answerability",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--prose", type=Path, default=Path("tests/pairs/prose"))
    parser.add_argument("--asked", type=Path, default=Path("tests/quality/asked_of_records.jsonl"))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where the databases are kept (%(default)s)")
    parser.add_argument("--features", type=Path, required=True, help="a file to save the measured features")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
