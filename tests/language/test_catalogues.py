"""The catalogues translate every message, with its placeholders and plural forms. `make check` compares them with the source."""

from __future__ import annotations

import ast
import datetime
import re
from collections.abc import Iterator
from io import BytesIO
from typing import TypeGuard

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from quarry.language.messages import accepted_language, gettext, ngettext, pgettext, speaking, writing
from quarry.language.recognition import Language
from quarry.language.writing import days_label, value_label
from tools.translations import FOLDER, KEYWORDS, LANGUAGES, PACKAGE

SAME = {"{field}", "{}", " ({conditions})", "{said} ({definitions})", "{label} ({which})", "{field} ({period})", "no"}
_PLACE = re.compile(r"\{\w*\}")


def stored(code: str) -> Catalog:
    return read_po(BytesIO((FOLDER / f"{code}.po").read_bytes()), locale=code)


def messages(code: str) -> Iterator[Message]:
    return (each for each in stored(code) if each.id)


def texts(message: Message) -> list[tuple[str, str]]:
    """Each text of a message with its translation."""
    if isinstance(message.id, str):
        assert isinstance(message.string, str)
        return [(message.id, message.string)]
    assert isinstance(message.string, tuple)
    one, several = message.id
    return [(one, message.string[0]), *((several, each) for each in message.string[1:])]


def test_every_message_stands_where_it_is_found() -> None:
    """A call within an f-string is not seen, nor is a text that is put together before."""
    hidden: list[str] = []
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        within = [each for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in ast.walk(node)]
        hidden += [f"{path.name}:{each.lineno}" for each in within if is_marked(each)]
        made = (each for each in ast.walk(tree) if is_marked(each) and isinstance(each, ast.Call))
        hidden += [f"{path.name}:{each.lineno}" for each in made if isinstance(each.args[0], ast.JoinedStr | ast.BinOp)]
    assert not hidden


def test_every_message_of_the_page_stands_where_it_is_found() -> None:
    """A call within another one is not seen."""
    known = {text for message in messages("de") for text, _ in texts(message)}
    marked = re.compile(r"\bgettext\('((?:[^'\\]|\\.)+)'")
    said = [
        text for path in (PACKAGE / "page").rglob("*.js") for text in marked.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(said) > 100
    assert {text.replace("\\'", "'") for text in said} <= known


def is_marked(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_message_is_translated_with_its_placeholders(code: str) -> None:
    pairs = [pair for message in messages(code) for pair in texts(message)]
    assert len(pairs) > 400
    assert not [text for text, said in pairs if text.strip() and not said.strip()]
    wrong = [text for text, said in pairs if sorted(_PLACE.findall(text)) != sorted(_PLACE.findall(said))]
    assert not wrong
    # a message that has spaces at its ends joins others
    ends = [text for text, said in pairs if text != text.strip() and said == said.strip()]
    assert not ends


@pytest.mark.parametrize(
    ("language", "one", "several", "number"),
    [
        ("english", "1 employee", "2,500 employees", "1,234.5"),
        ("german", "1 Mitarbeitende", "2.500 Mitarbeitende", "1.234,5"),
        ("french", "1 salarié", "2\u202f500 salariés", "1\u202f234,5"),
    ],
)
def test_a_message_has_the_form_and_the_digits_of_the_language(
    language: Language, one: str, several: str, number: str
) -> None:
    with speaking(language):
        said = [ngettext("{number} employee", "{number} employees", each) for each in (1, 2500)]
        assert (said, writing().measured(1234.5)) == ([one, several], number)


def test_nothing_is_a_plural_in_english_and_german_and_none_in_french() -> None:
    said: list[str] = []
    for language in ("english", "german", "french"):
        with speaking(language):
            said.append(ngettext("{number} company fits", "{number} companies fit", 0))
    assert said == ["0 companies fit", "0 Unternehmen passen", "0 entreprise convient"]


def test_french_elides_before_a_vowel() -> None:
    with speaking("french"):
        said = [pgettext("avg", "average {field}", field=each) for each in ("amount", "price", "écart", "hauteur")]
    assert said == ["moyenne d’amount", "moyenne de price", "moyenne d’écart", "moyenne de hauteur"]


DAY = datetime.date(2026, 5, 3)


@pytest.mark.parametrize(
    ("language", "labels"),
    [
        ("german", ["am 3. Mai 2026", "seit dem 3. Mai 2026", "im Jahr 2026", "im Mai 2026", "2. Quartal 2026", "kein Wert"]),
        ("french", ["le 3 mai 2026", "depuis le 3 mai 2026", "en 2026", "en mai 2026", "T2 2026", "aucune valeur"]),
    ],
)  # fmt: skip
def test_days_and_periods_are_said_in_the_language(language: Language, labels: list[str]) -> None:
    first, last = datetime.date(2026, 1, 1), datetime.date(2026, 12, 31)
    may = datetime.date(2026, 5, 1), datetime.date(2026, 5, 31)
    with speaking(language):
        said = [
            days_label(DAY, DAY, writing()),
            days_label(DAY, None, writing()),
            days_label(first, last, writing()),
            days_label(*may, writing()),
            value_label(DAY, "quarter"),
            value_label(None, None),
        ]
    assert said == labels


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de", "german"),
        ("de-CH,de;q=0.9,en;q=0.8", "german"),
        ("en-US,en;q=0.9,fr;q=0.8", "english"),
        ("es,fr;q=0.5,en;q=0.3", "french"),
        ("en;q=0.2, fr;q=0.7", "french"),
        ("es", None),
        ("de;q=0", None),
        ("*", None),
        ("de;q=much", None),
        ("", None),
    ],
)
def test_the_language_of_a_client_is_the_first_that_answers_are_given_in(
    header: str, language: Language | None
) -> None:
    assert accepted_language(header) == language


def test_what_was_spoken_before_is_spoken_again() -> None:
    with speaking("german"), speaking("french"), speaking(None):
        assert gettext("Nobody fits.") == "Personne ne correspond."
    assert gettext("Nobody fits.") == "Nobody fits."
