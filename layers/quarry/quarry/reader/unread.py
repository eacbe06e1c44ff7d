"""The words of a question that its first candidate does not read, and which of them take its certainty away. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from quarry.language.word_forms import STOP_WORDS, phrase, stems_of
from quarry.reader.bounds import is_closed, says_how
from quarry.reader.candidates import Candidate, Candidates
from quarry.reader.constraints import NAMED_IN_FULL, vetoes
from quarry.reader.learned import known_words
from quarry.reader.mentions import Mentions, Named, WordRun
from quarry.reader.names import FieldName, SourceName
from quarry.reader.options import LIKENESS_MIN


def explained(found: Candidates) -> set[str]:
    """The words that frame questions of this kind, those that led to a part of the first candidate, and those
    that stand for a field in it.
    """
    first, known = found.all[0], known_words()
    led = found.clues.led(set(first.bundles)) | found.clues.standing_for(_fields(first))
    kind = "numbers" if first.ask.kind == "share" else first.kind
    # "paid" frames "how much was paid", and says which are counted in "how many are paid"
    kinds = (kind,) if kind in ("count", "numbers") else known.framing
    return {*(led & known.telling), *(word for each in kinds for word in known.framing.get(each, ()))}


def may_state(found: Candidates) -> list[str]:
    """What may state a condition that the first candidate lacks: values, numbers, times and texts that it does not read; words
    beside what it asks for ("signed deals", "deals that were signed"); and the name of a field that it only requires to have some
    value, unless that is a time: "active" may be one of several values.
    """
    first, mentions = found.all[0], found.mentions
    places = sorted({*_beside(found), *_named_for_any_value(first, mentions)})
    return list(dict.fromkeys((*vetoes(mentions, first.mask), *(mentions.tokens[place].text for place in places))))


def doubtful(found: Candidates) -> list[str]:
    """What takes the certainty of the first candidate away: what may state a condition that it lacks, the times that it compares
    with a date of which the question says nothing: "the average weight of pets in 2024", where pets have only a day of birth, and
    the times that an unread word may bound.
    """
    return list(dict.fromkeys((*may_state(found), *_times_of_unnamed_dates(found), *_open_times(found))))


def unread_of(found: Candidates) -> list[str]:
    """The words that no part of the first candidate reads, first those that take its certainty away."""
    mask = found.all[0].mask
    return list(dict.fromkeys((*doubtful(found), *found.mentions.unread(mask, explained(found)))))


def is_behind(first: Candidate, mentions: Mentions) -> bool:
    """Whether the question names another source before the one whose rows are asked for."""
    own = mentions.best(first.ask.base)
    return any(
        places[0].likeness >= NAMED_IN_FULL and (own is None or places[0].first < own.first)
        for each, places in mentions.named.items()
        if isinstance(each, SourceName) and each is not first.ask.base
    )


def _beside(found: Candidates) -> Iterator[int]:
    """The unread words that stand beside the words for what is asked, with only unread words and stop words between. For a
    number, those beside its conditions too: "orders from Spain are refunded". Where no word names what is asked, all of them:
    "students", where only teachers are known.
    """
    first, mentions = found.all[0], found.mentions
    mask = first.ask.evidence.mask
    if mask and first.kind in ("count", "numbers", "groups"):
        mask |= first.conditions.evidence.mask
    unread = _unread(found)
    for place in unread:
        ends = (_next_read(mentions, unread, place, step) for step in (-1, 1))
        if not mask or any(end >= 0 and mask >> end & 1 for end in ends):
            yield place


def _unread(found: Candidates) -> set[int]:
    """The words that are no stop words, have led to nothing, and name nothing that the first candidate uses."""
    first, mentions, known = found.all[0], found.mentions, explained(found)
    read = first.mask
    for each in _used(first, found):
        for place in mentions.named.get(each, ()):
            read |= place.mask
    return {
        place
        for place, token in enumerate(mentions.tokens)
        if not read >> place & 1 and token.key not in STOP_WORDS and token.key not in known
    }


def _used(first: Candidate, found: Candidates) -> Iterator[Named]:
    """The sources and fields that a candidate uses."""
    fields = _fields(first)
    yield from fields
    yield from (found.clues.names.sources[name] for name in {first.ask.base.name, *(each.source for each in fields)})


def _fields(first: Candidate) -> list[FieldName]:
    """The fields that a candidate asks for or compares."""
    return [*first.ask.fields, *(test.field for test in first.conditions.tests if test.field)]


def _next_read(mentions: Mentions, unread: set[int], place: int, step: int) -> int:
    """The next word in a direction that is neither unread nor a stop word, within the clause; -1 if there is none."""
    while True:
        if step < 0 and mentions.tokens[place].ends_clause:
            return -1
        place += step
        if not 0 <= place < len(mentions.tokens) or (step > 0 and mentions.tokens[place].ends_clause):
            return -1
        if place not in unread and mentions.tokens[place].key not in STOP_WORDS:
            return place


def _times_of_unnamed_dates(found: Candidates) -> list[str]:
    """The times, as written, if a date is compared with them that no word of the question stands for and that does not date the
    rows asked for.
    """
    first, mentions = found.all[0], found.mentions
    tests = (test for test in first.conditions.tests if test.form == "field" and test.values)
    compared = [test.field for test in tests if test.field and (test.field.is_date or test.field.kind == "year")]
    if all(_is_meant(each, first, found) for each in compared):
        return []
    places = [*(each.place for each in mentions.days), *(each.place for each in mentions.lengths)]
    return [phrase(mentions.text, mentions.tokens, each.first, each.last) for each in places if each.mask & first.mask]


def _open_times(found: Candidates) -> Iterator[str]:
    """The times that the first candidate reads although a word right before them, or the words around, may bound them."""
    mentions, known = found.mentions, explained(found)
    for each in mentions.days:
        place = each.place.first - 1
        is_unread = place >= 0 and not mentions.tokens[place + 1].ends_clause and not found.all[0].mask >> place & 1
        word = mentions.tokens[place].key
        is_unread = is_unread and not mentions.alignable >> place & 1 and not says_how(word) and word not in known
        if each.place.mask & found.all[0].mask and (each.is_open or (is_unread and is_closed(each.days))):
            yield phrase(mentions.text, mentions.tokens, place if is_unread else each.place.first, each.place.last)


def _is_meant(each: FieldName, first: Candidate, found: Candidates) -> bool:
    """Whether a bare time can only be one of this field's: it dates the rows asked for, or those of a source that the question
    names, words stand for it, or it is called nothing but what it holds: a `year`.
    """
    mentions, of = found.mentions, found.clues.names.sources[each.source]
    about = [test.about for test in first.conditions.tests if test.form in ("some", "none") and test.about]
    if any(name != of.name and found.clues.names.sources[name].dated for name in about):
        return _is_named(mentions.best(each))  # "no order in May" tells of the orders, not of the customers
    if each is of.dated and (of is first.ask.base or mentions.best(of) is not None):
        return True
    is_plain = any(set(called) <= {*stems_of(each.kind)} for called in each.called)
    standing = found.clues.standing_for([each]) - STOP_WORDS
    return is_plain or _is_named(mentions.best(each)) or bool(standing)


def _is_named(place: WordRun | None) -> bool:
    """Whether words name something and are not just several whose first letters are a part of its name: "on", of nurses."""
    return place is not None and (place.likeness >= LIKENESS_MIN or place.last - place.first == 1)


def _named_for_any_value(first: Candidate, mentions: Mentions) -> Iterator[int]:
    """The words that name fields which must only have some value."""
    for test in first.conditions.tests:
        named = mentions.best(test.field) if test.field and test.op == "not_null" and _has_kinds(test.field) else None
        yield from range(named.first, named.last) if named else ()


def _has_kinds(each: FieldName) -> bool:
    return each.is_listed or each.kind == "text"
