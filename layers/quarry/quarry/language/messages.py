"""What is said to people, in their language: English stands in the source, `data/*.mo` hold the other languages.

`speaking` sets the language for what is called within it, in threads of `off_loop` too. A message is marked by the call that
says it, `gettext`, `ngettext` or `pgettext`, or by `gettext_noop` where it is said later; `tools/translations.py` collects them.
Placeholders are those of `str.format`, by name.
"""

from __future__ import annotations

import string
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from quarry.language.recognition import CODES, Language, language_of

if TYPE_CHECKING:
    from gettext import GNUTranslations

    from quarry.language.writing import Writing

_language: ContextVar[Language | None] = ContextVar("language", default=None)

Arguments = ParamSpec("Arguments")
Event = TypeVar("Event")
Request = TypeVar("Request", bound="Asks")


def language() -> Language | None:
    """The language that is spoken; None where nobody asked for one, which is then English."""
    return _language.get()


def writing() -> Writing:
    """How the language that is spoken writes numbers, money and dates."""
    # errors say messages too, and need no formats to be read
    from quarry.language.writing import writing_of

    return writing_of(language() or "english")


@contextmanager
def speaking(other: Language | None) -> Iterator[None]:
    """Sets the language of what is said within; None leaves it as it is."""
    token = _language.set(other or language())
    try:
        yield
    finally:
        _language.reset(token)


class Asks(Protocol):
    """A request that asks something."""

    @property
    def questions(self) -> Sequence[str]:
        """The user's questions, the newest first."""


def in_language_of_question(
    search: Callable[Concatenate[Request, Arguments], AsyncGenerator[Event]],
) -> Callable[Concatenate[Request, Arguments], AsyncGenerator[Event]]:
    """Makes the events of a search speak the language of the first of its request's questions whose language is certain."""

    @wraps(search)
    async def in_language(
        request: Request, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> AsyncGenerator[Event]:
        question_language = next((each for each in map(language_of, request.questions) if each is not None), None)
        async with aclosing(search(request, *args, **kwargs)) as events:
            # the language is set for each step alone: whoever reads the events speaks another, and may do so in other tasks
            while True:
                with speaking(question_language):
                    event = await anext(events, None)
                if event is None:
                    return
                yield event

    return in_language


def accepted_language(header: str) -> Language | None:
    """The first language of an `Accept-Language` header if answers are given in it, by weight; None for another one."""
    weighted: list[tuple[float, str]] = []
    for part in header.lower().split(","):
        name, _, weight = part.partition(";q=")
        try:
            weighted.append((float(weight or 1), name.strip().partition("-")[0]))
        except ValueError:
            continue
    supported = [(weight, name) for weight, name in weighted if weight > 0 and name in CODES]
    return CODES[max(supported, key=lambda each: each[0])[1]] if supported else None


def gettext(text: str, /, **values: object) -> str:
    """A message with its placeholders filled."""
    catalogue = _catalogue()
    return _filled(catalogue.gettext(text) if catalogue else text, values)


def ngettext(one: str, many: str, number: float, /, **values: object) -> str:
    """A message in the form for a number: English has one for 1 and one for others. `{number}` is the number in words."""
    catalogue = _catalogue()
    # a fraction is of the form of several
    text = (
        catalogue.ngettext(one, many, int(number) if number == int(number) else 2)
        if catalogue
        else one
        if number == 1
        else many
    )
    return _filled(text, {"number": writing().number(number), **values})


def pgettext(context: str, text: str, /, **values: object) -> str:
    """A message whose text alone does not say what it means, such as "none"."""
    catalogue = _catalogue()
    return _filled(catalogue.pgettext(context, text) if catalogue else text, values)


def translation(context: str, text: str) -> str | None:
    """A message in the language that is spoken, as it is; None if the language has none."""
    catalogue = _catalogue()
    if catalogue is None:
        return text
    key = catalogue.CONTEXT % (context, text)
    message = catalogue.gettext(key)
    return None if message == key else message


def gettext_noop(text: str) -> str:
    """Marks a message that `gettext` says later."""
    return text


def _catalogue() -> GNUTranslations | None:
    current = language()
    return None if current is None or current == "english" else _translations(current)


@cache
def _translations(name: Language) -> GNUTranslations:
    from gettext import GNUTranslations
    from importlib.resources import files

    code = next(code for code, each in CODES.items() if each == name)
    with (files("quarry.language") / "data" / f"{code}.mo").open("rb") as file:
        return GNUTranslations(file)


_VOWELS = "aeiouyàâäæéèêëîïôöœùûü"


def _filled(text: str, values: dict[str, object]) -> str:
    """A message with its placeholders filled. French elides "de" and "que" before a vowel."""
    if not values:
        # nothing of a message without placeholders is doubled
        return text
    if language() != "french":
        return text.format(**values)
    parts: list[str] = []
    for before, name, form, _ in string.Formatter().parse(text):
        value = "" if name is None else format(values[name], form or "")
        is_elided = before.endswith((" de ", " que ")) or before in ("de ", "que ")
        if is_elided and value[:1].lower() in _VOWELS and value:
            before = f"{before[:-2]}’"
        parts += [before, value]
    return "".join(parts)
