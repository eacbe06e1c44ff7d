"""Which of a row's dates a verb speaks of: "closed in May" is when it was closed, whatever its status.

A participle that a date's column is called after ("opened", of `opened_at`) is the name of that date. One that is only like a
value ("opened" where a status is "open") is no value before a date. What happened on no date that there is cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise

from quarry.language.stemming import stem, stems_of
from quarry.language.tokens import fold, keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.measures import MONEY_VERBS
from quarry.spans.mention import Asked, Cue, DateRange, FacetName, Known, Mention, Place, Value, Word

BETWEEN_MAX = 6
"""So many mentions may stand between a participle and its date ("closed most tickets last month")."""
HELPER_BEFORE_MAX = 80
"""So many characters before a verb its "did" may stand."""
_SHARED_LETTERS_MIN = 4
_HELPED = re.compile(r"\b(?:did|does|do)\b", re.IGNORECASE)

_GENERIC = frozenset(
    "date day time at on datetime timestamp ts dt utc tz year month when the of was is first last".split()
)
_ROOTS: Mapping[str, str] = {
    "paid": "payment", "pay": "payment", "sold": "sale", "bought": "purchase", "born": "birth", "died": "death", "began": "begin",
    "begun": "begin", "left": "leave", "sent": "send", "lent": "loan", "borrowed": "loan", "wrote": "written", "hired": "hire",
    "entstanden": "entstehung", "geboren": "geburt", "gestorben": "tod", "erschienen": "erscheinung", "gebaut": "bau",
    "erbaut": "bau", "gegrundet": "grundung", "gekauft": "kauf", "verkauft": "verkauf", "geliefert": "lieferung",
    "bestellt": "bestellung", "veroffentlicht": "veroffentlichung",
}  # fmt: skip
_IRREGULAR = frozenset(
    """
    paid sold sent bought made built written wrote taken given begun began born lent done held won lost met left brought kept
    drawn chosen spent broken seen shut put
    """.split()
)
_CREATION = frozenset(
    stem(verb)
    for verb in "created opened added entered raised logged filed submitted placed registered recorded".split()
)
"""Verbs for a row's coming to be: a date that is called after one of them is that of the others."""
_CLOSING = frozenset(map(stem, "closed resolved finished completed solved".split()))
"""Verbs for what ends a row's matter: what was resolved was closed then."""
_MAKING = _CREATION | {stem(verb) for verb in "made issued taken done".split()}
"""Verbs for what the date of a thing tells that is called after the thing alone (`order_date`)."""
DUE = frozenset(("due", "deadline"))
"""In the name of a date they say that something is to be done until then."""


def events_of(*names: str) -> tuple[str, ...]:
    """The words in the names of a date that say what happened then: "closed" of `closed_at`, "due" of `due_date`."""
    called = (keys(name.replace("_", " ")) for name in names)
    # until when something is to happen is not when it did: `return_by`
    said = (_without_period(key) for words in called if words[-1:] != ("by",) for key in words)
    return tuple(dict.fromkeys(key for key in said if key not in _GENERIC and key.isalpha()))


def _without_period(word: str) -> str:
    """What a German compound dates: "entstehung" of "entstehungsjahr"."""
    for period in ("jahr", "datum"):
        if word.endswith(period) and word != period:
            return word.removesuffix(period).removesuffix("s")
    return word


def is_event(word: str, events: Iterable[str]) -> bool:
    """Whether a word is a form of one of those that say what happened."""
    said = {stem(word), stem(_ROOTS.get(word, _ROOTS.get(fold(word), word)))}
    known = {stem(each) for event in events for each in (event, _ROOTS.get(event, event))}
    if said & _CREATION and known & _CREATION:
        return True
    return any(_is_one(one, other) for one in said for other in known)


def closes(word: str, events: Iterable[str]) -> bool:
    """Whether a date that is called by `events` is when a row's matter ended, as a verb says."""
    return stem(word) in _CLOSING and any(stem(event) in _CLOSING for event in events)


def tells_of(word: str, events: Iterable[str]) -> bool:
    """Whether a date that is called by `events` tells of what a verb says: by name or, where none is a verb, of its making."""
    said = tuple(events)
    return is_event(word, said) or closes(word, said) or (stem(word) in _MAKING and not any(map(is_verb, said)))


