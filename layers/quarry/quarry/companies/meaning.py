"""What words mean where companies are searched: a word of a profile that is a company's name too, a status that may be
an ordinary adjective, a place where customers are. Pure: mentions in, mentions out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from quarry.companies.facets import COMPANIES, NAME_FACETS, PERSON_FACETS, STAGE, STATUS, TAG_FACETS
from quarry.language.irregular import BE
from quarry.language.numerals import numeral_value
from quarry.language.stemming import stem
from quarry.language.tokens import Token, keys
from quarry.platform.text import STOP_WORDS
from quarry.spans.mention import (
    Asked,
    Cue,
    DateRange,
    FacetName,
    Known,
    KnownValue,
    Mention,
    MoneyRange,
    NumberRange,
    ParsedQuery,
    Phrase,
    Place,
    Word,
)

NOUN_AHEAD_MAX = 4
"""So far behind an adjective may the noun stand that it describes ("acquired French music startups")."""
STAGES_BY_AGE = {"early": ("pre_seed", "seed"), "late": ("series_c", "growth"), "later": ("series_c", "growth")}
"""The stages that "early stage" and the like stand for."""
LATER = frozenset("later above beyond up more higher onwards".split())
EARLIER = frozenset("earlier below before less lower".split())
"""What says behind a stage that those after it, or before it, are meant as well."""
LISTED_MAX = 12
"""So many mentions before and behind one are those that it is listed with."""
_DOINGS = frozenset(stem(word) for word in "build sell offer provide deal develop deliver produce create serve".split())
"""What every company does; such a word leads to what it does it with."""
_SERVED = frozenset(stem(word) for word in "customer client user buyer audience".split())
"""Those whom every company has; such a word leads to who they are."""
_STARTUP = Known((KnownValue(STATUS, "startup"),))
_LISTED = Known((KnownValue(STATUS, "public"),))
_NEGATIVE = frozenset(("negates", "negates_verb", "negates_list", "former", "negative", "uncertain"))
"""The cues of which one may make doubtful what else its clause mentions."""
_AT = frozenset("in from near at within across around outside of inside".split())
_FOR = frozenset("for to by with helping serving targeting among between into".split())


def as_companies(parsed: ParsedQuery) -> ParsedQuery:
    """The mentions as they are meant where companies are searched: who is named outright was looked for before."""
    parsed = _without_doings(parsed)
    meant = [_as_meant(parsed, place) for place in range(len(parsed.mentions))]
    asks = any(isinstance(mention.value, Asked) for mention in parsed.mentions)
    return _without_startups(
        replace(
            parsed,
            mentions=tuple(_of_topic(parsed, mention, place, asks=asks) for place, mention in enumerate(meant)),
        )
    )


def _without_doings(parsed: ParsedQuery) -> ParsedQuery:
    """ "Do not sell toys", "do not sell to schools": the toys and the schools are ruled out, not the verb, also where some value
    holds it ("live selling").
    """
    mentions = list(parsed.mentions)
    for place, mention in enumerate(parsed.mentions):
        if mention.assertion != "negated" or stem(parsed.said(mention).lower()) not in _DOINGS:
            continue
        behind = [each for each in range(place + 1, len(mentions)) if mentions[each].value != Cue("filler")]
        leads_on = bool(behind) and mentions[behind[0]].value == Cue("relates")
        what = next(iter(behind[leads_on:]), None)
        if what is None or isinstance(mentions[what].value, Cue):
            continue
        if mentions[what].assertion == "negated" or (leads_on and mentions[what].assertion == "affirmed"):
            mentions[place] = replace(mention, value=Cue("light"), assertion="affirmed")
            mentions[what] = replace(mentions[what], assertion="negated")
    return replace(parsed, mentions=tuple(mentions))


def _without_startups(parsed: ParsedQuery) -> ParsedQuery:
    """ "That are not startups": what companies are called is a status too, and ruled out as one. What else was doubtful, since
    nothing else was there for the "not", is meant, unless another one is there.
    """
    mentions = list(parsed.mentions)
    places = [place for place in range(len(mentions)) if _is_startups_ruled_out(parsed, place)]
    for place in places:
        mentions[place] = replace(mentions[place], value=_STARTUP, assertion="negated")
    if places and sum(_is_negative(mention) for mention in mentions) == len(places):
        mentions = [replace(each, assertion="affirmed") if each.assertion == "doubtful" else each for each in mentions]
    return replace(parsed, mentions=tuple(mentions)) if places else parsed


def _is_startups_ruled_out(parsed: ParsedQuery, place: int) -> bool:
    """Whether "startups" stands behind a "not" that reaches nothing else."""
    mention = parsed.mentions[place]
    if not is_noun(mention) or stem(parsed.said(mention).lower()) != _STARTUP.values[0].value:
        return False
    following = next((each for each in parsed.mentions[place + 1 :] if not isinstance(each.value, Cue)), None)
    if following is not None and following.assertion == "negated":
        return False
    before = next((each for each in reversed(parsed.mentions[:place]) if each.value != Cue("filler")), None)
    return before is not None and _is_negative(before) and "," not in parsed.text[before.end : mention.start]


def _is_negative(mention: Mention) -> bool:
    value = mention.value
    return isinstance(value, Cue) and value.what in _NEGATIVE


def _of_topic(parsed: ParsedQuery, mention: Mention, place: int, *, asks: bool) -> Mention:
    """A verb for what every company does says nothing by itself, nor does the "above" of "series B or above"; "the end of the
    month" asks for no months.
    """
    value = mention.value
    if mention.joined_by and parsed.said(mention).lower() in LATER | EARLIER and place > 1:
        listed = parsed.mentions[place - 2]
        return replace(mention, value=Cue("light")) if _is_of(listed, (STAGE,)) else mention
    if isinstance(value, (FacetName, Word)) and _says_whose(parsed, place):
        return replace(mention, value=Cue("light"))
    if stem(parsed.said(mention).lower()) in _SERVED and _leads_to_whom(parsed, place):
        return replace(mention, value=Cue("light"))
    if isinstance(value, Word) and value.stem in _DOINGS and 0 < place < len(parsed.mentions) - 1:
        return replace(mention, value=Cue("light"))
    if isinstance(value, FacetName) and value.grain and not asks:
        return replace(mention, value=_word(parsed, mention))
    return mention


def _says_whose(parsed: ParsedQuery, place: int) -> bool:
    """Whether a verb says that the name beside it is a founder or acquirer: "founded by Ada Falk", "that Ada Falk founded"."""
    mentions, following = parsed.mentions, parsed.mentions[place + 1 : place + 3]
    if len(following) == 2 and parsed.said(following[0]).lower() == "by":
        return bool(_led(parsed, place + 2, _values(following[1])))
    return place > 0 and bool(_doing(parsed, place - 1, _values(mentions[place - 1])))


def _leads_to_whom(parsed: ParsedQuery, place: int) -> bool:
    """Whether behind "customers" stands who they are: "whose customers are", "clients include"."""
    following = parsed.mentions[place + 1 : place + 3]
    return len(following) > 1 and parsed.said(following[0]).lower() in ("are", "is", "include", "including")


def without_names(parsed: ParsedQuery, names: Sequence[str]) -> ParsedQuery:
    """The question as if the words of these names said nothing."""
    text = parsed.text.lower()
    spans = [(start, start + len(name)) for name in names if (start := text.find(name.lower())) >= 0]
    return replace(
        parsed,
        mentions=tuple(
            replace(mention, value=Cue("filler"))
            if any(start <= mention.start and mention.end <= end for start, end in spans)
            else _as_stated(mention)
            for mention in parsed.mentions
        ),
    )


def _as_stated(mention: Mention) -> Mention:
    """What stands beside a name to be like ("like Harbor in Berlin") is no part of what is to be like it."""
    is_condition = isinstance(mention.value, (Place, DateRange, NumberRange, MoneyRange))
    return replace(mention, assertion="affirmed") if is_condition and mention.assertion == "preferred" else mention


def _as_meant(parsed: ParsedQuery, place: int) -> Mention:
    mention = parsed.mentions[place]
    if _place_names(mention) and not _is_home(parsed, place):
        return replace(mention, value=_word(parsed, mention), is_latent=False)
    if parsed.said(mention).lower() == "listed" and _is_attribute(parsed, place):
        return replace(mention, value=_LISTED)
    if stages := _stages_by_age(parsed, place):
        return replace(mention, value=Known(stages), is_latent=False)
    if not isinstance(mention.value, Known):
        return mention
    values = mention.value.values
    if mention.assertion == "negated" and any(each.facet in NAME_FACETS and each.is_whole for each in values):
        return mention
    led = _led(parsed, place, values)
    if led:
        return replace(mention, value=Known(led), assertion="required")
    said = {stem(key) for key in keys(parsed.said(mention)) if key not in STOP_WORDS}
    values = tuple(
        each
        for each in values
        if each.facet not in NAME_FACETS | PERSON_FACETS
        and (each.is_whole or _is_one(said, each) or _is_ruled_out(mention, each))
    )
    if any(each.facet == STATUS for each in values):
        values = tuple(each for each in values if each.facet != STAGE)
    if values and values[0].facet in (STATUS, STAGE) and not _is_said_of_companies(parsed, place, values[0]):
        values = tuple(each for each in values if each.facet not in (STATUS, STAGE))
    return _of_values(parsed, mention, mention.value.values, values)


def _stages_by_age(parsed: ParsedQuery, place: int) -> tuple[KnownValue, ...]:
    """The stages that are "early stage", or "late stage"."""
    following = parsed.mentions[place + 1].value if place + 1 < len(parsed.mentions) else None
    if not (isinstance(following, FacetName) and STAGE in following.facets):
        return ()
    return tuple(KnownValue(STAGE, each) for each in STAGES_BY_AGE.get(parsed.said(parsed.mentions[place]).lower(), ()))


def _is_ruled_out(mention: Mention, value: KnownValue) -> bool:
    """Whether a tag goes with a part of it that is ruled out: hardware sales, of "without hardware"."""
    return mention.assertion == "negated" and value.facet in TAG_FACETS and value.likeness == 1


def _of_values(
    parsed: ParsedQuery, mention: Mention, known: Collection[KnownValue], values: tuple[KnownValue, ...]
) -> Mention:
    """The mention as those of the `known` values that are meant; as words where none is."""
    names = tuple(each for each in known if each.facet in NAME_FACETS and each.is_whole)
    if not values and names and mention.assertion == "affirmed":
        return replace(mention, value=Known(names))  # it rules nothing out, and its words stay in the topic
    if not values and (number := numeral_value(parsed.said(mention))) is not None:
        return replace(mention, value=NumberRange(number, number), is_latent=True)
    if not values:
        return replace(mention, value=_word(parsed, mention), is_latent=False)
    return replace(mention, value=Known(values), is_latent=False)


def _is_home(parsed: ParsedQuery, place: int) -> bool:
    """Whether a place is where companies are ("in Germany", "German robotics companies", "fintech Nigeria"), not where their
    customers are, and no language that they teach.
    """
    mention = parsed.mentions[place]
    before = word_before(parsed, mention)
    if before in _AT or mention.assertion in ("negated", "required"):
        return True
    if before in ("and", "or") and any(
        _place_names(each) and _is_home(parsed, earlier)
        for earlier, each in enumerate(parsed.mentions[max(0, place - 2) : place], max(0, place - 2))
    ):
        return True
    if before in _FOR:
        return False
    if _noun_follows(parsed, place) or len(parsed.mentions) == 1:
        return True
    following = parsed.mentions[place + 1] if place + 1 < len(parsed.mentions) else None
    if following is not None and isinstance(following.value, (Word, Phrase, Known)):
        return False
    is_name = parsed.said(mention).lower() in _place_names(mention)
    return is_name or following is not None


def _place_names(mention: Mention) -> tuple[str, ...]:
    """What a place is called, in lower case; nothing of what is no place."""
    if isinstance(mention.value, Place):
        return (mention.value.name, *mention.value.names)
    if isinstance(mention.value, Known) and all(each.facet in ("city", "country") for each in mention.value.values):
        return tuple(each.value.lower() for each in mention.value.values)
    return ()


_ALTERNATIVES = re.compile(r"\s*(?:[/&,+()|]|\band\b|\bor\b)\s*")


def _is_one(said: Collection[str], value: KnownValue) -> bool:
    """Whether a part of a value is all of one of the things that it lists ("Crypto" of "Crypto / Web3")."""
    parts = _ALTERNATIVES.split(value.value.lower())
    return len(parts) > 1 and any({stem(key) for key in keys(part)} == said for part in parts if part)


def _led(parsed: ParsedQuery, place: int, values: Collection[KnownValue]) -> tuple[KnownValue, ...]:
    """The founder or acquirer that words such as "acquired by" lead to, or to a name that it is listed behind."""
    names = NAME_FACETS | PERSON_FACETS
    if not any(each.facet in PERSON_FACETS for each in values):
        return ()
    for listed in reversed([each for each in _listed(parsed, place, names) if each <= place]):
        start = parsed.mentions[listed].start
        before = " ".join(token.key for token in parsed.tokens if token.end <= start)
        for facet in PERSON_FACETS:
            if before.endswith(COMPANIES.facet(facet).leads):
                return tuple(each for each in values if each.facet == facet)
    return _doing(parsed, place, values)


def _doing(parsed: ParsedQuery, place: int, values: Collection[KnownValue]) -> tuple[KnownValue, ...]:
    """The one who does what the word right behind says: "what did Falk Group acquire", "that Ada Falk founded"."""
    if not any(each.facet in PERSON_FACETS for each in values):
        return ()
    mention = parsed.mentions[place]
    behind = [token.key for token in parsed.tokens if token.start >= mention.end][:2]
    if not behind or behind[1:] == ["by"] or word_before(parsed, mention) in BE:
        return ()
    for facet in PERSON_FACETS:
        if stem(behind[0]) in {stem(lead.partition(" ")[0]) for lead in COMPANIES.facet(facet).leads}:
            return tuple(each for each in values if each.facet == facet and each.is_whole)
    return ()


def _listed(parsed: ParsedQuery, place: int, facets: Collection[str]) -> Sequence[int]:
    """The places of the mention at `place` and of those that "or", "and" or commas join to it one by one, all of values
    of these facets.
    """
    mentions = parsed.mentions
    near = range(max(0, place - LISTED_MAX), min(place + LISTED_MAX + 1, len(mentions)))
    said = [each for each in near if not isinstance(mentions[each].value, Cue)]
    first = last = said.index(place)
    while first and mentions[said[first]].joined_by and _is_of(mentions[said[first - 1]], facets):
        first -= 1
    while last + 1 < len(said) and mentions[said[last + 1]].joined_by and _is_of(mentions[said[last + 1]], facets):
        last += 1
    return said[first : last + 1]


def _is_of(mention: Mention, facets: Collection[str]) -> bool:
    return any(each.facet in facets for each in _values(mention))


def _values(mention: Mention) -> tuple[KnownValue, ...]:
    return mention.value.values if isinstance(mention.value, Known) else ()


def _is_said_of_companies(parsed: ParsedQuery, place: int, value: KnownValue) -> bool:
    """Whether a status or stage is a company's: so is one that is listed with a stage which is ("seed or series A")."""
    return any(
        _is_said_of_company(parsed, listed, each)
        for listed in (_listed(parsed, place, (STAGE,)) if value.facet == STAGE else (place,))
        for each in _values(parsed.mentions[listed])
        if each.facet == value.facet
    )


