"""Generated people for measurements: four cards each, two children per card; dates, places, companies and preferences drawn
from skewed distributions; texts and vectors from the other benchmarks' corpus. Everything is determined by the seed.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quarry.people.tables import EmploymentType, Intent, SeniorityLevel
from tests.bulk import copy_rows, copy_vectors, indexes_built_afterwards, mark_embedded
from tools.benchmarks.generated import Corpus
from tools.benchmarks.measuring import Connection

CARDS_PER_PERSON = 4
CHILDREN_PER_CARD = 2
CITIES = 40
CARDS_PER_COMPANY = 60

_INTENTS: dict[Intent, float] = {
    "work": 0.6,
    "education": 0.16,
    "project": 0.12,
    "research": 0.05,
    "teaching": 0.04,
    "community": 0.03,
}
_EMPLOYMENT: dict[EmploymentType, float] = {"full_time": 0.75, "contract": 0.12, "internship": 0.08, "freelance": 0.05}
_SENIORITY: dict[SeniorityLevel, float] = {
    "intern": 0.06, "entry": 0.2, "mid": 0.28, "senior": 0.22, "lead": 0.1, "manager": 0.07, "director": 0.04,
    "executive": 0.02, "founder": 0.01,
}  # fmt: skip

_CHILD_TYPES = ("responsibility", "achievement", "project", "tool")


def load_people(connection: Connection, corpus: Corpus, cards: int) -> None:
    """Replaces all people with `cards` generated cards, their people and children, and analyses the tables."""
    random = np.random.default_rng(29)
    connection.execute("truncate people cascade")
    people = cards // CARDS_PER_PERSON
    tables = ("people", "experience_cards", "experience_card_children")
    vector_tables = ("experience_card_embeddings", "experience_card_child_embeddings")
    with indexes_built_afterwards(connection, *tables, *vector_tables):
        copy_rows(
            connection,
            "people (id, name, headline, bio, city, country, open_to_work, work_preferred_locations,"
            " work_preferred_salary_min)",
            _people(random, people),
        )
        topics = corpus.topics(cards)
        _load_cards(connection, corpus, random, people, topics)
        _load_children(connection, corpus, random, topics)
        for table in tables[1:]:
            mark_embedded(connection, table)
            connection.execute(f"vacuum full {table}".encode())
    for table in tables[1:]:
        connection.execute("select count_lexemes(%s)", [table])


def _load_cards(
    connection: Connection, corpus: Corpus, random: np.random.Generator, people: int, topics: NDArray[np.int64]
) -> None:
    texts, vectors = corpus.rows(topics)
    copy_rows(
        connection,
        "experience_cards (id, person_id, visible, is_current, start_date, end_date, intent_primary, employment_type,"
        " seniority_level, location, title, company_name, domain, city, country, summary, skills)",
        _cards(random, people, topics, texts),
    )
    copy_vectors(connection, "experience_card_embeddings", _card_ids(len(texts)), vectors)


def _load_children(
    connection: Connection, corpus: Corpus, random: np.random.Generator, topics: NDArray[np.int64]
) -> None:
    # a child mostly has the topic of its card
    count = len(topics) * CHILDREN_PER_CARD
    others = random.random(count) < 0.2
    texts, vectors = corpus.rows(np.where(others, corpus.topics(count), np.repeat(topics, CHILDREN_PER_CARD)))
    copy_rows(connection, "experience_card_children (id, card_id, child_type, title, summary, tags)", _children(texts))
    copy_vectors(connection, "experience_card_child_embeddings", _child_ids(count), vectors)


def _people(random: np.random.Generator, count: int) -> Iterable[Sequence[Any]]:
    for number, open_to_work, salary in zip(
        range(count), random.random(count) < 0.45, random.lognormal(14.3, 0.6, count), strict=True
    ):
        places = [f"City{place}" for place in _skewed(random, CITIES, 2)]
        floor = None if number % 4 == 0 else round(salary, -4)
        yield (
            f"person-{number:07}", f"Person {number}", f"Headline of {number}", "Something about this person. " * 8,
            places[0], "India", open_to_work, places, floor,
        )  # fmt: skip


def _cards(
    random: np.random.Generator, people: int, topics: NDArray[np.int64], texts: Sequence[str]
) -> Iterable[Sequence[Any]]:
    count = len(texts)
    companies = max(1, count // CARDS_PER_COMPANY)
    for number, (topic, text, city, company, years, visible) in enumerate(
        zip(
            topics, texts, _skewed(random, CITIES, count), _skewed(random, companies, count),
            random.integers(1, 5, count), random.random(count) < 0.92, strict=True,
        )
    ):  # fmt: skip
        step, person = divmod(number, people)
        start = datetime.date(2008 + 4 * step + int(number % 3), 1 + number % 12, 1)
        current = step == CARDS_PER_PERSON - 1 and number % 3 > 0
        dated = number % 25 > 0
        words = text.split()
        yield (
            f"card-{number:07}", f"person-{person:07}", visible, current,
            start if dated else None,
            None if current or not dated else start + datetime.timedelta(days=int(365 * years)),
            _drawn(random, _INTENTS), _drawn(random, _EMPLOYMENT), _drawn(random, _SENIORITY),
            f"City{city}, India", " ".join(words[:3]), f"Company {company}", f"domain {topic % 22}", f"City{city}", "India",
            text, words[3:9],
        )  # fmt: skip


def _children(texts: Sequence[str]) -> Iterable[Sequence[Any]]:
    for number, (id, text) in enumerate(zip(_child_ids(len(texts)), texts, strict=True)):
        words = text.split()
        card = f"card-{number // CHILDREN_PER_CARD:07}"
        yield id, card, _CHILD_TYPES[number % len(_CHILD_TYPES)], " ".join(words[:4]), " ".join(words[:30]), words[4:7]


def _card_ids(count: int) -> list[str]:
    return [f"card-{number:07}" for number in range(count)]


def _child_ids(count: int) -> list[str]:
    return [f"child-{number:07}" for number in range(count)]


def _skewed(random: np.random.Generator, kinds: int, count: int) -> NDArray[np.int64]:
    """Numbers below `kinds`, the low ones far more often than the high ones."""
    weights = 1.0 / np.arange(1, kinds + 1) ** 0.8
    return random.choice(kinds, count, p=weights / weights.sum())


def _drawn(random: np.random.Generator, shares: dict[Any, float]) -> str:
    return str(list(shares)[int(np.searchsorted(np.cumsum(list(shares.values())), random.random() * 0.999))])
