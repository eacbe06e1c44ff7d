"""What a question's words mean in the data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import psycopg
import pytest

from quarry import catalog
from quarry.language.word_forms import tokenise
from quarry.retrieval.known_values import LookUp, look_up
from quarry.schema.source import Source
from quarry.services.services import Services
from quarry.spans.mention import KnownValue

COMPANIES, PEOPLE, CAMPAIGNS = (catalog.SEARCHED[name] for name in ("companies", "people", "campaigns"))


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    """What others write with."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


def add_company(connection: psycopg.Connection, id: str, name: str, **columns: object) -> None:
    names = ["id", "company_name", *columns]
    connection.execute(
        f"insert into companies ({', '.join(names)}) values ({', '.join(['%s'] * len(names))})".encode(),
        [id, name, *columns.values()],
    )


async def found(
    services: Services,
    question: str,
    table: Source = COMPANIES,
    *,
    forms: Mapping[int, Sequence[str]] | None = None,
    also: Sequence[LookUp] = (),
    doubtful: Collection[int] = (),
    scope: str = "",
) -> dict[str, list[KnownValue]]:
    """The values by the words that may mean them."""
    tokens = tokenise(question)
    matches = await look_up(
        services.database, [table], tokens, forms=forms or {}, also=also, doubtful=doubtful, owners={table.name: scope}
    )
    by_words: dict[str, list[KnownValue]] = {}
    for match in matches:
        words = question[tokens[match.first].start : tokens[match.last - 1].end]
        by_words.setdefault(words, []).append(match.value)
    return by_words


async def test_a_value_is_found_as_soon_as_it_is_written(services: Services, connection: psycopg.Connection) -> None:
    add_company(connection, "a", "Quill & Oar", niches=["harbour pilots"], hq_country="Norway")
    assert await found(services, "quill and oar") == {"quill and oar": [KnownValue("name", "Quill & Oar", 1)]}
    connection.execute("update companies set hq_country = 'Chile'")
    assert await found(services, "anything in Chile?") == {"Chile": [KnownValue("country", "Chile", 1)]}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("E-mail", "email"),
        ("Open AI", "openai"),
        ("Café Zürich", "cafe zurich"),
        ("harbour pilots", "Harbour Pilot"),
        ("O'Dell", "odell"),
        ("C++", "c++"),
        ("series_a", "series A"),
        ("Disney+", "disney"),
        ("AT&T", "at & t"),
    ],
)
async def test_case_accents_inflection_and_spaces_do_not_matter(
    services: Services, connection: psycopg.Connection, value: str, said: str
) -> None:
    add_company(connection, "a", "Zebu", niches=[value])
    by_words = await found(services, said)
    assert KnownValue("niche", value, 1) in [value for values in by_words.values() for value in values]


async def test_a_slip_of_the_pen_is_seen_where_the_language_has_no_such_word(
    services: Services, connection: psycopg.Connection
) -> None:
    add_company(connection, "a", "Zebu", hq_city="Trondheim", niches=["harbour pilots"])
    assert await found(services, "in Tronhdeim") == {}
    assert await found(services, "in Tronhdeim", doubtful=[1]) == {
        "Tronhdeim": [KnownValue("city", "Trondheim", 1, likeness=0.8)]
    }
    assert await found(services, "habour pilots", doubtful=[0]) == {
        "habour pilots": [KnownValue("niche", "harbour pilots", 1, likeness=0.8)],
        "pilots": [KnownValue("niche", "harbour pilots", 1, is_whole=False)],
    }


async def test_what_is_hidden_is_not_known(services: Services, connection: psycopg.Connection) -> None:
    connection.execute("insert into people (id, name) values ('p', 'Ida Bolt')")
    card = """insert into experience_cards (id, person_id, title, company_name, intent_primary, visible)
      values (%s, 'p', 'Smith', %s, 'work', %s)"""
    connection.execute(card, ["hidden", "Quillworks", False])
    connection.execute("select refresh_facet_values('people')")
    assert await found(services, "Quillworks or Ida Bolt", PEOPLE) == {}
    connection.execute(card, ["shown", "Oarworks", True])
    assert set(await found(services, "Quillworks, Oarworks or Ida Bolt", PEOPLE)) == {"Oarworks", "Ida Bolt"}


async def test_what_belongs_to_someone_is_known_to_them_alone(
    services: Services, connection: psycopg.Connection
) -> None:
    connection.execute("insert into onto_projects (id, created_by, name) values ('p', 'ida', 'Quill')")
    connection.execute("insert into onto_tasks (id, project_id, created_by, title) values ('t', 'p', 'ida', 'Sow')")
    tasks = catalog.SEARCHED["onto_tasks"]
    assert await found(services, "tasks of Quill", tasks, scope="ida") == {"Quill": [KnownValue("project", "Quill", 1)]}
    assert await found(services, "tasks of Quill", tasks, scope="bo") == {}
    assert await found(services, "tasks of Quill", tasks) == {}
