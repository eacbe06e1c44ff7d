"""What questions ask of the sample's records: conditions that hold, conditions that add weight, and numbers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import LiteralString

import psycopg
import pytest

from quarry.postgres.pool import Database
from quarry.records.absence import names_held_by_none
from quarry.records.contract import RecordType
from quarry.records.counting import count, what_to_count
from quarry.records.reading import CLAUSES_MAX, RecordsReading, read_records
from quarry.records.searched_types import BUILT_IN

Found = dict[str, set[str]]


@pytest.fixture
async def database(shared_sample_url: str) -> AsyncIterator[Database]:
    database = Database(shared_sample_url, pool_size=2, timeout_seconds=60)
    yield database
    await database.close()


def conditions(reading: RecordsReading, type: RecordType) -> Found:
    """The values that each facet of the type's records must have, of dates the first."""
    found: Found = {}
    for clause in reading.clauses_for(BUILT_IN[type].table) or ():
        for condition in clause:
            said = set(condition.values) or {str(getattr(condition.range, "first", None))}
            found.setdefault(condition.facet, set()).update(said)
    return found


@pytest.mark.parametrize(
    ("question", "type", "expected"),
    [
        ("motions that failed in June 2024", "motion", {"result": {"Defeated"}, "date": {"2024-06-01"}}),
        ("motions moved by Leland Frost", "motion", {"mover": {"Leland Frost"}}),
        ("statements since July 2025", "key_statement", {"date": {"2025-07-01"}}),
        ("agenda items on 11 June 2024", "agenda_item", {"date": {"2024-06-11"}}),
        ("Parks and Public Works Committee on 23 January 2024", "agenda_item",
         {"body": {"Parks and Public Works Committee"}, "date": {"2024-01-23"}}),
    ],
)  # fmt: skip
async def test_what_is_said_of_named_records_must_hold(
    database: Database, question: str, type: RecordType, expected: Found
) -> None:
    reading = await read_records(database, BUILT_IN, question)
    assert reading.must_hold
    assert conditions(reading, type) == expected


@pytest.mark.parametrize(
    ("question", "facet"),
    [
        ("what did Greta Thornbury say about the shelter extension?", "speaker"),
        ("what was said about the bridge in March 2024?", "date"),
    ],
)
async def test_in_prose_a_speaker_or_a_date_adds_weight(database: Database, question: str, facet: str) -> None:
    reading = await read_records(database, BUILT_IN, question)
    assert not reading.must_hold
    assert facet in conditions(reading, "transcript_segment")


@pytest.mark.parametrize(
    "question",
    [
        "how much did the 2024 spending plan add to a yearly bill",
        "why did the price of the bridge jump in 2024?",
        "why did the council decide not to cut down the old tree?",
        "how come trucks can't drive over the river crossing any more?",
        "was the plan approved?",
        "what happened to frost damage on the wall",
    ],
)
async def test_what_records_tell_about_is_no_condition(database: Database, question: str) -> None:
    assert not (await read_records(database, BUILT_IN, question)).clauses


async def test_part_of_a_name_within_another_name_is_somebody_else(database: Database) -> None:
    reading = await read_records(database, BUILT_IN, "What did Leland Smith say about the elm?")
    assert not reading.clauses
    assert await names_held_by_none(database, reading, BUILT_IN.named(())) == ["Leland Smith"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Frost say about Mars?", ["Mars"]),
        ("Did Walmart apply for a permit?", ["Walmart"]),
        ("What did Bob Dylan sing to the council?", ["Bob Dylan"]),
        ("Why did the council keep the elm in Quill Square?", []),
        ("why did the council keep the elm in Quil Square?", []),
        ("What happened with Library Penalties in 2024?", []),
        ("did walmart apply for a permit?", []),
        ("Did Nadia Rahimi and Tomas Wray agree?", []),
        ("Did the elm catch a disease from the Netherlands?", []),
        ("Did the elm catch a disease from Bhutan?", ["Bhutan"]),
    ],
)
async def test_names_that_no_record_holds_are_told(database: Database, question: str, names: list[str]) -> None:
    assert (
        await names_held_by_none(database, await read_records(database, BUILT_IN, question), BUILT_IN.named(()))
        == names
    )


async def test_a_question_of_many_conditions_is_held_to_the_first_ones(database: Database) -> None:
    names = "Leland Frost, Tomas Wray, Priya Sandhu, Nadia Rahimi, Hana Kitagawa, Marcus Oyelaran, "
    assert len((await read_records(database, BUILT_IN, f"motions of {names * 20}")).clauses) <= CLAUSES_MAX


async def test_a_follow_up_keeps_the_conditions_that_it_does_not_change(database: Database) -> None:
    earlier = ["How many motions were defeated in 2024?"]
    reading = await read_records(database, BUILT_IN, "and in 2025?", earlier=earlier)
    assert conditions(reading, "motion") == {"result": {"Defeated"}, "date": {"2025-01-01"}}
    assert [*reading.counted] == [("motion",)]


