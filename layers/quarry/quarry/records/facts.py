"""What is known of an answer before anything is written: a number, or that the records do not hold what was asked for."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from quarry.agent.asked_query import query_for
from quarry.language.stemming import stem
from quarry.platform.off_loop import off_loop
from quarry.platform.text import significant_words
from quarry.query.algebra import Query
from quarry.records import fallbacks
from quarry.records.absence import Answerability, answerability, is_met, names_held_by_none
from quarry.records.contract import AggregationEvent, Citation
from quarry.records.counting import Counted, Counting, as_asked, count, what_to_count
from quarry.records.evidence import EvidenceSource
from quarry.records.intent import is_asked, is_topic_alone, parts
from quarry.records.reading import RecordsReading
from quarry.records.tools import Searched, SearchToolset
from quarry.records.untold import untold
from quarry.spans.mention import Asked, Cue, Duration, Known, MoneyRange, NumberRange, Word

PARTS_MAX = 3
"""So many of the things that a refused question asks one after the other are looked for by themselves."""


@dataclass(frozen=True)
class Facts:
    """What is known for sure: `text` begins the answer; `is_all`: nothing else can answer it.

    `authors`: what they said is asked for. `doubt`: what the records found may not answer, where that is likely. `lacking`: the
    same, where it holds of all records: it begins the answer, whoever writes it. `basis`: what the number was counted on.
    `is_listed`: every record that was found answers, as well as any other.
    """

    text: str = ""
    counted: AggregationEvent | None = None
    is_all: bool = False
    authors: frozenset[str] = frozenset()
    doubt: str = ""
    lacking: str = ""
    basis: str = ""
    is_listed: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it is a number that was counted, and that nothing doubts."""
        return bool(self.basis) and not self.doubt

    def is_doubted_with(self, citations: Sequence[Citation]) -> bool:
        """Whether an answer with these citations answers in part at most: one that cites nothing tells nothing of the records."""
        return bool(self.doubt) or (self.counted is None and not citations)


