"""Fitting: when results are equal, how databases are split, and when an answer is confident."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from quarry.reader.features import chance_of
from quarry.reader.learned import ANYTHING, NEVER, WORDS_FILE, KnownWords
from quarry.schema.algebra import Direction
from tools.fit.__main__ import main
from tools.fit.calibration import Seen, coefficients_of, rated_by_others, thresholds_of
from tools.fit.head import Example, fitted, right_of
from tools.fit.pairs import OWN, Pair, part_of, spider_gold
from tools.fit.results import denotation
from tools.fit.stored import write_words
from tools.fit.words import Extreme, ordering_of, words_of

NOTES = """
create table shelves (id int primary key, name text not null, floor int);
create table books (id int primary key, title text not null, pages int, genre text, shelf_id int references shelves);
insert into shelves select g, 'Shelf ' || g, g % 2 from generate_series(1, 4) g;
insert into books select g, 'Book ' || g, 50 + g * 7, (array['novel', 'poem', 'essay'])[1 + g % 3], 1 + g % 4
  from generate_series(1, 30) g;
"""
ASKED = {
    "How many books are there?": "select count(*) from books",
    "books by genre": "select genre, count(*) from books group by genre",
    "average pages of books": "select avg(pages) from books",
    "names of all shelves": "select name from shelves",
}


def test_rows_are_the_same_in_any_order_of_rows_and_cells() -> None:
    assert denotation([("a", 1.0), ("b", 2.0)]) == denotation([(2.0, "b"), (1.0, "a")])
    twice, once = denotation([("a",), ("a",)]), denotation([("a",)])
    assert twice.as_set == once.as_set
    assert twice.as_list != once.as_list


def test_rows_that_tie_for_the_first_place_are_right_too() -> None:
    database = sqlite3.connect(":memory:")
    database.executescript("create table t (n text, k int); insert into t values ('a', 3), ('b', 3), ('c', 1);")
    gold = spider_gold(database, "select n from t order by k desc limit 1")
    assert gold is not None
    assert gold.sets == {denotation([("a",)]).as_set, denotation([("b",)]).as_set}


def test_a_database_is_on_one_side_only_and_of_those_that_tests_pin_half_are_held_out() -> None:
    parts = Counter(part_of(Pair(f"{OWN}database_{number}", "?", None, kind="count")) for number in range(400))
    assert 60 < parts["held out"] < 140
    assert 60 < parts["calibrated on"] < 140
    assert part_of(Pair("hr_1", "one", "select 1")) == part_of(Pair("hr_1", "other", "select 2"))
    names = ("apiary", "bills", "ferries", "forge", "marina", "studio")
    pinned = [part_of(Pair(f"{OWN}pinned_{name}", "?", None, kind="count")) for name in names]
    assert pinned == ["held out", "held out", "fitted to", "fitted to", "held out", "fitted to"]


def test_an_answer_is_confident_if_nine_in_ten_similar_ones_are_right() -> None:
    seen = [
        Seen("count", {"always": 1.0, "logit": place / 20 - 5, "kind:count": 1.0}, place > 100 or place % 3 == 0)
        for place in range(200)
    ]
    coefficients = coefficients_of(seen)
    limit = thresholds_of([(each, chance_of(coefficients, each.known)) for each in seen])["count"].confident
    sure = [each.is_right for each in seen if chance_of(coefficients, each.known) >= limit]
    assert len(sure) > 50
    assert sum(sure) / len(sure) >= 0.9


def test_a_rare_kind_of_answer_is_never_confident() -> None:
    seen = [Seen("share", {"always": 1.0, "logit": 5.0}, True)] * 3
    assert thresholds_of([(each, 0.99) for each in seen])["share"].confident == NEVER


def test_a_reading_is_rated_by_other_databases() -> None:
    odd = [Seen("count", {"always": 1.0, "odd": 1.0}, is_right=True, database="odd")] * 50
    others = [Seen("count", {"always": 1.0}, place % 2 == 0, database=f"{place % 7}") for place in range(200)]
    rated = [chance for each, chance in rated_by_others([*odd, *others]) if each.database == "odd"]
    assert len(rated) == 50
    assert max(rated) < 0.6


def test_a_fit_is_judged_on_held_out_databases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spider, own = tmp_path / "spider", tmp_path / "own"
    (own / "databases").mkdir(parents=True)
    spider.mkdir()
    (spider / "queries.csv").write_text("database,question,sql\n")
    wanted: dict[str, str] = {}
    for number in range(40):
        pair = Pair(f"{OWN}library_{number}", "?", None, kind="count")
        wanted.setdefault(part_of(pair), f"library_{number}")
    for name in wanted.values():
        (own / "databases" / f"{name}.sql").write_text(NOTES)
        lines = [
            json.dumps({"question": question, "sql": sql, "today": "2026-03-18", "kind": "count", "language": "en"})
            for question, sql in ASKED.items()
        ]
        (own / f"{name}.jsonl").write_text("\n".join(lines))
    main([str(spider), "--own", str(own), "--passes", "3"])
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("| all ")]
    alone, both = ((row[2].strip(), float(row[3])) for row in rows)
    assert (alone[0], both[0]) == ("4", "4")
    assert alone[1] >= 0.75
    assert both[1] >= 0.5


def test_conditions_on_places_are_compared_and_superlatives_are_made(tmp_path: Path) -> None:
    spider, own, dump = tmp_path / "spider", tmp_path / "own", tmp_path / "dump.gz"
    (own / "databases").mkdir(parents=True)
    spider.mkdir()
    (spider / "queries.csv").write_text("database,question,sql\n")
    names = map("shops_{}".format, range(9))
    name = next(each for each in names if part_of(Pair(each, "?", None, kind="list")) == "fitted to")
    (own / "databases" / f"{name}.sql").write_text(
        "create table shops (id int primary key, name text not null, city text not null, rent int not null);"
        "insert into shops select g, 'Shop ' || g, (array['Leeds', 'York'])[1 + g % 2], 400 + g * 7 from generate_series(1, 9) g;"
    )
    asked = {"question": "names of shops in Leeds", "sql": "select name from shops where city = 'Leeds'"}
    line = {**asked, "today": "2026-03-18", "kind": "list", "language": "en"}
    (own / f"{name}.jsonl").write_text(json.dumps(line))
    main([str(spider), "--own", str(own), "--passes", "1", "--superlatives", "9", "--dump", str(dump)])
    lines = [json.loads(each) for each in gzip.decompress(dump.read_bytes()).splitlines()]
    right = {each["question"]: any(is_right for _, is_right in each["candidates"]) for each in lines}
    assert right.pop("names of shops in Leeds")
    assert right
    assert all("shop" in question and "rent" not in question for question in right)
    assert any(right.values())


def test_the_head_learns_what_is_right_and_stays_near_what_it_was() -> None:
    start = np.array([0.0, 1.0, 0.0])
    right, wrong, none = [1.0, 0.2, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]
    examples = [Example(np.array([right, wrong, none]), np.array([True, False, False]))] * 4
    head = fitted(examples, start)
    assert (right_of(examples, start), right_of(examples, head)) == (0.0, 1.0)
    assert abs(head - start).max() < 10


def test_words_that_frame_questions_are_those_of_statements_without_a_condition() -> None:
    asked = {
        "how many books altogether": "select count(*) from books",
        "how many paid books": "select count(*) from books where paid_on is not null",
        "how much was paid altogether": "select sum(amount) from books",
    }
    known = words_of([Pair(name, question, sql) for name in ("a", "b", "c") for question, sql in asked.items()], {})
    assert known.framing == {"count": {"altogether"}, "numbers": {"altogether", "paid"}}
    assert {"altogether", "paid"} <= known.telling
    assert not words_of(
        [Pair(name, "books altogether", "select count(*) from books") for name in ("a", "b")], {}
    ).telling


def test_words_for_the_most_are_said_of_what_they_order() -> None:
    number = frozenset({"votes"}), frozenset({"pages"}), frozenset({"points"})
    said: list[tuple[str, Direction, frozenset[str]]] = [
        *(("longest", "desc", frozenset({"time"})) for _ in range(3)), *(("highest", "desc", each) for each in number),
        *(("welcher", "desc", frozenset({"time"})) for _ in range(3)),
    ]  # fmt: skip
    known = ordering_of(
        [
            Extreme(str(place), word if word == "welcher" else "the", frozenset({word}), way, of, of in number)
            for place, (word, way, of) in enumerate(said)
        ]
    )
    assert known == {
        "asc": {"longest": frozenset(), "highest": frozenset()},
        "desc": {"longest": {"time"}, "highest": {ANYTHING}},
    }


def test_known_words_stay_the_same_in_their_file(tmp_path: Path) -> None:
    ordering = {"asc": {"oldest": frozenset({"date"})}}
    known = KnownWords({"count": frozenset({"overall"})}, frozenset({"older", "à"}), frozenset({"per"}), ordering)
    write_words(tmp_path, known)
    assert json.loads((tmp_path / WORDS_FILE).read_text("utf-8")) == {
        "framing": {"count": ["overall"]},
        "telling": ["older", "à"],
        "grouping": ["per"],
        "ordering": {"asc": {"oldest": ["date"]}},
    }
