"""What a question denies is never a condition that must hold."""

from __future__ import annotations

import datetime

import pytest

from quarry.language.word_forms import tokenise
from quarry.reader.learned import learned, pair_model
from quarry.reader.mentions import ValueLink
from quarry.reader.options import DENIED_MIN
from quarry.reader.reading import comparisons, read_question
from quarry.reader.surroundings import chances_denied
from tests.query.desk_schema import DESK

TODAY = datetime.date(2026, 7, 1)


@pytest.mark.parametrize(
    ("question", "value", "is_denied"),
    [
        ("which motions weren't tabled by Rosa Lind?", "Rosa Lind", True),
        ("engineers who aren't in Lisbon", "Lisbon", True),
        ("permits in any month but May", "May", True),
        ("paintings other than those of Rosa Lind", "Rosa Lind", True),
        ("shifts outside October", "October", True),
        ("hives without varnish", "varnish", True),
        ("Boote, die nicht aus Bremen stammen", "Bremen", True),
        ("bateaux sauf Brest", "Brest", True),
        ("engineers in Lisbon who don't need a visa", "Lisbon", False),
        ("paintings no later than 2019", "2019", False),
        ("not only boats in Bremen", "Bremen", False),
        ("hives without varnish since 2019", "since 2019", False),
        ("Boote ohne Segel seit 2019", "2019", False),
        ("bateaux sans voile depuis 2019", "2019", False),
        ("no hives in Lisbon", "Lisbon", False),
        ("hives neither in May nor in June", "in June", True),
        ("Boote aus Bremen", "Bremen", False),
        ("bateaux de Brest", "Brest", False),
    ],
)
def test_words_are_denied_as_far_as_a_denial_reaches(question: str, value: str, is_denied: bool) -> None:
    tokens, (start, _, _) = tokenise(question), question.partition(value)
    first = len(tokenise(start))
    run = first, first + len(value.split())
    assert (chances_denied(tokens, [run])[run] >= DENIED_MIN) == is_denied


def test_a_list_goes_on_as_it_began() -> None:
    tokens = tokenise("boats not in Bremen or Brest")
    assert min(chances_denied(tokens, [(3, 4), (5, 6)]).values()) >= DENIED_MIN


def test_a_time_after_what_is_denied_is_not() -> None:
    denied = chances_denied(tokenise("hives without varnish since 2019"), [(2, 3), (3, 5)])
    assert [chance >= DENIED_MIN for chance in denied.values()] == [True, False]


@pytest.mark.parametrize(
    ("question", "links"),
    [
        ("tickets other than open", [ValueLink(3, 4, "tickets", "status", "open", 3)]),
        ("tickets that haven't been opened in October", []),
        ("tickets opened outside October 2025", []),
        ("how many tickets aren't open", [ValueLink(4, 5, "tickets", "status", "open", 3)]),
    ],
)
def test_no_candidate_asks_for_what_is_denied(question: str, links: list[ValueLink]) -> None:
    reading = read_question(question, DESK, links, TODAY, learned())
    said = [each for candidate, _ in reading.best for each in comparisons(candidate.query.get("where", ()))]
    stated = [each for each in said if each[2] and not each[3]]
    assert stated == []
    assert any(is_denied for *_, is_denied in said)


def test_what_is_denied_is_unread_where_no_candidate_denies_it() -> None:
    reading = read_question("tickets other than 12.5", DESK, [], TODAY, learned())
    assert reading.verdict != "confident"


def test_a_denial_is_of_nothing_else() -> None:
    question = "tickets other than open since October 2025"
    links = [ValueLink(3, 4, "tickets", "status", "open", 3)]
    reading = read_question(question, DESK, links, TODAY, learned(), None, pair_model())
    said = [*comparisons(reading.best[0][0].query.get("where", ()))]
    assert {each[0].rpartition(".")[2] for each in said if each[3]} == {"status"}
