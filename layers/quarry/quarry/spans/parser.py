"""A question as the things that it mentions: what the rooms of language, the lexicon and the data find, each word in one.

Of what overlaps, a phrase in quotation marks wins, then the longest. Among those of one length: a value of the data that was said
whole and is no everyday word, a dimension (date, number, money, place), what rules out or insists, what is asked for, what the
table calls its rows and facets, other cues, a part of a value or a value with a slip, and last what the words may mean where
nothing beside them says so.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quarry.language.everyday import is_everyday
from quarry.language.irregular import BE, other_number
from quarry.language.numerals import numeral_value
from quarry.language.slips import slips
from quarry.language.stemming import stem, stems_of
from quarry.language.tokens import Token, tokenise
from quarry.spans.ambiguous import facet_places
from quarry.spans.ask_words import find_asked, narrows, opening_words, pronoun
from quarry.spans.assertion import read_assertions
from quarry.spans.clauses import TRIGGERS
from quarry.spans.cues import cues
from quarry.spans.date_verbs import (
    is_event,
    is_participle,
    with_dated_verbs,
    with_deeds,
    with_doers,
    with_naming_verbs,
)
from quarry.spans.dates import find_dates
from quarry.spans.known import Sides, find_known
from quarry.spans.lexicon import Lexicon, LookUp, stems, synonyms_in
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
    ParsedQuery,
    Phrase,
    Place,
    Reference,
    Source,
    Value,
    Vocabulary,
    Word,
)
from quarry.spans.money import find_money
from quarry.spans.named_comparisons import with_named_comparisons
from quarry.spans.names import find_names
from quarry.spans.numbers import find_durations, find_numbers
from quarry.spans.places import find_places
from quarry.spans.quantities import dimension_of

PLACE_NAMES_MAX = 400
"""So many names of one place, or of what lies in it, are looked up in the data."""

QUESTION_HEAD_MAX = 8
"""So many mentions before its verb a question may begin."""

LEAD_MAX = 4
"""So many mentions behind a word its number may stand."""

CODE_CHARACTERS_MAX = 2
"""A value of so few characters is a code, before which stands what it is one of."""

_QUOTED = re.compile(
    r"(?<![^\W_])[\"“”]([^\"“”]{2,200}+)[\"“”]|(?<![\w'])['‘](?=\w{1,60}+ )([^'‘’\"“”]{2,200}+)['’](?!\w)"
)
_GIVEN_FREE = re.compile(r"\bfirst (?:\w{1,20}+ ){1,2}free\b", re.IGNORECASE)
"""What an offer is worded as: it asks for no first of anything."""
_PHRASE, _KNOWN, _DIMENSION, _TRIGGER, _ASKED, _TERM, _CUE, _INEXACT, _LATENT = range(9)


@dataclass(frozen=True)
class _Candidate:
    """A mention over the words `first` to `last` (not included)."""

    first: int
    last: int
    mention: Mention
    priority: int
    led_by: int = 0
    """Words such as "in the" before it, which a date would count to its own length."""

    @property
    def order(self) -> tuple[bool, int, int, int]:
        return self.priority != _PHRASE, self.first - self.last - self.led_by, self.priority, self.first


def parse(text: str, *, lexicon: Lexicon, vocabulary: Vocabulary, reference_date: datetime.date) -> ParsedQuery:
    """What `text` says.

    `vocabulary` is what its words mean in the data, looked up for it and for `look_ups` of it. `reference_date` is what "last
    year" is counted from.
    """
    tokens = tokenise(text)
    lexicon = replace(lexicon, facet_places=facet_places(tokens, lexicon))
    dimensions = with_named_comparisons(
        text, tokens, _dimensions(text, tokens, reference_date), lexicon, find=_numbers_in
    )
    dimensions = _without_adjectives(dimensions, tokens)
    dimensions = [_recent(mention, lexicon.recent_days, reference_date) for mention in dimensions]
    dimensions = [_of_event(mention, tokens, lexicon) for mention in dimensions]
    candidates = list(_candidates(text, tokens, lexicon, vocabulary, dimensions))
    chosen = _without_overlaps(candidates, len(tokens))
    said = with_dated_verbs(
        text, _with_the_rest(tokens, chosen, lexicon), lexicon.events, lexicon.date, lexicon.own_events
    )
    said = with_naming_verbs(text, said, lexicon.verbs)
    said = with_doers(text, with_deeds(text, said, lexicon.doers), lexicon.doers, reckons=bool(lexicon.numbers))
    said = _with_referring_rows(text, said, lexicon)
    if lexicon.numbers:
        said = _without_relative_verbs(said, tokens)
    read = _with_assertions_of_names(read_assertions(text, said))
    refers = _refers(tokens, read)
    others = any(_is_to_others(mention) for mention in read) and not any(map(_may_be_meant, read))
    names_rows = any(mention.value == Cue("noun") for mention in read)
    return ParsedQuery(
        text,
        tokens,
        read,
        reference_date,
        follows_up=refers or others or opening_words(tokens, names_rows=names_rows) > 0,
        refers=refers,
        others=others,
        narrows=narrows(tokens),
    )


def _refers(tokens: Sequence[Token], mentions: Sequence[Mention]) -> bool:
    """Whether the question speaks of what was answered before. A "them" behind its own word for the rows means those, and an "it"
    whatever it names before.
    """
    names_rows = False
    for mention in mentions:
        names_rows = names_rows or mention.value == Cue("noun")
        value = mention.value
        if isinstance(value, Reference) and not value.is_to_others and (value.places or not names_rows):
            return True
    place = pronoun(tokens)
    return place is not None and not any(
        mention.start < tokens[place].start and _may_be_meant(mention) for mention in mentions
    )


def _may_be_meant(mention: Mention) -> bool:
    """Whether a pronoun behind it may stand for this, and not for what was answered before."""
    return not isinstance(mention.value, Asked | FacetName | Reference | Cue) or mention.value == Cue("noun")


def _is_to_others(mention: Mention) -> bool:
    return isinstance(mention.value, Reference) and mention.value.is_to_others


def look_ups(text: str, *, lexicon: Lexicon, reference_date: datetime.date) -> list[LookUp]:
    """What else is to be looked up in the data for `text`: values that its words are other words for, and names of its places."""
    tokens = tokenise(text)
    found = synonyms_in(tokens, lexicon)
    if lexicon.numbers:
        # "children" of a value "child"
        others = ((place, other_number(token.key)) for place, token in enumerate(tokens))
        found += [LookUp(place, place + 1, other) for place, other in others if other]
    if not lexicon.place_facets:
        return found
    for mention in _dimensions(text, tokens, reference_date):
        if isinstance(mention.value, Place):
            first, last = _token_span(tokens, mention)
            found += [LookUp(first, last, name) for name in mention.value.names[:PLACE_NAMES_MAX]]
    return found


# ---- candidates ----


def _dimensions(text: str, tokens: Sequence[Token], reference_date: datetime.date) -> list[Mention]:
    """Numbers, dates, lengths of time, money and places, in no order; they may overlap."""
    return [*find_dates(text, tokens, reference_date), *_numbers_in(text, tokens), *find_places(text, tokens)]


def _numbers_in(text: str, tokens: Sequence[Token]) -> list[Mention]:
    return [*find_numbers(text, tokens), *find_durations(text, tokens), *find_money(text, tokens)]


def _candidates(
    text: str,
    tokens: Sequence[Token],
    lexicon: Lexicon,
    vocabulary: Vocabulary,
    dimensions: Sequence[Mention],
) -> Iterator[_Candidate]:
    places = {
        _token_span(tokens, mention): mention
        for mention in dimensions
        if isinstance(mention.value, Place) and lexicon.place_facets
    }
    yield from _quoted(text, tokens)
    asked = find_asked(tokens, lexicon)
    sides = Sides(tokens, lexicon, asked)
    starts = set[int]()
    for known in find_known(vocabulary, sides, places):
        if sides.are_whoever(known.first, known.last):
            continue
        starts.add(known.first)
        priority = _LATENT if known.mention.is_latent else _KNOWN if known.is_exact else _INEXACT
        led_by = sides.led_by(known.first) if priority == _KNOWN else 0
        yield _Candidate(known.first, known.last, known.mention, priority, led_by)
    in_units = [each for each in dimensions if _is_in_unit(each.value, lexicon)]
    for mention in dimensions:
        first, last = _token_span(tokens, mention)
        if any(each.start < mention.end and mention.start < each.end for each in in_units if each is not mention):
            # "rides were longer than 10 km" are longer than 10 km, not more than 10
            continue
        if _counts_rows_before(mention, tokens, first, lexicon):
            # in "payments under 50" no payments are counted
            continue
        is_whose = text[mention.start : mention.end].lower().endswith(("'s", "’s"))
        if is_whose and last not in starts and not _is_of_rows(tokens, last, lexicon):
            # what is said in a speech of "last year's budget" was not said last year
            continue
        if first < last and _is_meant(mention, lexicon):
            yield _Candidate(first, last, mention, _LATENT if mention.is_latent else _DIMENSION)
    yield from (_spanning(tokens, each.first, each.last, each.meaning, _ASKED) for each in asked)
    yield from _numbered(tokens, lexicon)
    yield from _said_in_language(tokens, lexicon)


def _counts_rows_before(mention: Mention, tokens: Sequence[Token], first: int, lexicon: Lexicon) -> bool:
    """Whether a comparison took what anybody's rows are called, before it, for what it counts."""
    is_counting = isinstance(mention.value, NumberRange) and mention.value.unit is not None
    return is_counting and bool(lexicon.numbers) and _is_of_rows(tokens, first, lexicon)