def _is_said_of_company(parsed: ParsedQuery, place: int, value: KnownValue) -> bool:
    """Whether a status or stage is a company's, and not an adjective of something else ("public transport", "seed
    banks").
    """
    mention = parsed.mentions[place]
    said = keys(parsed.said(mention))
    following = parsed.mentions[place + 1] if place + 1 < len(parsed.mentions) else None
    if following is not None and following.value in (Cue("or"), Cue("and")):
        following = None
    if len(said) > 1:
        return True
    if word_before(parsed, mention) in ("a", "an") and not is_noun(following):
        return False
    if following is None or not _touches(parsed, mention, following):
        if value.facet == STAGE and value.value != "bootstrapped":
            return word_before(parsed, mention) == "at"
        return _is_predicate(parsed, place)
    if is_noun(following):
        return True
    if isinstance(following.value, FacetName):
        return value.facet in following.value.facets
    if isinstance(following.value, (Word, Phrase)):
        is_sure = value.value in ("acquired", "bootstrapped")
        return is_sure and (_noun_follows(parsed, place) or _is_one_word(parsed, place))
    if isinstance(following.value, (Known, Place)):
        # "closed bakeries": what companies are filed under, where they are called nothing else
        is_named = any(is_noun(each) for each in parsed.mentions[:place])
        is_sure = value.value in ("acquired", "bootstrapped") or (value.value == "closed" and not is_named)
        return _noun_follows(parsed, place) or (is_sure and _is_one_word(parsed, place))
    # "insurers acquired in 2021": what befell them on a date
    is_dated = isinstance(following.value, DateRange) and value.value in ("acquired", "closed")
    return value.facet == STATUS and (is_dated or _is_predicate(parsed, place))


