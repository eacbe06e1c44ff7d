"""Questions in German and French, rendered for the reader of questions and put back."""

from __future__ import annotations

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.language.inflections import inflections
from quarry.language.tokens import tokenise
from quarry.platform.text import STOP_WORDS
from quarry.spans.ask_words import find_asked
from quarry.spans.cues import cues
from quarry.spans.date_points import MONTH_NAMES, SEASONS, WEEKDAYS
from quarry.spans.dates import find_dates
from quarry.spans.lexicon import Lexicon, PhraseTable
from quarry.spans.locales import locales, render_question
from quarry.spans.mention import Cue, DateRange, MoneyRange, Vocabulary
from quarry.spans.parser import parse

TODAY = datetime.date(2024, 6, 15)
NOTHING: Lexicon = Lexicon(PhraseTable(()), PhraseTable(()), PhraseTable(()), {})


def rendered(text: str, *languages: str) -> str | None:
    rendering = render_question(text, languages)
    return rendering.text if rendering else None


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Wie viele Meldungen sind offen?", "how many meldungen are offen?"),
        ("Meldungen nach Stand", "meldungen by stand"),
        ("Meldungen nach dem 3. Mai 2024", "meldungen after 3 may 2024"),
        ("Meldungen vom 3.5.2024", "meldungen from 2024-05-03"),
        ("über 1.500,50 €", "more than 1500.50 €"),
        ("unter 2,5 Mio. Euro", "less than 2.5 million euro"),
        ("zwischen März und Mai ohne Aufzug", "between march and may without aufzug"),
        ('Meldungen mit "die Kellertür"', 'meldungen with "die kellertür"'),
    ],
)
def test_german_is_rendered(text: str, english: str) -> None:
    assert rendered(text, "german") == english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Combien de contrats sont signés ?", "how many contrats are signés ?"),
        ("signés après le 3 mars 2024", "signés after 3 march 2024"),
        ("du 1er janvier 2024 au 5 mars 2024", "from 1 january 2024 to 5 march 2024"),
        ("plus de 1 500,50 €", "more than 1500.50 €"),
        ("Y a-t-il des contrats sans l’assurance ?", "are there any contrats without the assurance ?"),
        ("où ou à", "where or at"),
        ("Combien de contrats d'Amélie ?", "how many contrats of Amélie ?"),
    ],
)
def test_french_is_rendered(text: str, english: str) -> None:
    assert rendered(text, "french") == english


def test_a_question_is_read_in_the_language_of_most_of_its_words() -> None:
    both = ("german", "english")
    assert rendered("How many tickets are in the house?", *both) is None
    assert rendered("Wie viele Tickets sind im Haus?", *both) == "how many tickets are in haus?"
    assert rendered("Tickets", *both) is None
    assert rendered("Tickets 3.5.2024", "german") == "tickets 2024-05-03"
    assert rendered("Combien de tickets sont ouverts ?", "german", "french") == "how many tickets are ouverts ?"


def test_without_such_rows_every_question_is_english() -> None:
    for languages in ((), ("english",), ("finnish", "simple")):
        assert render_question("Wie viele Tickets sind offen?", languages) is None


def read(text: str, language: str) -> list[tuple[str, object]]:
    rendering = render_question(text, [language])
    assert rendering is not None
    parsed = parse(rendering.text, lexicon=NOTHING, vocabulary=Vocabulary(), reference_date=TODAY)
    back = rendering.put_back(parsed)
    return [(text[each.start : each.end], each.value) for each in back.mentions]


def test_what_is_read_stands_where_it_was_said() -> None:
    said = dict(read("Meldungen ohne Aufzug vom 3. März 2024 über 1.500,50 €", "german"))
    assert said["ohne"] == Cue("negates")
    assert said["vom 3. März 2024"] == DateRange(datetime.date(2024, 3, 3), datetime.date(2024, 3, 3))
    assert said["über 1.500,50 €"] == MoneyRange(1500.5, None, includes_least=False, currency="EUR")
    said = dict(read("contrats sans assurance depuis mars 2023", "french"))
    assert said["sans"] == Cue("negates")
    assert said["depuis mars 2023"] == DateRange(datetime.date(2023, 3, 1), None, grain="month")


UNITS = [word for unit in ("day", "week", "month", "quarter", "year", "decade") for word in (unit, f"{unit}s")]
COUNTS = "a two three four five six seven eight nine ten eleven twelve few".split()
AUTUMN_ONCE = [season for season in SEASONS if season != "fall"]
NAMED_DAYS = ["today", "yesterday", "tomorrow", "day before yesterday", "day after tomorrow", "recently"]
SAID = {
    "german": {
        "{count} {units} ago": ["vor {count} {units}"],
        "the past {count} {units}": ["seit {count} {units}"],
        "in the last {count} {units}": ["in den letzten {count} {units}"],
        "last {unit}": ["letzte {unit}", "im vergangenen {unit}", "vorigen {unit}"],
        "this {unit}": ["diese {unit}", "dieses {unit}"],
        "next {unit}": ["nächsten {unit}", "kommende {unit}"],
        "on {weekday}": ["am {weekday}"],
        "last {weekday}": ["am letzten {weekday}", "vergangenen {weekday}"],
        "next {weekday}": ["nächsten {weekday}", "kommenden {weekday}"],
        "since {weekday}": ["seit {weekday}", "ab {weekday}"],
        "until {weekday}": ["bis {weekday}"],
        "last {month}": ["letzten {month}"],
    },
    "french": {
        "{count} {units} ago": ["il y a {count} {units}"],
        "the past {count} {units}": ["depuis {count} {units}", "ces {count} derniers {units}"],
        "in the last {count} {units}": ["dans les {count} dernières {units}"],
        "last {unit}": ["la {unit} dernière", "le {unit} passé"],
        "this {unit}": ["cette {unit}", "ce {unit}"],
        "next {unit}": ["le {unit} prochain", "{unit} prochaine"],
        "on {weekday}": ["lors {weekday}", "le {weekday}"],
        "last {weekday}": ["{weekday} dernier", "le {weekday} dernier"],
        "next {weekday}": ["{weekday} prochain"],
        "since {weekday}": ["depuis {weekday}"],
        "until {weekday}": ["jusqu'à {weekday}"],
        "last {month}": ["{month} dernier", "l'{month} dernier"],
    },
}