def _is_of_rows(tokens: Sequence[Token], place: int, lexicon: Lexicon) -> bool:
    """Whether a word is what the table calls its rows, or there is none and they are meant ("and last year's?")."""
    if place == len(tokens):
        return True
    words = [token.key for token in tokens[place : place + 1]]
    term = lexicon.term_at(words, stems(tokens[place : place + 1]), 0)
    return term is not None and term.meaning == Cue("noun")


def _quoted(text: str, tokens: Sequence[Token]) -> Iterator[_Candidate]:
    said = [(match, match[1] or match[2]) for match in _QUOTED.finditer(text)]
    said += [(match, match[0]) for match in _GIVEN_FREE.finditer(text)]
    for match, words in said:
        mention = Mention(Phrase(words.strip()), match.start(), match.end(), source="rule")
        first, last = _token_span(tokens, mention)
        if first < last:
            yield _Candidate(first, last, mention, _PHRASE)


def _is_meant(mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a dimension is one here: a number of what the table counts, and no place (what the data knows of it tells)."""
    value = mention.value
    if isinstance(value, Place):
        return False
    if isinstance(value, NumberRange) and value.unit is not None:
        return value.unit in lexicon.units
    return isinstance(value, NumberRange) or not mention.is_latent


def _is_in_unit(value: Value, lexicon: Lexicon) -> bool:
    """Whether it is a number in a unit that rows are measured in."""
    return isinstance(value, NumberRange) and value.unit is not None and value.unit in lexicon.measured_in


def _recent(mention: Mention, days: int | None, today: datetime.date) -> Mention:
    """ "Recently", where the table says how far back that is."""
    value = mention.value
    is_recently = mention.is_latent and isinstance(value, DateRange) and value.grain == "day" and value.last == today
    if days is None or not is_recently or value == DateRange(today, today):
        return mention
    return replace(mention, value=DateRange(today - datetime.timedelta(days=days), today), is_latent=False)


def _of_event(mention: Mention, tokens: Sequence[Token], lexicon: Lexicon) -> Mention:
    """ "Today" behind what happens on some date of anybody's rows, or behind these: "due for today", "calls today"."""
    value = mention.value
    is_day = isinstance(value, DateRange) and value.first is not None and value.first == value.last
    if not (mention.is_latent and is_day and lexicon.numbers):
        return mention
    first, _ = _token_span(tokens, mention)
    first -= int(first > 1 and tokens[first - 1].key == "for")
    before = tokens[first - 1].key if first else ""
    is_dated = any(is_event(before, events) for events in lexicon.events.values())
    is_dated = is_dated or (first > 0 and _is_of_rows(tokens, first - 1, lexicon))
    return replace(mention, is_latent=False) if is_dated else mention


def _without_adjectives(dimensions: Sequence[Mention], tokens: Sequence[Token]) -> list[Mention]:
    """ "Two tall houses" is a number of houses, and "tall" is a word of its own: the number alone is the mention then. What is a
    date is no number.
    """
    dates = [mention for mention in dimensions if isinstance(mention.value, DateRange) and not mention.is_latent]
    in_date = {place for mention in dates for place in range(mention.start, mention.end)}
    alone = {
        mention.start: mention.end
        for mention in dimensions
        if isinstance(mention.value, NumberRange) and mention.value.unit is None
    }
    read = []
    for mention in dimensions:
        if isinstance(mention.value, NumberRange) and (mention.start in in_date or mention.end - 1 in in_date):
            continue
        end = alone.get(mention.start)
        if isinstance(mention.value, NumberRange) and mention.value.unit and end is not None and end < mention.end:
            between = _token_span(tokens, replace(mention, start=end))
            if between[1] - between[0] > 1 and dimension_of(mention.value.unit) != "area":
                read.append(replace(mention, end=end))
                continue
        read.append(mention)
    return read


def _said_in_language(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[_Candidate]:
    words = [token.key for token in tokens]
    word_stems = stems(tokens)
    for place in range(len(tokens)):
        if term := lexicon.term_at(words, word_stems, place):
            yield _spanning(tokens, place, term.last, term.meaning, _TERM)
        elif opposite := lexicon.opposites.longest_at(word_stems, place):
            said = _spanning(tokens, place, opposite.last, opposite.meaning, _TERM)
            is_undone = not (lexicon.doers.keys() | lexicon.events.keys()).isdisjoint(opposite.meaning.facets)
            source: Source = "rule" if is_undone else said.mention.source
            yield replace(said, mention=replace(said.mention, assertion="negated", source=source))
        if cue := cues().longest_at(words, place):
            is_title = cue.meaning == "title" and not (place + 1 < len(tokens) and tokens[place + 1].is_capital)
            if not is_title:
                priority = _TRIGGER if cue.meaning in TRIGGERS else _CUE
                yield _spanning(tokens, place, cue.last, Cue(cue.meaning), priority)
            # where a longer one is taken by something else ("not looking for" by "looking for a job")
            shorter = cues().longest_at(words[place : place + 1], 0) if cue.last > place + 1 else None
            if shorter:
                priority = _TRIGGER if shorter.meaning in TRIGGERS else _CUE
                yield _spanning(tokens, place, place + 1, Cue(shorter.meaning), priority)


def _numbered(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[_Candidate]:
    """A number right before what the rows have so many of: "five-star reviews", "4 or 5 stars", "3 bedroom houses"."""
    if not lexicon.numbers:
        return
    words, word_stems = [token.key for token in tokens], stems(tokens)
    for place in range(1, len(tokens)):
        term = lexicon.term_at(words, word_stems, place)
        if term is None or not isinstance(term.meaning, FacetName) or word_stems[term.last - 1] not in lexicon.units:
            continue
        if not lexicon.numbers & {*term.meaning.facets} or term.meaning.grain:
            continue
        listed = [place - 1]
        if place > 2 and words[place - 2] in ("or", "and", "to") and _whole_number(words[place - 3]) is not None:
            listed.append(place - 3)
        for at in listed:
            number = _whole_number(words[at])
            before = words[at - 1] if at else ""
            if number is None or before in _BEFORE_LIMITS or words[place - 2] == "to":
                break
            unit = word_stems[term.last - 1]
            last = term.last if at == place - 1 else at + 1
            yield _spanning(tokens, at, last, NumberRange(number, number, unit=unit), _DIMENSION)


_BEFORE_LIMITS = frozenset("top first last best worst than least most over under above below about to between".split())
"""Words before a number that make it more than what the rows have."""


def _whole_number(word: str) -> float | None:
    return 1.0 if word == "one" else numeral_value(word) if word.isalnum() else None


def _spanning(tokens: Sequence[Token], first: int, last: int, value: Value, priority: int) -> _Candidate:
    return _Candidate(first, last, Mention(value, tokens[first].start, tokens[last - 1].end), priority)


def _token_span(tokens: Sequence[Token], mention: Mention) -> tuple[int, int]:
    """The words that a mention covers."""
    first = bisect_right(tokens, mention.start, key=lambda token: token.end)
    return first, bisect_left(tokens, mention.end, key=lambda token: token.start)


# ---- each word in one mention ----


def _without_overlaps(candidates: Sequence[_Candidate], length: int) -> list[_Candidate]:
    taken = [False] * length
    chosen = []
    for candidate in sorted(candidates, key=lambda each: each.order):
        words = range(candidate.first, candidate.last)
        # no candidate is longer than a few words, but for quotations, and they come first
        if not any(taken[word] for word in words):
            chosen.append(candidate)
            for word in words:
                taken[word] = True
    return sorted(chosen, key=lambda each: each.first)


def _with_the_rest(tokens: Sequence[Token], chosen: Sequence[_Candidate], lexicon: Lexicon) -> list[Mention]:
    """The chosen mentions, and the words that are left as names, as words, or as part of how a question begins."""
    mentions: dict[int, Mention] = {each.first: each.mention for each in chosen}
    taken = [False] * len(tokens)
    for each in chosen:
        taken[each.first : each.last] = [True] * (each.last - each.first)
    for place in range(opening_words(tokens, names_rows=True)):
        if not taken[place]:
            mentions[place] = _spanning(tokens, place, place + 1, Cue("filler"), _CUE).mention
            taken[place] = True
    for name in find_names(tokens, [not each for each in taken], lexicon):
        key = " ".join(token.key for token in tokens[name.first : name.last])
        mentions[name.first] = _spanning(tokens, name.first, name.last, Word(key, is_name=True), _CUE).mention
        taken[name.first : name.last] = [True] * (name.last - name.first)
    for place, token in enumerate(tokens):
        if not taken[place]:
            is_noun = _is_misspelt_noun(token.key, lexicon) and _opens_with(mentions, place)
            value = Cue("noun") if is_noun else Word(stem(token.key))
            mentions[place] = Mention(value, token.start, token.end)
    return _with_verbs([mentions[place] for place in sorted(mentions)], tokens)


def _is_misspelt_noun(word: str, lexicon: Lexicon) -> bool:
    """Whether a word that nobody uses is what the rows are called but for one letter. Where rows are reckoned with, no: they
    may be of anything, and a number of them all would pass for one of those that the word is.
    """
    if lexicon.numbers or is_everyday(word):
        return False
    return any(abs(len(noun) - len(word)) <= 1 and slips(word, noun) == 1 for noun in lexicon.row_words)


def _opens_with(mentions: Mapping[int, Mention], place: int) -> bool:
    """Whether nothing but words that ask stand before the one at `place`."""
    before = [mentions[at].value for at in range(min(place, QUESTION_HEAD_MAX)) if at in mentions]
    return place < QUESTION_HEAD_MAX and all(isinstance(value, (Asked, Cue)) for value in before)


def _without_relative_verbs(mentions: Sequence[Mention], tokens: Sequence[Token]) -> list[Mention]:
    """Where rows are listed, a verb that leads from "that" or "who" to a value says nothing by itself ("books that won the
    Booker"). Numbers are not told so: what verb it is says which they are.
    """
    asks = any(isinstance(mention.value, Asked) for mention in mentions)
    read = list(mentions)
    for place in range(1, len(mentions) if not asks else 0):
        value = mentions[place].value
        lead = tokens[_token_span(tokens, mentions[place - 1])[0]].key
        if not isinstance(value, Word) or value.is_name or lead not in ("that", "who", "which"):
            continue
        behind = [mention for mention in mentions[place + 1 : place + 4] if mention.value not in _CONNECTING]
        if behind and isinstance(behind[0].value, Known) and not behind[0].is_latent:
            read[place] = replace(mentions[place], value=Cue("light"))
    return read


def _with_referring_rows(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """The mentions, what rows are called that others have none of, or more than so many, being the name of their number ("boats
    without repairs"), and so is a verb that is negated of them ("guests who have never booked").
    """
    read = list(mentions)
    is_dated = any(isinstance(mention.value, DateRange) for mention in mentions)
    rows: Mapping[tuple[str, ...], str] | None = None
    dealt: Mapping[str, str] = {}
    is_never = False
    before: Value | None = None
    for place, mention in enumerate(mentions):
        if mention.value == Cue("noun"):
            called = stems_of(text[mention.start : mention.end])
            facet = rows.get(called) if rows else None
            if facet and (before == Cue("negates") or isinstance(before, NumberRange)):
                read[place] = replace(mention, value=FacetName((facet,)))
            if rows is None:
                rows, dealt = lexicon.referring.get(called, {}), lexicon.dealings.get(called, {})
        elif rows and before == Cue("negates_verb") and not is_dated and mention.value != Cue("filler"):
            deed = text[mention.start : mention.end].lower()
            # "borrowed" is in no loan
            facet = next((name for noun, name in rows.items() if is_event(deed, noun[-1:])), None)
            facet = facet or (dealt.get(stem(deed)) if is_never else None)
            read[place] = replace(mention, value=FacetName((facet,)), source="data") if facet else mention
        if mention.value == Cue("negates_verb"):
            is_never = text[mention.start : mention.end].lower().endswith("never")
        before = before if mention.value == Cue("filler") else mention.value
    return read


_CONNECTING = (Cue("filler"), Cue("relates"))


def _with_verbs(mentions: Sequence[Mention], tokens: Sequence[Token]) -> list[Mention]:
    """An everyday verb before a word that it may belong to ("running shoes") is a word; "features dogs" has none. Any verb that
    only ties a subject to the rest ("how many has Ada written", "which authors wrote about") says nothing either.
    """
    read = list(mentions)
    for place, mention in enumerate(mentions):
        following = mentions[place + 1] if place + 1 < len(mentions) else None
        if isinstance(mention.value, Cue) and mention.value.what == "light" and following:
            key = tokens[_token_span(tokens, mention)[0]].key
            if isinstance(following.value, Word) and key.endswith("ing") and following.start - mention.end == 1:
                read[place] = replace(mention, value=Word(stem(key)))
        elif isinstance(mention.value, Known) and _is_value_as_verb(mentions, place, tokens):
            read[place] = replace(mention, value=Cue("light"), source="rule")
        elif (
            _is_tying_verb(mentions, place, tokens)
            or _is_helped_verb(mentions, place, tokens)
            or _is_verb_of_who(mentions, place, tokens)
            or _says_what_a_code_is(mentions, place)
        ):
            read[place] = replace(mention, value=Cue("light"))
    return read


def _is_value_as_verb(mentions: Sequence[Mention], place: int, tokens: Sequence[Token]) -> bool:
    """Whether a value of the data, one small word, is the verb of a question that asks for no number: "what does Ada print?" """
    first, last = _token_span(tokens, mentions[place])
    if place < 2 or last - first != 1 or tokens[first].is_capital:
        return False
    helper, subject = mentions[place - 2], mentions[place - 1].value
    asked = [mention.value.what for mention in mentions[:place] if isinstance(mention.value, Asked)]
    is_subject = isinstance(subject, Known) or (isinstance(subject, Word) and subject.is_name)
    return (
        is_subject
        and tokens[_token_span(tokens, helper)[1] - 1].key in ("do", "does", "did")
        and bool(asked)
        and not {"count", "distinct"} & set(asked)
        and (place + 1 == len(mentions) or mentions[place + 1].value == Cue("relates"))
    )


def _is_helped_verb(mentions: Sequence[Mention], place: int, tokens: Sequence[Token]) -> bool:
    """Whether a word is the participle between "have" and what rows are said to have or lack ("have won no award")."""
    value = mentions[place].value
    if not isinstance(value, Word) or value.is_name or not 0 < place < len(mentions) - 1:
        return False
    following = mentions[place + 1].value
    is_helped = tokens[_token_span(tokens, mentions[place - 1])[0]].key in ("have", "has", "had")
    return is_helped and (isinstance(following, FacetName) or following == Cue("negates"))


def _is_verb_of_who(mentions: Sequence[Mention], place: int, tokens: Sequence[Token]) -> bool:
    """Whether a word is the verb behind a "who" that asks for the most or least of the rows ("who wrote the most letters")."""
    value = mentions[place].value
    if place != 1 or not isinstance(value, Word) or value.is_name or tokens[0].key != "who":
        return False
    behind = [mention.value for mention in mentions[2:] if mention.value != Cue("filler")]
    return bool(behind) and isinstance(behind[0], Asked) and behind[0].what in ("most", "least")


def _says_what_a_code_is(mentions: Sequence[Mention], place: int) -> bool:
    """Whether a word only says of what kind the short value behind it is ("class C", "size 40")."""
    mention, following = mentions[place], mentions[place + 1] if place + 1 < len(mentions) else None
    if following is None or not isinstance(mention.value, Word) or mention.value.is_name:
        return False
    is_code = isinstance(following.value, Known) and following.end - following.start <= CODE_CHARACTERS_MAX
    return is_code and not following.is_latent and following.start - mention.end == 1


def _with_assertions_of_names(mentions: Sequence[Mention]) -> list[Mention]:
    """A negation before the name of a number applies to the number: "except age 30"."""
    read = list(mentions)
    for place in range(len(read) - 1):
        name, number = read[place], read[place + 1]
        is_pair = isinstance(name.value, FacetName) and isinstance(number.value, NumberRange | MoneyRange)
        if is_pair and name.assertion == "negated" and number.assertion == "affirmed":
            read[place] = replace(name, assertion="affirmed")
            read[place + 1] = replace(number, assertion="negated")
    return read


def leads_to_number(mentions: Sequence[Mention], place: int) -> Mention | None:
    """The number, compared with nothing, right behind a mention or behind the name of what it is."""
    behind = [each for each in mentions[place + 1 : place + 1 + LEAD_MAX] if each.value not in _CONNECTING]
    if behind and isinstance(behind[0].value, FacetName):
        behind = behind[1:]
    value = behind[0].value if behind else None
    is_bare = isinstance(value, NumberRange | MoneyRange | Duration) and value.least == value.most
    return behind[0] if is_bare else None


def _says_be(mention: Mention, tokens: Sequence[Token]) -> bool:
    return tokens[_token_span(tokens, mention)[0]].key in BE


def _is_tying_verb(mentions: Sequence[Mention], place: int, tokens: Sequence[Token]) -> bool:
    """Whether a word stands as the verb of a question: behind its subject, and before nothing that it could describe."""
    value = mentions[place].value
    if not isinstance(value, Word) or value.is_name or place < 2:
        return False
    subject, before = mentions[place - 1].value, mentions[place - 2].value
    said = tokens[_token_span(tokens, mentions[place])[0]].key
    following = mentions[place + 1].value if place + 1 < len(mentions) else None
    if isinstance(following, (Word, Phrase)) or mentions[place].start - mentions[place - 1].end != 1:
        return False
    if leads_to_number(mentions, place) is not None:
        # it may compare, and what it says of the number is not known
        return False
    if isinstance(subject, Known) or (isinstance(subject, Word) and subject.is_name):
        is_done = _says_be(mentions[place - 2], tokens) and not is_participle(said)
        return (
            isinstance(before, Cue)
            and before.what == "filler"
            and not is_done  # "were settled late"
            and any(isinstance(mention.value, Asked) for mention in mentions[max(0, place - QUESTION_HEAD_MAX) : place])
        )
    is_subject = isinstance(subject, FacetName) or (isinstance(subject, Cue) and subject.what == "noun")
    return is_subject and isinstance(before, Asked) and following is not None