def _is_one(one: str, other: str) -> bool:
    """Whether two stems are of one verb: "deliv" (delivered) and "deliveri" (delivery)."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _SHARED_LETTERS_MIN and long.startswith(short))


def with_dated_verbs(
    text: str,
    mentions: Sequence[Mention],
    events: Mapping[str, tuple[str, ...]],
    date: str | None,
    own: Mapping[tuple[str, ...], Mapping[str, tuple[str, ...]]] | None = None,
) -> list[Mention]:
    """The mentions, participles that speak of a date being its name. `events` are the words that each date's name says what
    happened by, the one that dates the rows (`date`) first; of several tables `own` are those of each, by the stems of what its
    rows are called: what is said of rows that are named is of a date of theirs, where one is called so.
    """
    read = list(mentions)
    nouns = [stems_of(text[each.start : each.end]) for each in mentions if each.value == Cue("noun")]
    named = next((own[noun] for noun in nouns if noun in own), {}) if own else {}
    has_date = any(isinstance(mention.value, DateRange) for mention in mentions)
    for place, (mention, following) in enumerate(pairwise(mentions)):
        if _is_date_alone(text, following) and isinstance(mention.value, Word) and not mention.value.is_name:
            # "payment date" of `paid_on`
            event = text[mention.start : mention.end].lower()
            called = [facet for facet, said in events.items() if is_event(event, said)]
            if len(called) == 1:
                read[place] = replace(mention, value=FacetName((called[0],)))
                read[place + 1] = replace(following, value=Cue("filler"))
    made = _made(text, mentions, events) or date
    for place, mention in enumerate(mentions):
        helped = _helped(text, mentions, place)
        word = helped or participle(text, mention) or _named_event(text, mentions, place, events)
        if word is None or (not helped and is_adjective(mentions, place)):
            continue
        dates = (*named.items(), *events.items())
        facet = next((facet for facet, said in dates if is_event(word, said)), None)
        is_value = isinstance(mention.value, Known)
        if facet is None and not is_value:
            facet = next((facet for facet, said in dates if closes(word, said)), None)
        if facet is None and has_date and not is_value and stem(word) in _MAKING:
            facet = made
        if facet is None and is_value and not events.get(date or "") and dated_by(mentions, place) is not None:
            facet = date if _is_inflected(mention, word) else None
        is_plain = not (is_value or isinstance(mention.value, Cue)) or stem(word) in MONEY_VERBS
        if facet and (has_date or is_plain or helped or _is_inflected(mention, word)):
            read[place] = replace(mention, value=FacetName((facet,)), is_latent=False, source="rule")
    return read


def _helped(text: str, mentions: Sequence[Mention], place: int) -> str | None:
    """The verb right behind who did it ("did Ada open"), whatever else is called so; None where it is none."""
    if place < 2 or not isinstance(mentions[place].value, Known) or not isinstance(mentions[place - 1].value, Known):
        return None
    helper, word = (text[mentions[at].start : mentions[at].end] for at in (place - 2, place))
    return word if helper.lower() == "did" and word.isalpha() and word.islower() else None


def _made(text: str, mentions: Sequence[Mention], events: Mapping[str, tuple[str, ...]]) -> str | None:
    """The date of the rows' making that is called as they are: `booked_at` of bookings."""
    nouns = {stem(text[each.start : each.end].split()[-1].lower()) for each in mentions if each.value == Cue("noun")}
    called = [facet for facet, said in events.items() if not nouns.isdisjoint(map(stem, said))]
    return called[0] if len(called) == 1 else None


def _is_date_alone(text: str, mention: Mention) -> bool:
    return isinstance(mention.value, FacetName) and text[mention.start : mention.end].lower() in ("date", "dates")


def is_dated_verb(mention: Mention) -> bool:
    """Whether it is the name of a date by a verb."""
    return isinstance(mention.value, FacetName) and mention.source == "rule"


def is_done_on(verb: str, table: SearchTable) -> bool:
    """Whether rows of a table have a date of their own on which what a verb says was done."""
    return any(facet.kind == "date" and facet.steps == 0 and is_event(verb, facet.events) for facet in table.facets)


def is_undone(mention: Mention) -> bool:
    """Whether a verb says of rows what has not happened to them ("unpaid")."""
    return isinstance(mention.value, FacetName) and mention.source == "rule" and mention.assertion == "negated"


def spoken_date(mentions: Sequence[Mention], table: SearchTable) -> Facet | None:
    """The date of a table that the only verb of a question speaks of ("closed last")."""
    spoken = [each.value.facets[0] for each in mentions if each.source == "rule" and isinstance(each.value, FacetName)]
    dates = [facet for facet in table.facets if facet.name in spoken and facet.kind in ("date", "year")]
    return dates[0] if len(spoken) == len(dates) == 1 else None


