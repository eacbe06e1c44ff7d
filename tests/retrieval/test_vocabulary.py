"""What a question's words mean in the data."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry import catalog
from quarry.language.slips import slips
from quarry.language.tokens import tokenise
from quarry.retrieval.facets import SearchTable
from quarry.retrieval.vocabulary import WORDS_MAX, LookUp, longest_run, look_up
from quarry.services.services import Services
from quarry.spans.mention import KnownValue
from tests.plans import calls, plans, reads

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
    table: SearchTable = COMPANIES,
    *,
    forms: Mapping[int, Sequence[str]] | None = None,
    also: Sequence[LookUp] = (),
    doubtful: Collection[int] = (),
    scope: str = "",
) -> dict[str, list[KnownValue]]:
    """The values by the words that may mean them."""
    tokens = tokenise(question)
    vocabulary = await look_up(
        services.database, [table], tokens, forms=forms or {}, also=also, doubtful=doubtful, owners={table.name: scope}
    )
    by_words: dict[str, list[KnownValue]] = {}
    for match in vocabulary.matches:
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
        ("Email", "e-mail"),
        ("Open AI", "openai"),
        ("Café Zürich", "cafe zurich"),
        ("cafe zurich", "CAFÉ ZÜRICH"),
        ("harbour pilots", "Harbour Pilot"),
        ("O'Dell", "odell"),
        ("O’Dell", "O'Dell's"),
        ("The Who", "the who"),
        ("C++", "c++"),
        ("node.js", "Node.js"),
        ("U.S.", "u.s"),
        ("series_a", "series A"),
        ("Disney+", "disney"),
        ("AT&T", "at & t"),
        ("IT", "it"),
    ],
)
async def test_case_accents_inflection_and_spaces_do_not_matter(
    services: Services, connection: psycopg.Connection, value: str, said: str
) -> None:
    add_company(connection, "a", "Zebu", niches=[value])
    by_words = await found(services, said)
    assert KnownValue("niche", value, 1) in [value for values in by_words.values() for value in values]


async def test_a_stop_word_means_no_longer_word_of_the_same_stem(
    services: Services, connection: psycopg.Connection
) -> None:
    add_company(connection, "a", "Zebu", niches=["ATS"])
    assert await found(services, "companies at sea") == {}


async def test_a_name_is_found_by_a_rare_part_of_it(services: Services, connection: psycopg.Connection) -> None:
    add_company(connection, "a", "Maren Quist Holding", founders=["Ida Bolt"])
    by_words = await found(services, "quist holding of Bolt")
    assert by_words == {
        "quist holding": [KnownValue("name", "Maren Quist Holding", 1, is_whole=False)],
        "Bolt": [KnownValue("founder", "Ida Bolt", 1, is_whole=False)],
    }


async def test_a_part_that_many_share_means_none_of_them(services: Services, connection: psycopg.Connection) -> None:
    for number in range(50):
        add_company(connection, f"c{number}", f"Holding Number{number}")
    assert await found(services, "some holding") == {}


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


async def test_other_forms_of_a_word_count_as_it(services: Services, connection: psycopg.Connection) -> None:
    add_company(connection, "a", "Zebu", sectors=["Health Economics"])
    assert await found(services, "health economists", forms={1: ["economics", "economy"]}) == {
        "health economists": [KnownValue("sector", "Health Economics", 1)]
    }


async def test_phrases_that_may_be_meant_are_looked_up_in_their_facet(
    services: Services, connection: psycopg.Connection
) -> None:
    add_company(connection, "a", "Bangalore", hq_city="Bangalore", sectors=["Machine Tools"])
    also = [LookUp(0, 1, "Bangalore", "city"), LookUp(2, 3, "machine tool")]
    assert await found(services, "Bengaluru makes lathes", also=also) == {
        "Bengaluru": [KnownValue("city", "Bangalore", 1)],
        "lathes": [KnownValue("sector", "Machine Tools", 1)],
    }


async def test_a_title_is_said_by_its_last_words(services: Services, connection: psycopg.Connection) -> None:
    connection.execute("insert into people (id, name) values ('p', 'Ida Bolt')")
    card = (
        "insert into experience_cards (id, person_id, title, intent_primary, visible) values (%s, 'p', %s, 'work', %s)"
    )
    connection.execute(card, ["c", "Senior Backend Engineer, Payments", True])
    for said, value in {
        "engineers": "Engineer",
        "backend engineer": "Backend Engineer",
        "senior backend engineers": "Senior Backend Engineer",
    }.items():
        assert KnownValue("title", value, 1) in (await found(services, said, PEOPLE))[said]


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


async def test_a_value_that_no_row_has_is_known_no_more(services: Services, connection: psycopg.Connection) -> None:
    add_company(connection, "a", "Zebu", hq_city="Trondheim")
    add_company(connection, "b", "Yak", hq_city="Trondheim")
    connection.execute("update companies set hq_city = 'Bergen' where id = 'a'")
    connection.execute("delete from companies where id = 'b'")
    assert await found(services, "Zebu, Yak, Trondheim, Bergen") == {
        "Zebu": [KnownValue("name", "Zebu", 1)],
        "Bergen": [KnownValue("city", "Bergen", 1)],
    }


async def test_writers_do_not_wait_for_one_another(database_url: str, services: Services) -> None:
    with psycopg.connect(database_url) as one, psycopg.connect(database_url) as other:
        add_company(one, "a", "Zebu", hq_city="Bergen")
        other.execute("set statement_timeout = 10000")
        add_company(other, "b", "Zebu", hq_city="Bergen")
        other.commit()
        one.commit()
        assert await found(services, "Zebu") == {"Zebu": [KnownValue("name", "Zebu", 2)]}
        one.execute("select refresh_facet_values('companies')")
        one.commit()
    rows = await services.database.rows("select value, row_count from facet_values where facet = 'name'")
    assert rows == [{"value": "Zebu", "row_count": 2}]


async def test_a_refresh_finds_what_the_writes_have_added(sample_services: Services) -> None:
    query = "select table_name, facet, scope, value, row_count from facet_values order by 1, 2, 3, 4"
    added = await sample_services.database.rows(query)
    await sample_services.database.execute("delete from facet_values")
    for table in catalog.SEARCHED:
        await sample_services.database.rows("select refresh_facet_values(%s)", [table])
    assert await sample_services.database.rows(query) == added


async def test_a_text_of_signs_alone_can_be_written(services: Services, connection: psycopg.Connection) -> None:
    add_company(connection, "a", "!?", niches=["—", "", "+", "#", "’", "½"], founders=[" "])
    assert await found(services, "!? — + #") == {}


async def test_only_the_first_words_are_looked_up(services: Services, connection: psycopg.Connection) -> None:
    add_company(connection, "a", "Zebu")
    late = [LookUp(WORDS_MAX, WORDS_MAX + 1, "Zebu"), LookUp(WORDS_MAX + 9, WORDS_MAX + 10, "Zebu")]
    assert await found(services, "x " * (WORDS_MAX + 9) + "Zebu", also=late) == {}


def test_values_are_looked_up_by_index(sample_url: str) -> None:
    with psycopg.connect(sample_url, autocommit=True) as connection:
        connection.execute(
            "insert into facet_values (table_name, facet, scope, value)"
            " select 'companies', 'niche', '', 'made ' || md5(g::text) from generate_series(1, 20000) g"
        )
        connection.execute(
            "insert into facet_words (table_name, stem)"
            " select 'companies', left(md5(g::text), 8) from generate_series(1, 80000) g"
        )
        found = reads(
            connection,
            "facet_",
            "select * from look_up_values_v2(array['companies'], array['fintech', 'rockets', 'bergn'], p_doubtful => '{2}',"
            " p_owners => array[''])",
            [],
        )
    assert not found.whole
    assert found.indexes >= {"facet_values_phrase", "facet_words_stem", "facet_words_slips"}


words = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)


@given(said=words, value=words, place=st.integers(0, 5))
def test_a_run_is_in_both(said: list[str], value: list[str], place: int) -> None:
    place %= len(said)
    first, last = longest_run(said, [said[place], *value], place)
    assert first <= place < last
    run = said[first:last]
    in_value = [said[place], *value]
    assert any(in_value[start : start + len(run)] == run for start in range(len(in_value)))


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_slips_are_counted_alike_both_ways(word: str, other: str) -> None:
    assert slips(word, other) == slips(other, word)
    assert (slips(word, other) == 0) == (word == other)


def test_swapped_letters_are_one_slip() -> None:
    assert [slips("abcd", other) for other in ("abdc", "abc", "abcde", "axcd", "badc")] == [1, 1, 1, 1, 2]


async def test_one_of_the_names_of_a_value_is_all_of_it(services: Services, connection: psycopg.Connection) -> None:
    connection.execute(
        "insert into campaigns (id, company, channel, campaign_text, key_value_props)"
        " values ('c', 'Acme', 'Kiosk', 'x', '{Gift Card / Voucher}')"
    )
    value = KnownValue("value_prop", "Gift Card / Voucher", 1, is_whole=True)
    meanings = await found(services, "ads with gift cards, and a voucher", CAMPAIGNS)
    assert meanings["gift cards"] == [value]
    assert meanings["voucher"] == [value]
    assert "card" not in await found(services, "a card", CAMPAIGNS)


def test_runs_of_words_are_stemmed_and_looked_up_together(connection: psycopg.Connection) -> None:
    add_company(connection, "a", "Quill & Oar")
    words = [f"quill{number}" for number in range(WORDS_MAX)]
    asked = "select * from look_up_values_v2(array['companies'], %s, p_owners => array[''])"
    plan = plans(connection, asked, [words], analyze=True)
    loops = re.findall(r"facet_values_phrase on facet_values \w+ .*loops=(\d+)", plan)
    assert sum(map(int, loops)) == 1
    # of the 1,785 runs none calls it
    assert calls(connection, "word_stem", asked, [words]) == 0


def test_a_word_is_compared_with_those_of_its_length_alone(connection: psycopg.Connection) -> None:
    connection.execute(
        "insert into facet_words (table_name, stem)"
        " select 'companies', left(translate(md5(g::text), '0123456789', 'ghijklmnop'), 9) || 'exampl'"
        " from generate_series(1, 20000) g"
        " union all select 'companies', 'exampel'"
    )
    connection.execute("analyze facet_words")
    plan = plans(
        connection,
        "select * from look_up_values_v2(array['companies'], array['exampl'], p_doubtful => '{0}', p_owners => array[''])",
        analyze=True,
    )
    found = re.findall(r"Bitmap Index Scan on facet_words_slips .*rows=(\d+)", plan)
    assert found == ["1"]


async def test_no_slip_is_looked_for_in_a_word_longer_than_any(
    services: Services, connection: psycopg.Connection
) -> None:
    longest = "kolmanopistikarafelomunitrasodigavutebwz"
    add_company(connection, "a", "Zebu", niches=[longest, longest + "q"])
    said = longest.replace("karafel", "karafle")
    assert KnownValue("niche", longest, 1, likeness=0.8) in (await found(services, said, doubtful=[0]))[said]
    assert await found(services, said + "q", doubtful=[0]) == {}
