"""Reading a question by rule: which search answers it, with which filters, and what of the campaigns is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from quarry.campaigns.contract import CampaignFilters
from quarry.campaigns.filters import VALUE_FILTERS, plain
from quarry.campaigns.found import KnownValues
from quarry.campaigns.periods import find_period
from quarry.core.text import STOP_WORDS, stem, words

Asked = Literal["campaigns", "count", "offer", "value_prop", "sentiment", "visual_style", "channel", "company", "brand"]
"""What an answer is to tell: the campaigns themselves, their number, or the values of a field."""

Route = Literal["semantic_search", "filter_campaigns", "full_text_search"]

# Other words for values, by a word of the value's own name.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "email": ("e mail", "emails", "newsletter", "newsletters", "inbox"),
    "direct mail": ("mailer", "mailers", "letter", "letters", "postcard", "postcards", "by post"),
    "tv": ("television", "commercial", "commercials", "spot"),
    "social": ("social media", "instagram", "facebook", "tiktok"),
    "display": ("banner", "banners"),
    "radio": ("audio",),
    "podcast": ("podcasts",),
    "sms": ("text message", "text messages", "texting"),
    "out of home": ("billboard", "billboards", "outdoor", "poster", "posters"),
    "illustration": ("illustrated", "drawn", "drawings"),
    "animation": ("animated", "cartoon", "cartoons"),
    "cash back": ("cashback", "cash back", "money back on purchases"),
    "rewards": ("reward", "points"),
    "no annual fee": ("no fee", "no fees", "without a fee", "fee free", "without annual fee"),
    "free shipping": ("free delivery", "ships free"),
    "free trial": ("trial", "try for free"),
    "premium": ("luxurious", "luxury", "upscale", "exclusive"),
    "playful": ("funny", "humorous", "fun", "lighthearted"),
    "urgent": ("urgency", "hurry", "limited time"),
    "trustworthy": ("trust", "reassuring", "reliable"),
    "aspirational": ("inspiring", "aspiration"),
    "warm": ("cosy", "cozy", "heartwarming"),
}

# A value that is also an everyday word is named only so.
_ONLY_AS: Mapping[str, tuple[str, ...]] = {
    "push": ("push notification", "push campaign", "push message", "push ad", "by push", "on push", "push channel"),
    "search": ("search ad", "search campaign", "paid search", "by search", "on search", "search channel"),
}

_ASKED: tuple[tuple[Asked, re.Pattern[str]], ...] = (
    ("count", re.compile(r"\b(how many|number of|count( of)?|how often)\b")),
    ("offer", re.compile(r"\b(offers?|deals?|promotions?|discounts?|incentives?)\b")),
    ("value_prop", re.compile(r"\b(value prop(osition)?s?|selling points?|benefits?|promises?|promise)\b")),
    ("sentiment", re.compile(r"\b(sentiments?|moods?|tones?|feel(ing)?s?|emotions?)\b")),
    ("visual_style", re.compile(r"\b((visual )?styles?|looks?|visuals|imagery|designs?)\b")),
    ("channel", re.compile(r"\b(channels?|media|medium)\b")),
    ("company", re.compile(r"\b(compan(y|ies)|advertisers?|competitors?|who)\b")),
    ("brand", re.compile(r"\bbrands?\b")),
)

_MENTIONS = re.compile(
    r"\b(?:mention(?:s|ed|ing)?|say(?:s|ing)?|said|contain(?:s|ing)?|includ(?:e|es|ing) the words?|"
    r"(?:with|using|uses?|use) the (?:words?|phrase)s?|the (?:words?|phrase)s?|talk(?:s|ing)? about)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“”‘]([^\"“”’]{2,200})[\"“”’]")
_MAKES_OFFER = re.compile(r"\b(with|have|has|having|make|makes|making) (an? |any |special )?offers?\b")
_MAKES_NO_OFFER = re.compile(r"\b(without|no|not? (make|have)|lack(s|ing)?) (an? |any )?offers?\b")
_FOLLOWS_UP = re.compile(
    r"^(and|also|what about|how about|only|just|of (these|those|them)|among (these|those|them)|which of)\b"
)

# Words that say what is searched or asked, never what it is about.
_NOT_TOPICS = frozenset(
    stem(word)
    for word in """
    campaign ad ads advert advertisement advertising marketing copy creative piece message run ran running captured capture
    show list find give tell search look recent latest new newest last lately current offer deal promotion discount value prop
    proposition propositions sentiment mood tone style channel brand company companies competitor who many number count common
    popular frequent typical usual top most best main often mention say word phrase contain use theirs month year week quarter
    day since before after between visual imagery used work works summarize summarise compare overview all total promise take
    without feature kind type based
    """.split()
)
_MOST_COMMON = re.compile(
    r"\b(most (common|popular|frequent|used|often)|commonest|top|main|typical|usual(ly)?|breakdown|split)\b"
)


@dataclass(frozen=True)
class Routed:
    """How a question was read."""

    route: Route
    filters: CampaignFilters
    asked: Asked = "campaigns"
    most_common: bool = False
    query: str = ""

    @property
    def without_query(self) -> Routed:
        """The same question without its theme or words: its filters alone."""
        return replace(self, route="filter_campaigns", query="")


def route(question: str, earlier_questions: Sequence[str], known: KnownValues) -> Routed:
    """How `question` is to be answered. One that takes an earlier one up ("and by email?") keeps that one's filters, and what it
    asked for, where it names none of its own.
    """
    own = _read(question, known)
    if not (earlier_questions and _FOLLOWS_UP.match(question.strip().lower())):
        return own
    before = route(earlier_questions[-1], earlier_questions[:-1], known)
    kept = before.filters.given()
    filters = CampaignFilters.model_validate(kept | own.filters.given())
    names_a_topic = own.route != "filter_campaigns"
    return Routed(
        own.route if names_a_topic else before.route,
        filters,
        own.asked if own.asked != "campaigns" else before.asked,
        own.most_common or before.most_common,
        own.query if names_a_topic else before.query,
    )


def _read(question: str, known: KnownValues) -> Routed:
    question = " ".join(question.split())
    text = plain(question)
    values, rest = _take_values(text, known)
    period, rest = find_period(rest, known.latest)
    has_offer = False if _MAKES_NO_OFFER.search(text) else True if _MAKES_OFFER.search(text) else None
    filters = CampaignFilters.model_validate(
        {name: list(found) for name, found in values.items()} | {"date_range": period, "has_offer": has_offer}
    )
    asked = _asked(rest)
    most_common = bool(_MOST_COMMON.search(text))
    if phrase := _mentioned(question):
        return Routed("full_text_search", filters, asked, most_common, phrase)
    topic = [word for word in topic_words(rest) if stem(word) not in _NOT_TOPICS and not word.isdigit()]
    if topic:
        return Routed("semantic_search", filters, asked, most_common, " ".join(topic))
    return Routed("filter_campaigns", filters, asked, most_common, "")


def _asked(text: str) -> Asked:
    """What is asked for: the first thing named, but for a number, which wins wherever it stands."""
    found = [(match.start(), name) for name, pattern in _ASKED if (match := pattern.search(text))]
    if any(name == "count" for _, name in found):
        return "count"
    return min(found)[1] if found else "campaigns"


def _mentioned(question: str) -> str:
    """The words that the copy is to say: those in quotes, else those after "mentions", "says" and the like."""
    if quoted := _QUOTED.findall(question):
        return " ".join(f'"{part.strip()}"' for part in quoted)
    match = _MENTIONS.search(question)
    return " ".join(topic_words(match["rest"])) if match else ""


def _take_values(text: str, known: KnownValues) -> tuple[dict[str, tuple[str, ...]], str]:
    """The known values that `text` names, by filter, and the text without them; the longest names are looked for first."""
    meanings = _meanings(tuple((name, known.by_filter.get(name, ())) for name in VALUE_FILTERS))
    spoken = text.split()
    places: dict[str, list[tuple[int, int]]] = {}
    for length in range(1, min(meanings.words_max, len(spoken)) + 1):
        for start in range(len(spoken) - length + 1):
            phrase = " ".join(spoken[start : start + length])
            if phrase in meanings.of:
                places.setdefault(phrase, []).append((start, start + length))
    found: dict[str, list[str]] = {}
    for phrase in sorted(places, key=lambda phrase: (-len(phrase), phrase)):
        free = [(start, end) for start, end in places[phrase] if all(spoken[start:end])]
        for start, end in free:
            spoken[start:end] = [""] * (end - start)
        for name, value in meanings.of[phrase] if free else ():
            if value not in found.setdefault(name, []):
                found[name].append(value)
    return {name: tuple(values) for name, values in found.items()}, " ".join(spoken)


@dataclass(frozen=True)
class _Meanings:
    """What each phrase may mean, as (filter, value), and how many words the longest has."""

    of: Mapping[str, Sequence[tuple[str, str]]]
    words_max: int


@lru_cache(maxsize=8)
def _meanings(values: tuple[tuple[str, tuple[str, ...]], ...]) -> _Meanings:
    """The phrases for the values of each filter. One that is a value of two filters means that of the first."""
    meanings: dict[str, list[tuple[str, str]]] = {}
    for name, existing in values:
        for value in sorted(existing):
            for phrase in _phrases(value):
                known = meanings.setdefault(phrase, [])
                if not known or known[0][0] == name:
                    known.append((name, value))
    return _Meanings(meanings, max((phrase.count(" ") + 1 for phrase in meanings), default=0))


def _phrases(value: str) -> set[str]:
    """Every way in which a value may be named: whole, by its parts ("Cash Back / Rewards"), in the plural, by a synonym."""
    parts = {plain(part) for part in re.split(r"\s*[/|,]\s*|\s+&\s+|\s+and\s+", value)} | {plain(value)}
    parts |= {synonym for part in list(parts) for synonym in _SYNONYMS.get(part, ())}
    parts = {form for part in parts for form in _ONLY_AS.get(part, (part,))}
    return {form for part in parts if len(part) > 1 for form in (part, f"{part}s")}


def topic_words(text: str) -> list[str]:
    """The words of `text` that carry a topic, as they stand."""
    return [word for word in words(text) if word not in STOP_WORDS]