def says(language: str, english: str) -> list[str]:
    """The phrases for an English word; of several where one and several are the same word, those for one."""
    words = locales()[language].words
    found = [" ".join(phrase) for phrase, meant in words.items() if meant == english]
    return found or [" ".join(phrase) for phrase, meant in words.items() if f"{meant}s" == english]


@given(st.data())
def test_every_relative_time_is_read_as_in_english(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(sorted(SAID)))
    form = data.draw(st.sampled_from(sorted(SAID["german"])))
    slots = {
        "count": data.draw(st.sampled_from([*COUNTS, "3", "24"])),
        "unit": data.draw(st.sampled_from(UNITS[2::2])),
        "units": data.draw(st.sampled_from(UNITS[1::2])),
        "weekday": data.draw(st.sampled_from(WEEKDAYS)),
        "month": data.draw(st.sampled_from([*MONTH_NAMES, *AUTUMN_ONCE])),
    }
    own = {
        name: english if english.isdigit() else data.draw(st.sampled_from(says(language, english)))
        for name, english in slots.items()
    }
    english, said = form.format(**slots), data.draw(st.sampled_from(SAID[language][form])).format(**own)
    rendering = locales()[language].render(said)
    dates = [find_dates(text, tokenise(text), TODAY) for text in (english, rendering.text)]
    assert [each.value for each in dates[1]] == [each.value for each in dates[0]], (english, said)
    assert [each.is_latent for each in dates[1]] == [False], said


@pytest.mark.parametrize("language", sorted(locales()))
def test_every_word_of_a_time_has_its_counterpart(language: str) -> None:
    meant = set(locales()[language].words.values())
    assert {*UNITS, *COUNTS, *NAMED_DAYS, *MONTH_NAMES, *AUTUMN_ONCE, *WEEKDAYS} - {"months"} - meant == set()


PHRASES = st.sampled_from(
    [*sorted({" ".join(phrase) for locale in locales().values() for phrase in locale.words}),
    "Haus", "3. März", "1.500,50", "l'", '"das Haus"', "été", "2024", "€", "?", "ẞ", "İ"]
)  # fmt: skip


@given(st.lists(PHRASES, max_size=12).map(" ".join), st.sampled_from(sorted(locales())))
def test_no_character_is_in_two_mentions_and_none_outside(text: str, language: str) -> None:
    rendering = locales()[language].render(text)
    parsed = parse(rendering.text, lexicon=NOTHING, vocabulary=Vocabulary(), reference_date=TODAY)
    back = rendering.put_back(parsed)
    assert back.text == text
    for mention in back.mentions:
        assert 0 <= mention.start <= mention.end <= len(text)
    assert all(one.end <= other.start for one, other in pairwise(back.mentions))


@pytest.mark.parametrize("language", sorted(locales()))
def test_frames_are_put_into_words_that_the_reader_knows(language: str) -> None:
    locale = locales()[language]
    for english in {*locale.words.values(), *locale.before_time.values()}:
        words = english.split()
        tokens = parse(english, lexicon=NOTHING, vocabulary=Vocabulary(), reference_date=TODAY)
        is_known = all(word in STOP_WORDS for word in words) or cues().longest_at(words, 0) is not None
        is_time = find_dates(english, tokens.tokens, TODAY) or english in UNITS
        assert is_known or is_time or find_asked(tokens.tokens, NOTHING) or english in OTHER_WORDS, english


OTHER_WORDS = frozenset(
    """
    next ago thousand million billion two three four five six seven eight nine ten eleven twelve early mid late exactly
    """.split()
) | {
    "more than", "less than", "at least", "at most", "heavier than", "lighter than", "longer than", "shorter than",
    "cheaper than", "more expensive than", "larger than", "smaller than", "longest", "shortest", "heaviest", "lightest",
    "cheapest", "most expensive",
}  # fmt: skip
"""What dates and numbers are read by, and what is asked for where rows have numbers."""


@pytest.mark.parametrize(
    ("word", "language", "form"),
    [
        ("offenen", "german", "offen"), ("offen", "german", "offene"), ("meldung", "german", "meldungen"),
        ("resilies", "french", "resilie"), ("contrats", "french", "contrat"), ("contrat", "french", "contrats"),
    ],
)  # fmt: skip
def test_other_forms_of_a_word_are_looked_up(word: str, language: str, form: str) -> None:
    assert form in inflections(word, [language])
    assert word not in inflections(word, [language])
    assert inflections(word, ["english", "simple"]) == ()