async def known_facts(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """The number that was asked for; or that the records do not hold what was, with the nearest that they do."""
    reading = toolset.reading
    if (counted := await _number_asked_for(first, toolset)) is not None:
        return counted
    meets = await is_met(toolset.services.reader, reading, first.ranked, toolset.types)
    if reading.lists() and not meets and (none := await _counted(toolset)) and not none.event.total:
        return Facts(none.sentence, is_all=True, basis=none.basis)
    # who asks nothing, but looks something up, is shown what is nearest
    asks = is_asked(query)
    several = parts(query) if asks else []
    names = await names_held_by_none(toolset.services.reader, reading, toolset.types) if first.ranked else ()
    others = [part for part in several if not _has_any(part, names)] if len(several) > 1 else []
    if names and not await _is_answered_in_part(others, toolset):
        return Facts(fallbacks.nothing_held(names, first.sources), is_all=True)
    told = await _answerability(query, first, toolset, meets=meets)
    # a topic that a record speaks of is no question that it could leave open
    is_topic = told.is_held and is_topic_alone(reading.parsed.text)
    if told.is_refused and asks and not (names or is_topic or await _is_answered_in_part(others, toolset)):
        return Facts(fallbacks.nothing_held(told.missing, first.sources), is_all=True)
    seen: str | None = fallbacks.lacking(names)
    # of rows that are asked for by their conditions alone, all is said
    is_whole = told.is_listed and reading.types.united.reckons
    if not seen and not is_whole:
        seen = await off_loop(_lacking, query, told, first.sources, reading.authors)
    # what one record holds all of, and tells as it is asked for, is answered however far its words are
    is_doubtful = told.is_doubtful and not (told.is_held and seen == "")
    is_doubtful = is_doubtful or await off_loop(_is_unmet, first.sources, told, reading, meets=meets)
    doubt = seen or (fallbacks.ONLY_NEAREST if is_doubtful else "")
    if told.is_listed and not doubt and (number := await _number_listed(first, toolset)) is not None:
        return Facts(number.sentence, authors=reading.authors, basis=number.basis, is_listed=True)
    return Facts(authors=reading.authors, doubt=doubt, lacking=seen or "", is_listed=told.is_listed)


async def _number_asked_for(first: Searched, toolset: SearchToolset) -> Facts | None:
    """The number that was asked for, counted; None where none was, or it cannot be told."""
    wanted = what_to_count(toolset.reading, toolset.types, toolset.scope)
    if wanted is None:
        return None
    with toolset.run.step("records_count"):
        counted = await count(toolset.services.reader, wanted)
    if counted is None:
        return None
    is_told = any(wanted.may_be_told_by(source.text.type) for source in first.sources)
    is_all = not (counted.event.total and is_told) or counted.event.of is not None
    event = counted.event.model_copy(
        update={"query": await _query(wanted, counted.event, toolset), "sentence": counted.sentence}
    )
    return Facts(counted.sentence, event, is_all=is_all, basis=counted.basis)


async def _query(wanted: Counting, event: AggregationEvent, toolset: SearchToolset) -> Query | None:
    """The query that asks for the same number; None where there is none."""
    asked = as_asked(wanted, event)
    if asked is None:
        return None
    return await query_for("records", wanted.type, asked, toolset.caller, toolset.services)


async def _counted(toolset: SearchToolset) -> Counted | None:
    """How many records meet the conditions; None where that is not known, or words are said beside them."""
    wanted = what_to_count(toolset.reading.counting(), toolset.types, toolset.scope)
    return await count(toolset.services.reader, wanted) if wanted and not wanted.words else None


def _is_unmet(sources: Sequence[EvidenceSource], told: Answerability, reading: RecordsReading, *, meets: bool) -> bool:
    """Whether what was found meets no condition, is of other rows, or does not tell what was to be counted or told of them."""
    if reading.asks_what_no_row_says or _is_elsewhere(sources, told, reading):
        return True
    is_other = reading.must_hold and bool(reading.clauses) and not meets
    return reading.types.united.reckons and (is_other or _lacks_value(sources, reading))


def _lacks_value(sources: Sequence[EvidenceSource], reading: RecordsReading) -> bool:
    """Whether a value of something is asked for that is called by a word which no row found has: "how many servants has the
    mill", "who is the miller of Ay".
    """
    wanted = _value_wanted(reading)
    if wanted is None:
        return False
    held = (significant_words(f"{each.text.title}\n{fallbacks.read_body(each.text)}") for each in sources)
    return all(wanted not in words_held for words_held in held)


def _value_wanted(reading: RecordsReading) -> str | None:
    """The stem of the word for what is asked for, behind "how many", or before an "of" behind "who is" or "what was"."""
    mentions = [each for each in reading.parsed.mentions if each.value != Cue("filler")]
    asked, word, *behind = (*mentions, *[None] * 3)[:3]
    if asked is None or word is None or not isinstance(asked.value, Asked) or not isinstance(word.value, Word | Known):
        return None
    is_part = isinstance(word.value, Word) and not word.value.is_name
    is_part = is_part or (isinstance(word.value, Known) and not any(each.is_whole for each in word.value.values))
    is_of = asked.value.what == "list" and behind[0] is not None and reading.parsed.said(behind[0]).lower() == "of"
    return stem(reading.parsed.said(word).lower()) if is_part and (is_of or asked.value.what == "count") else None


def _is_elsewhere(sources: Sequence[EvidenceSource], told: Answerability, reading: RecordsReading) -> bool:
    """Whether rows are asked for by name and others were found: these may tell of one that they refer to, but not what is so of
    none, or of so many.
    """
    wanted = reading.rows_asked_for
    if not wanted or any(each.text.type in wanted for each in sources):
        return False
    is_plain = all(
        mention.assertion != "negated" and not isinstance(mention.value, (NumberRange, MoneyRange, Duration))
        for mention in reading.parsed.mentions
    )
    return not (told.is_held and is_plain)


async def _number_listed(first: Searched, toolset: SearchToolset) -> Counted | None:
    """How many rows meet the conditions of which only the first are listed; None where all are, or it is not known."""
    reading = toolset.reading
    is_of_rows = bool(reading.rows_asked_for) or (reading.types.united.reckons and reading.lists())
    if not is_of_rows or reading.question.ask.kind != "rows":
        return None
    counted = await _counted(toolset)
    return counted if counted and (counted.event.total or 0) > len(first.sources) else None


def _lacking(query: str, told: Answerability, sources: Sequence[EvidenceSource], authors: Set[str]) -> str | None:
    """What is asked for that no record has, or that what was found does not tell. Empty where it tells that as it is asked for,
    None where neither can be seen.
    """
    if told.missing and (told.is_doubtful or len(parts(query)) > 1):
        return fallbacks.lacking(told.missing)
    if not is_asked(query):
        return None
    seen = untold(query, sources, authors)
    # of what is told as it is asked for, two words may stand apart
    return fallbacks.lacking((), told.apart) if seen is None and told.is_doubtful and len(told.apart) > 1 else seen


def _has_any(part: str, names: Sequence[str]) -> bool:
    return any(name.lower() in part.lower() for name in names)


async def _is_answered_in_part(several: Sequence[str], toolset: SearchToolset) -> bool:
    """Whether the records may answer any of several things that a question asks one after the other."""
    for part in several[:PARTS_MAX]:
        found = await toolset.search(part)
        meets = await is_met(toolset.services.reader, toolset.reading, found.ranked, toolset.types)
        if found.ranked and not (await _answerability(part, found, toolset, meets=meets)).is_refused:
            return True
    return False


async def _answerability(query: str, first: Searched, toolset: SearchToolset, *, meets: bool) -> Answerability:
    """How likely what was found answers the question; `meets`: some of it meets the question's conditions. Records that do are
    doubted only for words that none holds: what somebody said of a thing that nobody speaks of. Nor is what a failing model left
    unknown.
    """
    services, reading = toolset.services, toolset.reading
    if not first.ranked or "query_embedding" in toolset.run.degraded:
        return Answerability(1.0)
    with toolset.run.step("records_answerability"):
        told = await answerability(
            services,
            query,
            first.ranked,
            reading,
            toolset.types,
            meets=meets,
            has_values=bool(toolset.scope.facets),
        )
    is_spared = bool(reading.clauses) and (meets or not reading.types.united.reckons)
    return told if told.missing or told.is_listed or not is_spared else Answerability(1.0)
