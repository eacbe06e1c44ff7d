"""The words of a question that its first candidate does not read, and which of them take its certainty away. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from quarry.language.word_forms import STOP_WORDS, phrase, stems_of
from quarry.reader.candidates import Candidates, ordering_words
from quarry.reader.learned import known_words
from quarry.reader.mentions import Mentions, WordRun, union
from quarry.reader.names import FieldName, Name, SourceName
from quarry.reader.options import LIKENESS_MIN, NAMED_IN_FULL
from quarry.reader.surroundings import is_closed, says_how


class Unread:
    """The words of a question that its first candidate does not read, and which of them take its certainty away."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates, self._mentions, self._first = candidates, candidates.mentions, candidates.all[0]

    @cached_property
    def explained(self) -> set[str]:
        """The words that frame questions of this kind, those that led to a part of the first candidate, and those that stand for
        a field in it.
        """
        first, clues, vocabulary = self._first, self._candidates.clues, known_words()
        led = clues.leading_words(set(first.bundles)) | clues.standing_for(self._fields)
        kind = "numbers" if first.ask.kind == "share" else first.kind
        # "paid" frames "how much was paid", and says which are counted in "how many are paid"
        kinds = (kind,) if kind in ("count", "numbers") else vocabulary.framing
        words = set().union(led & vocabulary.telling, *[vocabulary.framing.get(each, ()) for each in kinds])
        if kind != "groups":
            words -= vocabulary.grouping  # a list or one number says nothing "per month"
        fitting, others = ordering_words(first.ask, self._mentions)
        return (words - others) | fitting

    @cached_property
    def may_state(self) -> list[str]:
        """What may state a condition that the first candidate lacks: values, numbers, times and texts that it does not read;
        words beside what it asks for ("signed deals", "deals that were signed"); and the name of a field that it only requires
        to have some value, unless that is a time: "active" may be one of several values.
        """
        places = sorted({*self._beside(), *self._names_of_any_value()})
        words = [self._mentions.tokens[place].text for place in places]
        return list(dict.fromkeys((*vetoes(self._mentions, self._first.mask), *words)))

    @cached_property
    def doubtful(self) -> list[str]:
        """What takes the certainty of the first candidate away: what may state a condition that it lacks, the times that it
        compares with a date of which the question says nothing: "the average weight of pets in 2024", where pets have only a day
        of birth, and the times that an unread word may bound.
        """
        return list(dict.fromkeys((*self.may_state, *self._times_of_unnamed_dates(), *self._open_times())))

    @property
    def words(self) -> list[str]:
        """The words that no part of the first candidate reads, first those that take its certainty away."""
        return list(dict.fromkeys((*self.doubtful, *self._mentions.unread(self._first.mask, self.explained))))

    @cached_property
    def is_behind(self) -> bool:
        """Whether the question names another source before the one whose rows are asked for."""
        base, mentions = self._first.ask.base, self._mentions
        own = mentions.best(base)
        return any(
            places[0].likeness >= NAMED_IN_FULL and (own is None or places[0].first < own.first)
            for each, places in mentions.places.items()
            if isinstance(each, SourceName) and each is not base
        )

    def _beside(self) -> Iterator[int]:
        """The unread words that stand beside the words for what is asked, with only unread words and stop words between. For a
        number, those beside its conditions too: "orders from Spain are refunded". Where no word names what is asked, all of
        them: "students", where only teachers are known.
        """
        first = self._first
        mask = first.ask.evidence.mask
        if mask and first.kind in ("count", "numbers", "groups"):
            mask |= first.conditions.evidence.mask
        unread = self._unread()
        for place in unread:
            ends = (_next_read(self._mentions, unread, place, step) for step in (-1, 1))
            if not mask or any(end >= 0 and mask >> end & 1 for end in ends):
                yield place

    def _unread(self) -> set[int]:
        """The words that are no stop words, have led to nothing, and name nothing that the first candidate uses."""
        mentions, sources = self._mentions, self._candidates.clues.names.sources
        mask = self._first.mask
        of = {self._first.ask.base.name, *(each.source for each in self._fields)}
        used: list[Name] = [*self._fields, *(sources[name] for name in of)]
        mask |= union(place.mask for each in used for place in mentions.places.get(each, ()))
        return {
            place
            for place, token in enumerate(mentions.tokens)
            if not mask >> place & 1 and token.key not in STOP_WORDS and token.key not in self.explained
        }

    @cached_property
    def _fields(self) -> list[FieldName]:
        """The fields that the first candidate asks for or compares."""
        return [*self._first.ask.fields, *(test.field for test in self._first.conditions.tests if test.field)]

    def _times_of_unnamed_dates(self) -> list[str]:
        """The times, as written, if a date is compared with them that no word of the question stands for and that does not date
        the rows asked for.
        """
        first, mentions = self._first, self._mentions
        tests = (test for test in first.conditions.tests if test.form == "field" and test.values)
        compared = [test.field for test in tests if test.field and (test.field.is_date or test.field.kind == "year")]
        if all(self._is_certain(each) for each in compared):
            return []
        places = [*(each.place for each in mentions.days), *(each.place for each in mentions.lengths)]
        return [
            phrase(mentions.text, mentions.tokens, each.first, each.last) for each in places if each.mask & first.mask
        ]

    def _open_times(self) -> Iterator[str]:
        """The times that the first candidate reads although a word right before them, or the words around, may bound them."""
        mentions = self._mentions
        for each in mentions.days:
            place, is_bare = each.place.first - 1, is_closed(each.days) and not each.is_introduced
            is_unread = is_bare and place >= 0 and not mentions.tokens[place + 1].ends_clause and self._may_bound(place)
            if each.place.mask & self._first.mask and (each.is_open or is_unread):
                yield phrase(mentions.text, mentions.tokens, place if is_unread else each.place.first, each.place.last)

    def _may_bound(self, place: int) -> bool:
        """Whether a word is read by nothing, and not known to leave a time as it is."""
        word, mask = self._mentions.tokens[place].key, self._first.mask | self._mentions.alignable
        return not mask >> place & 1 and not says_how(word) and word not in self.explained

    def _is_certain(self, each: FieldName) -> bool:
        """Whether a bare time can only be one of this field's: it dates the rows asked for, or those of a source that the
        question names, words stand for it, or it is called nothing but what it holds: a `year`.
        """
        mentions, clues, first = self._mentions, self._candidates.clues, self._first
        sources = clues.names.sources
        of = sources[each.source]
        about = [test.about for test in first.conditions.tests if test.form in ("some", "none") and test.about]
        if any(name != of.name and sources[name].dated for name in about):
            return _is_named(mentions.best(each))  # "no order in May" tells of the orders, not of the customers
        if each is of.dated and (of is first.ask.base or mentions.best(of) is not None):
            return True
        is_plain = any(set(name) <= {*stems_of(each.kind)} for name in each.names)
        return is_plain or _is_named(mentions.best(each)) or bool(clues.standing_for([each]) - STOP_WORDS)

    def _names_of_any_value(self) -> Iterator[int]:
        """The words that name fields which must only have some value, one of several kinds or a text."""
        for test in self._first.conditions.tests:
            each = test.field if test.op == "not_null" else None
            if each is not None and (each.is_listed or each.kind == "text"):
                place = self._mentions.best(each)
                yield from range(place.first, place.last) if place else ()


def vetoes(mentions: Mentions, mask: int) -> list[str]:
    """The reasons not to answer with confidence: values, numbers, times and quoted texts that no part reads."""
    unread = {(each.place.first, each.place.last) for each in mentions.spans if not each.place.mask & mask}
    return [phrase(mentions.text, mentions.tokens, first, last) for first, last in sorted(unread)]


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


def _is_named(place: WordRun | None) -> bool:
    """Whether words name something and are not just several whose first letters are a part of its name: "on", of nurses."""
    return place is not None and (place.likeness >= LIKENESS_MIN or place.last - place.first == 1)
