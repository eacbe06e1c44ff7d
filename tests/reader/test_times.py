"""Times and numbers in German and French questions are read as in English ones; words that look like them are left alone."""

from __future__ import annotations

import datetime

import pytest

from quarry.language.word_forms import tokenise
from quarry.reader.mentions import read_words
from quarry.reader.names import Names
from quarry.spans.dates import find_dates
from quarry.spans.mention import DateRange

TODAY = datetime.date(2024, 5, 15)
"""A Wednesday."""


def _days(question: str) -> tuple[str | None, str | None]:
    """The first and last day that a question's times have in common."""
    days = [each.days for each in read_words(question, Names({}), [], TODAY).days]
    assert days
    assert not any(each.months for each in days)
    first = max((str(each.first) for each in days if each.first), default=None)
    return first, min((str(each.last) for each in days if each.last), default=None)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Wie viele Tickets wurden letzten Monat gelöst?", "2024-04-01", "2024-04-30"),
        ("Tickets, die seit März offen sind", "2024-03-01", None),
        ("Welche Kunden haben im vergangenen Jahr keine Anfrage gestellt?", "2023-01-01", "2023-12-31"),
        ("Wie viele Tickets gab es vorgestern?", "2024-05-13", "2024-05-13"),
        ("Umsatz im Dezember 2023", "2023-12-01", "2023-12-31"),
        ("Welche Lieferungen kommen nächste Woche an?", "2024-05-20", "2024-05-26"),
        ("Welche Artikel wurden in diesem Jahr noch nie bestellt?", "2024-01-01", "2024-12-31"),
        ("Gesamtumsatz 2022", "2022-01-01", "2022-12-31"),
        ("Lagerbestand heute", "2024-05-15", "2024-05-15"),
        ("Bäume, die im Herbst 2021 gefällt wurden", "2021-09-01", "2021-11-30"),
        ("Kontrollen in den letzten 5 Jahren", "2019-05-15", "2024-05-15"),
        ("Wie viele Bäume wurden letzten Montag geprüft?", "2024-05-13", "2024-05-13"),
        ("Gefällte Bäume im laufenden Jahr", "2024-01-01", "2024-12-31"),
        ("Hier stehen alle Bäume aus dem Vorjahr 2023", "2023-01-01", "2023-12-31"),
        ("Quels tickets ont été ouverts hier ?", "2024-05-14", "2024-05-14"),
        ("Tickets en attente des 30 derniers jours", "2024-04-15", "2024-05-15"),
        ("Tickets du 3 mai 2024", "2024-05-03", "2024-05-03"),
        ("Montre les tickets fermés avant le 1er avril 2024", None, "2024-03-31"),
        ("Les commandes depuis le mois dernier", "2024-04-01", None),
        ("Factures payées jusqu'à fin février 2024", None, "2024-02-29"),
        ("Factures à partir de septembre 2022", "2022-09-01", None),
        ("Livraisons de mars à avril 2024", "2024-03-01", "2024-04-30"),
        ("Plantations du 2e trimestre 2022", "2022-04-01", "2022-06-30"),
        ("Quels contrôles sont prévus demain ?", "2024-05-16", "2024-05-16"),
        ("Contrôles du 24/12/2023", "2023-12-24", "2023-12-24"),
        ("Quels quartiers ont eu le plus de dégâts l'été dernier ?", "2023-06-01", "2023-08-31"),
    ],
)
def test_a_german_or_french_time_is_read(question: str, first: str | None, last: str | None) -> None:
    assert _days(question) == (first, last)


@pytest.mark.parametrize(
    ("question", "month"), [("Stornierte Bestellungen im Oktober", 10), ("Commandes annulées en août", 8)]
)
def test_a_month_without_a_year_is_that_of_every_year(question: str, month: int) -> None:
    [mention] = read_words(question, Names({}), [], TODAY).days
    assert mention.days == DateRange(months=(month,), grain="month")


@pytest.mark.parametrize("question", ["Umsatz seit Maerz 2023", "ventes depuis mars 2023", "Umsatz seit März 2023"])
def test_a_month_is_read_however_it_is_written(question: str) -> None:
    assert _days(question) == ("2023-03-01", None)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Mars bars sold in 2024", "2024-01-01", "2024-12-31"),
        ("Which heute journal episodes aired in March 2024?", "2024-03-01", "2024-03-31"),
        ("How many hiers were sold last month?", "2024-04-01", "2024-04-30"),
        ("Orders by Mai Tanaka from April 2024", "2024-04-01", "2024-04-30"),
        ("Wie viele Kunden haben hier im Jahr 2023 bestellt?", "2023-01-01", "2023-12-31"),
        ("Quels tickets ont été fermés en 2023 par sept agents ?", "2023-01-01", "2023-12-31"),
        ("Welche Kurse fanden 2023 am Morgen statt?", "2023-01-01", "2023-12-31"),
        ("Which fines due in mid 2023 did the state hand in?", "2023-05-01", "2023-08-31"),
    ],
)
def test_a_word_that_is_a_time_in_another_language_is_none(question: str, first: str, last: str) -> None:
    [mention] = [each for each in find_dates(question, tokenise(question), TODAY) if not each.is_latent]
    assert isinstance(mention.value, DateRange)
    assert (str(mention.value.first), str(mention.value.last)) == (first, last)


@pytest.mark.parametrize(
    ("question", "number", "currency"),
    [
        ("Rechnungen über 800 €", 800, "EUR"),
        ("Rechnungen von mehr als 1.200 Euro", 1200, "EUR"),
        ("Welche Rechnungen liegen über 1.234,50 €?", 1234.5, "EUR"),
        ("factures de plus de 1 200 €", 1200, "EUR"),
        ("factures de plus de 1\u202f234,50 €", 1234.5, "EUR"),
        ("Welche Kunden haben mehr als drei Bestellungen?", 3, None),
        ("Quels clients ont plus de douze commandes ?", 12, None),
        ("Hunde mit einem Gewicht von 4,5 kg", 4.5, None),
        ("invoices of 1,200 euros", 1200, "EUR"),
        ("dogs that weigh 1.200 kg", 1.2, None),
    ],
)
def test_a_number_is_read_in_the_format_of_its_language(question: str, number: float, currency: str | None) -> None:
    [mention] = read_words(question, Names({}), [], TODAY).numbers
    assert (mention.one, mention.currency) == (number, currency)