def _is_predicate(parsed: ParsedQuery, place: int) -> bool:
    """Whether it is said of what stands before it, and not a word among others ("keeping shops alive")."""
    before = parsed.mentions[place - 1].value if place else None
    return before is None or isinstance(before, (Cue, FacetName, Place, DateRange, NumberRange))


def _is_one_word(parsed: ParsedQuery, place: int) -> bool:
    """Whether no more than one word stands behind, before something else begins ("acquired banks")."""
    after = parsed.mentions[place + 2] if place + 2 < len(parsed.mentions) else None
    return after is None or not isinstance(after.value, (Word, Phrase, Known))


def _is_attribute(parsed: ParsedQuery, place: int) -> bool:
    """Whether nothing but what companies are filed under and where they are stands between here and their noun behind."""
    for mention in parsed.mentions[place + 1 : place + 1 + NOUN_AHEAD_MAX]:
        if not isinstance(mention.value, (Known, Place)):
            return is_noun(mention)
    return False


def _noun_follows(parsed: ParsedQuery, place: int) -> bool:
    return any(is_noun(mention) for mention in parsed.mentions[place + 1 : place + 1 + NOUN_AHEAD_MAX])


def is_noun(mention: Mention | None) -> bool:
    return mention is not None and isinstance(mention.value, Cue) and mention.value.what == "noun"


def _touches(parsed: ParsedQuery, mention: Mention, following: Mention) -> bool:
    return not parsed.text[mention.end : following.start].strip(" -")


def word_before(parsed: ParsedQuery, mention: Mention) -> str:
    """The word before a mention, an article aside."""
    before: Token | None = next(
        (token for token in reversed(parsed.tokens) if token.end <= mention.start and token.key != "the"), None
    )
    return before.key if before else ""


def _word(parsed: ParsedQuery, mention: Mention) -> Word:
    return Word(" ".join(stem(key) for key in keys(parsed.said(mention))))