def facet_called(name: FacetName, spoken: Facet | None, own: Container[str]) -> str:
    """Of a table's `own` facets the one that a name is of: of periods, the date that a verb speaks of, where one is `spoken` of
    ("resolved per month").
    """
    if name.grain and spoken:
        return spoken.name
    return next((facet for facet in name.facets if facet in own), name.facets[0])


def with_naming_verbs(text: str, mentions: Sequence[Mention], verbs: Mapping[str, tuple[str, ...]]) -> list[Mention]:
    """The mentions, where a participle says which facet a value is of ("billed to Norway", of `billing_country`): the value is of
    no other then. `verbs` are what the facets' names say so.
    """
    read = list(mentions)
    for place, mention in enumerate(mentions):
        word = participle(text, mention) if not isinstance(mention.value, Known) else None
        facets = {facet for facet, said in verbs.items() if word and is_event(word, said)}
        if isinstance(mention.value, FacetName) and mention.source != "rule" and text[: mention.end].endswith("ed"):
            # "reported" is taken for the name of the reporter
            facets = verbs.keys() & {*mention.value.facets}
        if not facets:
            continue
        for other in range(place + 1, min(place + 1 + BETWEEN_MAX, len(mentions))):
            value = _of_facets(mentions[other].value, facets)
            if value is not None:
                read[place], read[other] = replace(mention, value=Cue("light")), replace(mentions[other], value=value)
            if not isinstance(mentions[other].value, Cue):
                break
    return read


def _doer(word: str, doers: Mapping[str, tuple[str, ...]]) -> str | None:
    """The facet of those who do what a form of a verb says, or to whom it is done."""
    said = tuple(map(stem, word.lower().split()))
    return next((facet for facet, deeds in doers.items() if any(said in _forms(deed) for deed in deeds)), None)


def _forms(deed: str) -> tuple[tuple[str, ...], ...]:
    """The stems of a verb, with its particle, and of its participle."""
    verb, *particle = deed.split()
    return tuple((stem(form), *map(stem, particle)) for form in (verb, f"{verb}ed"))


def with_doers(
    text: str, mentions: Sequence[Mention], doers: Mapping[str, tuple[str, ...]], *, reckons: bool
) -> list[Mention]:
    """The mentions, where a verb says who is meant that has done the most of something ("who handles the most tickets", "which
    director has directed the fewest films"): it is the name of who a row refers to, where that is not named besides. Of anybody's
    rows (`reckons`) a verb that is also a status is none beside the name of who did it.
    """
    read, named = list(mentions), set[str]()
    known = [mention.value for mention in mentions if reckons and isinstance(mention.value, Known)]
    doing = {each.facet for value in known for each in value.values}
    for place, mention in enumerate(mentions):
        if isinstance(mention.value, Known) and _doer(text[mention.start : mention.end], doers) in doing:
            # "how many did Ada check in", where rows that are done so have that status
            read[place] = replace(mention, value=Cue("light"))
        behind = [each.value for each in mentions[place + 1 : place + 3] if each.value != Cue("filler")]
        most = behind[0] if behind else None
        is_verb_of_most = isinstance(most, Asked) and most.what in ("most", "least") and most.number is None
        # "curated" has the stem of the curator that is named
        is_free = mention.value == Cue("light") or isinstance(mention.value, FacetName | Word | Known)
        facet = _doer(text[mention.start : mention.end], doers) if is_verb_of_most and is_free else None
        if facet is not None:
            read[place] = replace(mention, value=Cue("light") if facet in named else FacetName((facet,)))
        if isinstance(mention.value, FacetName):
            named.update(mention.value.facets)
    return read


def with_deeds(text: str, mentions: Sequence[Mention], doers: Mapping[str, tuple[str, ...]]) -> list[Mention]:
    """The mentions, where the last participle says that what a row refers to is there, or is not ("nobody is assigned"): it is
    the name of that then. When it came to be so is not known. `doers` are the verbs of what is referred to.
    """
    place = len(mentions) - 1
    while place > 0 and mentions[place].value in (Cue("filler"), Cue("relates"), Cue("ends")):
        place -= 1
    word = participle(text, mentions[place]) if place >= 0 else None
    is_dated = any(isinstance(mention.value, DateRange) for mention in mentions)
    if word is None or is_dated or isinstance(mentions[place].value, Known):
        return list(mentions)
    facet = _doer(word, doers)
    named = replace(mentions[place], value=FacetName((facet,)), source="rule") if facet else mentions[place]
    return [*mentions[:place], named, *mentions[place + 1 :]]