def rows(url: str, query: LiteralString) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


async def counted(database: Database, question: str, types: Sequence[RecordType] = ()) -> int | None:
    wanted = what_to_count(await read_records(database, BUILT_IN, question), BUILT_IN.named(types))
    found = await count(database, wanted) if wanted else None
    return found.event.total if found else None


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("How many motions failed?", "select count(*) from motions where result like 'Defeated%'"),
        ("how many motions were defeated in 2024?",
         "select count(*) from motions where result like 'Defeated%' and extract(year from date) = 2024"),
        ("How many motions did Leland Frost move?", "select count(*) from motions where mover = 'Leland Frost'"),
        ("How many motions were carried 7-2?", "select count(*) from motions where result like 'Carried 7–2%'"),
        ("how many motions passed 7 to 2?", "select count(*) from motions where result like 'Carried 7–2%'"),
        ("how many times did Marcus Oyelaran vote against?",
         "select count(*) from motions where 'Marcus Oyelaran' = any(votes_against)"),
        ("How many meetings were held in 2024?", "select count(*) from meetings where extract(year from date) = 2024"),
        ("number of ordinances", "select count(*) from matters where matter_type = 'ordinance'"),
        ("how many different people moved motions?", "select count(distinct mover) from motions"),
        ("how many motions failed about parking?",
         "select count(*) from motions where result like 'Defeated%' and text_search @@ 'park'"),
        ("motions per month in 2024", "select count(*) from motions where extract(year from date) = 2024"),
        ("how many motions were carried in 2031?", "select 0"),
        ("How many motions and matters are there?", "select (select count(*) from motions) + (select count(*) from matters)"),
        ("how many matters, motions and meetings from 2024 do you hold?",
         "select count(*) from (select date from matters union all select date from motions"
         " union all select date from meetings) r where extract(year from date) = 2024"),
    ],
)  # fmt: skip
async def test_a_number_is_counted_exactly(
    database: Database, shared_sample_url: str, question: str, query: LiteralString
) -> None:
    assert await counted(database, question) == rows(shared_sample_url, query)


@pytest.mark.parametrize(
    "question",
    [
        "how many places to park were lost for the cycle track?",
        "How many cheaper apartments must the developer build and for whom?",
        "how many councillors voted against the cycle track?",
        "How many votes did the budget get?",
        "what is the average number of motions per meeting?",
        "how many motions about the moon?",
        "how many statements oppose the elm removal?",
        "who moved the motion on food trucks?",
        "why was the elm kept?",
        "how many motions and people are there?",
        "how many records did the mayor break?",
    ],
)
async def test_what_no_facet_tells_is_not_counted(database: Database, question: str) -> None:
    assert await counted(database, question) is None


async def test_only_types_that_are_searched_are_counted(database: Database) -> None:
    assert await counted(database, "How many motions failed?", ("matter",)) is None


async def test_groups_are_told_with_their_numbers(database: Database) -> None:
    wanted = what_to_count(await read_records(database, BUILT_IN, "motions per year"), BUILT_IN.named(()))
    assert wanted is not None
    found = await count(database, wanted)
    assert found is not None
    assert found.event.by == "year"
    assert sum(group.count for group in found.event.groups) == found.event.total
    years = [str(group.value) for group in found.event.groups]
    assert years == sorted(years)
    assert found.event.filters == {"types": ["motion"]}


async def test_all_records_are_counted_by_their_types(database: Database, shared_sample_url: str) -> None:
    wanted = what_to_count(await read_records(database, BUILT_IN, "How many records are there?"), BUILT_IN.named(()))
    assert wanted is not None
    found = await count(database, wanted)
    assert found is not None
    assert found.event.by == "type"
    assert [group.value for group in found.event.groups] == [*BUILT_IN]
    assert found.event.total == sum(group.count for group in found.event.groups)
    motions = rows(shared_sample_url, "select count(*) from motions")
    assert f"{found.event.total:,} in all: {motions} motions; " in found.sentence


async def test_nothing_counted_tells_what_each_condition_costs(database: Database, shared_sample_url: str) -> None:
    wanted = what_to_count(
        await read_records(database, BUILT_IN, "how many motions were carried in 2031?"), BUILT_IN.named(())
    )
    assert wanted is not None
    found = await count(database, wanted)
    carried = rows(shared_sample_url, "select count(*) from motions where result like 'Carried%'")
    assert found is not None
    assert found.sentence.startswith("The records hold no motions")
    assert f"Without “in 2031”: {carried:,}." in found.sentence


async def test_what_is_only_counted_has_no_rows_that_are_asked_for(database: Database) -> None:
    reading = await read_records(database, BUILT_IN, "What did the meeting say about the bridge?")
    assert "meeting" in reading.named
    assert reading.rows_asked_for == frozenset()
