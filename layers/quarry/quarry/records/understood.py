"""Whether all that a question says has been understood: a number of what was read in part would be a wrong one."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence, Set

from quarry.language.nouns import is_plural, singular
from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.records.reading import RecordsReading
from quarry.retrieval.facets import SearchTable
from quarry.spans.date_verbs import is_dated_verb, is_event
from quarry.spans.measures import MONEY_VERBS, SALES, is_measuring
from quarry.spans.mention import (
    Asked,
    Cue,
    DateRange,
    Duration,
    FacetName,
    Known,
    Mention,
    MoneyRange,
    NumberRange,
    Phrase,
    Place,
    Reference,
    Span,
    Word,
)
from quarry.spans.parser import leads_to_number
from quarry.spans.quantities import dimension_of
from quarry.spans.question import Clause, spans_of

LEAD_CHARACTERS_MAX = 40
SHORTENED_MIN = 4
"""Of fewer letters, a word does not tell what it is short for."""
_KINDS = frozenset("kind type sort".split())
_GROUPING = frozenset("by per".split())
_BE = (["is"], ["are"], ["was"], ["were"], ["been"], ["be"], ["being"])
_PARTICIPLES = frozenset("taken given made run held shown seen found".split())
_EXISTING = frozenset("recorded listed held found filed located mentioned registered stored happened occurred".split())
"""Participles that only say that something is there."""
_SOLD = frozenset(stem(verb) for verb in "sold bought purchased ordered invoiced".split())


def is_read_whole(reading: RecordsReading, clauses: Sequence[Clause]) -> bool:
    """Whether every word that says something has been understood: a number of what was read in part would be a wrong one."""
    used = spans_of(clauses)
    used.update(reading.question.asked_by)
    clause_facets = {condition.facet for clause in clauses for condition in clause} | _asked_facets(reading)
    for place, mention in enumerate(reading.parsed.mentions):
        value = mention.value
        if only_measures(reading, place):
            continue
        if mention.span in used or value in (Cue("noun"), Cue("filler")):
            continue
        if (
            only_says_done(reading, place)
            or only_says_sold(mention)
            or is_shortened(mention, reading)
            or ends_duration(reading, mention)
        ):
            continue
        said = reading.parsed.said(mention).lower()
        if (
            value == Cue("light")
            and place
            and reading.parsed.mentions[place - 1].value == Cue("relates")
            and is_plural(said)
        ):
            # "of features", where nothing is one
            return False
        is_meant = isinstance(
            value, (Word, Phrase, Known, NumberRange, MoneyRange, DateRange, Duration, Place, Reference)
        )
        names_nothing = isinstance(value, FacetName) and not clause_facets & {*value.facets}
        if is_meant or names_nothing or mention.assertion in ("doubtful", "preferred"):
            return False
    done = {each.span for place, each in enumerate(reading.parsed.mentions) if only_says_done(reading, place)}
    return all(done.issuperset(each.evidence) for each in reading.question.preferred)


def is_compared_unread(reading: RecordsReading, clauses: Sequence[Clause]) -> bool:
    """Whether a word that was not understood leads to a number which rows are to have: it may compare ("beneath 30"), so that
    they need not be equal.
    """
    used, mentions = spans_of(clauses), reading.parsed.mentions
    for place, mention in enumerate(mentions):
        number = leads_to_number(mentions, place) if isinstance(mention.value, Word) else None
        is_read = mention.span in used or only_measures(reading, place) or only_says_sold(mention)
        if number is not None and number.span in used and not is_read:
            return True
    return False


def ends_duration(reading: RecordsReading, mention: Mention) -> bool:
    """Whether a verb says what ends the time that is asked for ("how long does it take to settle a claim"): the only other date
    of rows that tell how long something took.
    """
    word = reading.parsed.said(mention).lower()
    return isinstance(mention.value, Word) and any(
        is_event(word, _only_other_event(table))
        for table in reading.types.counted.values()
        if any(each.name == reading.question.ask.of and dimension_of(each.unit) == "time" for each in table.facets)
    )


def _only_other_event(table: SearchTable) -> Sequence[str]:
    """What happens on the only date of rows beside the one that dates them; nothing where there is none, or are several."""
    dates = [each for each in table.facets if each.kind == "date" and each.steps == 0 and each.name != table.date]
    return dates[0].events if len(dates) == 1 else ()


def lists_values(reading: RecordsReading) -> bool:
    """Whether anybody's rows are asked for the values that a facet has ("which depots are there"): they are told with the number
    of rows that have each.
    """
    ask = reading.question.ask
    facet = next((each for each in reading.types.united.facets if each.name == ask.facet), None)
    is_of_values = ask.kind == "groups" and ask.grain is None and ask.function is None
    return (
        reading.types.united.reckons
        and is_of_values
        and facet is not None
        and facet.kind not in ("date", "year")
        and reading.asked == {"list"}
    )


def _asked_facets(reading: RecordsReading) -> set[str]:
    """What is reckoned, which may be named in parts ("tickets were sold")."""
    ask = reading.question.ask
    return {*ask.facets} if ask.function else set()


def is_shortened(mention: Mention, reading: RecordsReading) -> bool:
    """Whether a word is what the name of the number that is asked for shortens: "preparation" of `prep_minutes`."""
    ask = reading.question.ask
    if not isinstance(mention.value, Word) or ask.function is None:
        return False
    word = reading.parsed.said(mention).lower()
    parts = {part for facet in ask.facets for part in facet.split("_")}
    return any(len(part) >= SHORTENED_MIN and word.startswith(part) for part in parts)


def names_nothing_else(
    reading: RecordsReading, name: str, table: SearchTable, clauses: Sequence[Clause], others: Container[Span]
) -> bool:
    """Whether no other rows are named than those of a type, and no facet that makes no condition and is not asked for."""
    asked = {*reading.question.asked_by}
    if reading.question.ask.kind == "groups" and not reading.question.ask.function and _is_most_of_what(reading):
        return False
    constrained = {condition.facet for clause in clauses for condition in clause} | _asked_facets(reading)
    for place, mention in enumerate(reading.parsed.mentions):
        said = reading.parsed.said(mention)
        if mention.assertion == "doubtful" and isinstance(mention.value, FacetName | Known):
            return False
        if mention.value == Cue("light") and _says_of_rows(reading, place) and not lists_values(reading):
            return False
        if said.lower() in _KINDS and mention.value == Cue("filler") and _is_grouped_by(reading, place):
            return False
        if isinstance(mention.value, Known) and _is_led_elsewhere(reading, place, mention.value, table):
            return False
        is_other = mention.value == Cue("noun") and name not in reading.types.called(said)
        if is_other and mention.span not in asked and mention.span not in others:
            return False
        is_name = isinstance(mention.value, FacetName) and mention.span not in asked
        # "total orders" are their number; of which date a verb speaks was seen before
        is_name = is_name and said.lower() != "total" and mention.source != "rule"
        if is_name and isinstance(mention.value, FacetName) and not constrained & {*mention.value.facets}:
            return False
    return True


def _is_grouped_by(reading: RecordsReading, place: int) -> bool:
    """Whether the word before says that rows are told by what stands there, which nothing is called ("by kind")."""
    before = reading.parsed.mentions[place - 1] if place else None
    return before is not None and reading.parsed.said(before).lower() in _GROUPING


_OWE = stem("owe")
"""What is owed is an amount that no name of a number says."""


def _is_most_of_what(reading: RecordsReading) -> bool:
    """Whether a question ends in a "most" that is not of the rows ("which maker sold the most"), nor of how often something was
    done that makes a row ("which loom was used most", "who used the loom most").
    """
    parsed, mentions = reading.parsed, reading.parsed.mentions
    last = mentions[-1] if mentions else None
    if last is None or not isinstance(last.value, Asked) or last.value.what not in ("most", "least"):
        return False
    if keys(parsed.said(last))[-1:] not in (("most",), ("least",)):
        return False
    behind_verb = list(mentions[:-1])
    while behind_verb and (isinstance(behind_verb[-1].value, Known) or behind_verb[-1].value == Cue("filler")):
        behind_verb.pop()
    verb = behind_verb[-1] if behind_verb else last
    said = parsed.said(verb)
    if is_dated_verb(verb) and stem(said) not in MONEY_VERBS:
        return False
    return verb.value != Cue("noun") and (verb.value != Cue("light") or is_measuring(said) or stem(said) == _OWE)


def of_others(reading: RecordsReading, name: str, table: SearchTable) -> dict[Span, Set[str]]:
    """What is said of other rows that those of a type refer to ("orders by customers from Norway"): by the characters of these
    rows' name and of the value beside it, the facets of the table that lead there.
    """
    mentions, said = reading.parsed.mentions, dict[Span, Set[str]]()
    for place, mention in enumerate(mentions):
        called = reading.types.called(reading.parsed.said(mention))
        if mention.value != Cue("noun") or name in called:
            continue
        sources = {reading.types.counted[each].source for each in called} - {None}
        led = {facet.name for facet in table.facets if sources & {*facet.via}}
        for other in _values_beside(mentions, place):
            value = mentions[other].value
            known = value.values if isinstance(value, Known) else value.known if isinstance(value, Place) else ()
            if facets := led & {each.facet for each in known}:
                said[mention.span] = facets
                said[mentions[other].span] = facets
    return said


def _values_beside(mentions: Sequence[Mention], place: int) -> Iterator[int]:
    """What stands right before the name of rows, or behind it after "from" or "in"."""
    if place and mentions[place].start - mentions[place - 1].end == 1:
        yield place - 1
    following = place + 1
    while following < len(mentions) and mentions[following].value in (Cue("relates"), Cue("filler"), Cue("light")):
        following += 1
    if following > place + 1 and following < len(mentions):
        yield following


def only_of(clause: Clause, others: Mapping[Span, Set[str]]) -> Clause:
    """A clause about other rows, of the facets alone that lead to these."""
    return tuple(
        condition
        for condition in clause
        if all(condition.facet in others[each] for each in condition.evidence if each in others)
    )


def _is_led_elsewhere(reading: RecordsReading, place: int, value: Known, table: SearchTable) -> bool:
    """Whether words before a value say that it is one of a facet which does not hold it ("ended at the harbour")."""
    before = reading.parsed.text[max(0, reading.parsed.mentions[place].start - LEAD_CHARACTERS_MAX) :]
    before = before[: min(LEAD_CHARACTERS_MAX, reading.parsed.mentions[place].start)].lower()
    words = [word for word in before.split() if word not in ("the", "a", "an")]
    led = {facet.name for facet in table.facets for lead in facet.leads if " " in lead and lead == " ".join(words[-2:])}
    return bool(led) and not led & {each.facet for each in value.values}


def only_measures(reading: RecordsReading, place: int) -> bool:
    """Whether a word is the verb of the comparison behind it ("lasted longer than 5 minutes")."""
    mention, following = (reading.parsed.mentions[each : each + 1] for each in (place, place + 1))
    said = reading.parsed.said(mention[0])
    return (
        bool(following) and isinstance(following[0].value, NumberRange | MoneyRange | Duration) and is_measuring(said)
    )


def _says_of_rows(reading: RecordsReading, place: int) -> bool:
    """Whether a participle that leads to nothing is what is said of the rows ("how many pads were used")."""
    mentions, text = reading.parsed.mentions, reading.parsed.text
    word = text[mentions[place].start : mentions[place].end].lower()
    before = text[mentions[place - 1].start : mentions[place - 1].end].lower() if place else ""
    is_last = all(
        isinstance(each.value, DateRange) or each.value in (Cue("filler"), Cue("relates"))
        for each in mentions[place + 1 :]
    )
    is_participle = word.endswith("ed") or word in _PARTICIPLES
    return is_last and is_participle and before.split()[-1:] in _BE and word not in _EXISTING


def may_be_sold(reading: RecordsReading, table: SearchTable) -> bool:
    """Whether rows of the table tell of what was sold, where the question says that something was."""
    asked = {*reading.question.asked_by}
    others = (each for each in reading.parsed.mentions if each.span not in asked)
    is_said = reading.question.ask.function is not None and any(map(only_says_sold, others))
    return not is_said or bool(SALES & {singular(each) for noun in table.nouns for each in keys(noun)})


def only_says_done(reading: RecordsReading, place: int) -> bool:
    """Whether a word is the verb right behind who did what is reckoned ("how many km did Ada drive")."""
    mentions, said = reading.parsed.mentions, reading.parsed.said
    if place < 2 or reading.question.ask.function is None or said(mentions[place - 2]).lower() != "did":
        return False
    is_verb = isinstance(mentions[place].value, Word) or (
        isinstance(mentions[place].value, Known) and mentions[place].is_latent
    )
    return is_verb and isinstance(mentions[place - 1].value, Known)


def only_says_sold(mention: Mention) -> bool:
    """Whether a word only says that something was sold, which lines of what was sold do by being there."""
    return isinstance(mention.value, Word) and not mention.value.is_name and mention.value.stem in _SOLD