def _of_facets(value: Value, facets: Set[str]) -> Known | Place | None:
    """What is known, as values of these facets alone; None where it is none of theirs."""
    if isinstance(value, Known) and (values := tuple(each for each in value.values if each.facet in facets)):
        return Known(values)
    if isinstance(value, Place) and (values := tuple(each for each in value.known if each.facet in facets)):
        return replace(value, known=values)
    return None


def participle(text: str, mention: Mention) -> str | None:
    """The mention as the participle of a verb, or the verb behind "did", in small letters; None where it is none."""
    value = mention.value
    is_free = isinstance(value, (Known, Word)) or (isinstance(value, Cue) and value.what == "light")
    word = text[mention.start : mention.end]
    if not is_free or not word.isalpha() or not word.islower():
        return None
    if is_participle(word):
        return word
    is_verb_of_helper = isinstance(value, Known) and _HELPED.search(
        text[max(0, mention.start - HELPER_BEFORE_MAX) : mention.start]
    )
    return word if is_verb_of_helper and _is_inflected(mention, word) else None


def is_participle(word: str) -> bool:
    """Whether a word, in lower case, is by its form the participle of a verb."""
    is_regular = len(word) > _SHARED_LETTERS_MIN and word.endswith("ed") and not word.endswith("eed")
    return is_regular or word in _IRREGULAR


def is_adjective(mentions: Sequence[Mention], place: int) -> bool:
    """Whether it stands before what the rows are called, and behind nobody who does it ("how many closed tickets")."""
    following = mentions[place + 1].value if place + 1 < len(mentions) else None
    before = mentions[place - 1].value if place else Cue("filler")
    return following == Cue("noun") and isinstance(before, (Cue, Asked)) and before != Cue("noun")


def dated_by(mentions: Sequence[Mention], place: int) -> int | None:
    """The place of the date that the participle at `place` stands before, but for who did it and how much of it."""
    for other in range(place + 1, min(place + 1 + BETWEEN_MAX, len(mentions))):
        value = mentions[other].value
        if isinstance(value, DateRange):
            return other
        is_by_somebody = isinstance(value, (Known, Word)) and isinstance(mentions[other - 1].value, (Cue, Word))
        if not isinstance(value, (Cue, Asked)) and not is_by_somebody:
            return None
        if isinstance(value, Cue) and value.what not in ("relates", "filler", "noun", "light"):
            return None
    return None


def _named_event(
    text: str, mentions: Sequence[Mention], place: int, events: Mapping[str, tuple[str, ...]]
) -> str | None:
    """A word, of whatever language, that a date is called by itself ("erworben" of `erworben_am`), or that is another form of it
    before a date ("arriving next week", of `arrival_date`).
    """
    mention = mentions[place]
    word = text[mention.start : mention.end]
    is_dated = dated_by(mentions, place) is not None
    is_plain = isinstance(mention.value, Word) and not mention.value.is_name
    if not word.islower() or not (is_plain or (is_dated and mention.value == Cue("light"))):
        return None
    is_event_itself = any(
        word in said or ((is_dated or fold(word) in _ROOTS) and is_event(fold(word), said)) for said in events.values()
    )
    return word if is_event_itself else None


def _is_inflected(mention: Mention, word: str) -> bool:
    """Whether the word is another form of the values that it was taken for."""
    return isinstance(mention.value, Known) and all("".join(keys(each.value)) != word for each in mention.value.values)


def happened_otherwise(text: str, mentions: Sequence[Mention], date: int, events: Sequence[str]) -> bool:
    """Whether the date at `date` is of something else than what `events` tell of ("resolved in May", of when it was opened)."""
    if not events or not any(is_verb(event) for event in events):
        return False
    for place in range(max(0, date - BETWEEN_MAX), date):
        word = participle(text, mentions[place])
        says_nothing = isinstance(mentions[place].value, Cue) or mentions[place].is_latent
        if word is None or says_nothing or is_adjective(mentions, place):
            continue
        if dated_by(mentions, place) == date and not is_event(word, events):
            return True
    return False


def is_verb(event: str) -> bool:
    """Whether what happened is told by a participle ("opened"), not by a noun of any event ("order")."""
    return event.endswith("ed") or event in _IRREGULAR
