"""From what a question mentions to what it asks of a table, in the light of the question before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quarry.retrieval.facets import SearchTable
from quarry.spans.asking import asking_of
from quarry.spans.conditions import conditions_of
from quarry.spans.mention import (
    Asked,
    DateRange,
    ParsedQuery,
    Phrase,
    Reference,
    Word,
)
from quarry.spans.question import Ask, Clause, Condition, Missing, Question, without_evidence
from quarry.spans.topic import excluded_words, topic_of


def interpret(parsed: ParsedQuery, table: SearchTable, earlier: Question | None = None) -> Question:
    """The question that `parsed` puts to `table`. One that takes up `earlier` keeps what it does not change."""
    first = conditions_of(parsed, table)
    asking = asking_of(parsed, table, frozenset(first.used))
    kept_ask = _kept_ask(earlier, parsed) if earlier and parsed.follows_up else Ask()
    counts = (asking.ask or kept_ask).kind != "rows"
    again = bool(asking.places) or counts
    found = conditions_of(parsed, table, frozenset(asking.places), counts=counts) if again else first
    ask = _with_limit(asking.ask, found.limit)
    if table.reckons:
        ask = _by_period(ask, found.clauses, parsed)
    answered_by = ask or kept_ask
    unknown = _unknown_names(parsed, table, answered_by)
    unmet = _unmet(unknown, answered_by)
    phrases, in_phrases = excluded_words(parsed, found.used)
    said = {
        (missing.evidence.start, missing.evidence.end)
        for missing in (*asking.unanswerable, *(unknown if unmet else ()))
    }
    topic, topic_words = topic_of(parsed, table, found, asking, said)
    question = Question(
        text=parsed.text,
        ask=ask or Ask(),
        clauses=(*_outside(found.clauses, parsed, in_phrases), *unmet),
        preferred=tuple(found.preferred),
        topic=topic,
        topic_words=topic_words,
        phrases=_quoted(parsed, is_negated=False),
        excluded_words=(*phrases, *_quoted(parsed, is_negated=True)),
        missing=(*found.missing, *unknown),
        unanswerable=(*found.unanswerable, *asking.unanswerable),
        follows_up=parsed.follows_up and earlier is not None,
        references=_references(parsed),
        asked_by=tuple(parsed.mentions[place].span for place in sorted(asking.places)),
    )
    if earlier is None or not parsed.follows_up:
        return question
    if parsed.others:
        earlier = _with_the_others(earlier)
    asks = ask is not None and _asks_anew(parsed)
    return _after(
        earlier, replace(question, ask=question.ask if asks else kept_ask), table, asks=asks, narrows=parsed.narrows
    )


def _references(parsed: ParsedQuery) -> tuple[int, ...]:
    return tuple(
        place for mention in parsed.mentions if isinstance(mention.value, Reference) for place in mention.value.places
    )


def _quoted(parsed: ParsedQuery, *, is_negated: bool) -> tuple[str, ...]:
    return tuple(
        mention.value.text
        for mention in parsed.mentions
        if isinstance(mention.value, Phrase)
        and mention.assertion != "doubtful"
        and (mention.assertion == "negated") == is_negated
    )


def _with_limit(ask: Ask | None, limit: int | None) -> Ask | None:
    if limit is None:
        return ask
    return replace(ask or Ask(), limit=limit)


def _by_period(ask: Ask | None, clauses: Sequence[Clause], parsed: ParsedQuery) -> Ask | None:
    """What is asked, where the numbers of two times are compared: "how many in 2024 and 2025", "2024 versus 2025"."""
    compares = any(isinstance(each.value, Asked) and each.value.what == "compare" for each in parsed.mentions)
    asked = ask or Ask()
    if asked.kind not in ("count", "exists") and not (compares and (asked == Ask() or asked.kind == "measure")):
        return ask
    for clause in clauses:
        spans = [condition.range for condition in clause if isinstance(condition.range, DateRange)]
        grains = {span.grain for span in spans}
        if len(spans) == len(clause) > 1 and len(grains) == 1 and grains <= {"year", "quarter", "month"}:
            return replace(asked, kind="groups", facet=clause[0].facet, grain=spans[0].grain, compares=True)
    return ask


def _outside(clauses: Sequence[Clause], parsed: ParsedQuery, places: set[int]) -> list[Clause]:
    """The clauses but for those of a value that is part of a phrase which is ruled out as a whole."""
    spans = {(parsed.mentions[place].start, parsed.mentions[place].end) for place in places}
    return [
        clause
        for clause in clauses
        if not any((each.start, each.end) in spans for condition in clause for each in condition.evidence)
    ]


# ---- names that the data does not hold ----


def _unknown_names(parsed: ParsedQuery, table: SearchTable, ask: Ask) -> list[Missing]:
    """Names that stand where a value would, or, where rows are counted, anywhere."""
    # of facets with the same lead, those of names, and the first of them
    led = sorted(
        (each for each in table.facets if each.kind in ("name", "value")), key=lambda each: each.kind == "value"
    )
    leads = {lead.lower(): facet.name for facet in reversed(led) for lead in facet.leads}
    names = next((facet.name for facet in table.facets if facet.kind == "name"), None)
    unknown = []
    for place, mention in enumerate(parsed.mentions):
        if (
            not isinstance(mention.value, Word)
            or not mention.value.is_name
            or mention.assertion in ("negated", "doubtful")
        ):
            continue
        before = parsed.said(parsed.mentions[place - 1]).lower() if place else ""
        facet = leads.get(before)
        if facet is None and ask.kind == "rows" and ask.facet is None and not parsed.follows_up:
            continue
        text = parsed.said(mention)
        unknown.append(Missing(text, mention.span, facet or names))
    return unknown


def _unmet(unknown: Sequence[Missing], ask: Ask) -> list[Clause]:
    """Where rows are counted, an unknown name is a condition that nothing meets: all of the rows would be a wrong number."""
    if ask.kind == "rows":
        return []
    return [
        (Condition(missing.facet, (missing.text,), evidence=(missing.evidence,)),)
        for missing in unknown
        if missing.facet
    ]


# ---- follow-ups ----


def _kept_ask(earlier: Question, parsed: ParsedQuery) -> Ask:
    """What is asked where a follow-up does not say it; of rows that were picked it is not asked which to pick."""
    ask = earlier.ask
    is_of_picked = parsed.refers and (ask.kind == "extreme" or (ask.kind == "rows" and ask.limit is not None))
    return Ask() if is_of_picked or _references(parsed) else ask


def _asks_anew(parsed: ParsedQuery) -> bool:
    """Whether the question says by itself what it asks for; "which of them …" and "show only …" ask for rows again."""
    return any(isinstance(mention.value, Asked) for mention in parsed.mentions)


def _after(earlier: Question, question: Question, table: SearchTable, *, asks: bool, narrows: bool) -> Question:
    """`question` with what `earlier` asked that it does not change."""
    own = _facets_of(question)
    kept = [
        without_evidence(clause)  # its words are not in this question
        for clause in earlier.clauses
        if not _is_replaced(clause, question, own, table, narrows)
    ]
    preferred = (replace(each, evidence=()) for each in earlier.preferred if each.facet not in own)
    topic, words = question.topic, tuple(question.topic_words)
    if not topic:
        topic, words = earlier.topic, tuple(earlier.topic_words)
    elif narrows and earlier.topic:
        topic, words = f"{earlier.topic} {topic}", tuple(dict.fromkeys((*earlier.topic_words, *words)))
    gone = {missing.facet for missing in question.missing} | own
    return replace(
        question,
        clauses=(*kept, *question.clauses),
        preferred=tuple(dict.fromkeys((*preferred, *question.preferred))),
        topic=topic,
        topic_words=words,
        phrases=tuple(dict.fromkeys((*earlier.phrases, *question.phrases)))
        if narrows
        else question.phrases or earlier.phrases,
        excluded_words=tuple(dict.fromkeys((*earlier.excluded_words, *question.excluded_words))),
        missing=(*(each for each in earlier.missing if each.facet not in gone), *question.missing),
        unanswerable=question.unanswerable if asks else (*earlier.unanswerable, *question.unanswerable),
    )


def _with_the_others(earlier: Question) -> Question:
    """The question for what `earlier` left out of what the questions before it found, where its own conditions say what."""
    own = [clause for clause in earlier.clauses if any(condition.evidence for condition in clause)]
    left_out = [[replace(condition, is_negated=not condition.is_negated) for condition in clause] for clause in own]
    if len(own) == 1:
        clauses: list[Clause] = [(condition,) for condition in left_out[0]]
    elif own and all(len(clause) == 1 for clause in own):
        clauses = [tuple(condition for clause in left_out for condition in clause)]
    else:
        return earlier
    return replace(earlier, clauses=(*(clause for clause in earlier.clauses if clause not in own), *clauses))


def _facets_of(question: Question) -> set[str]:
    """The facets that a question says something of, other than that a value is ruled out."""
    named = {condition.facet for clause in question.clauses for condition in clause if not condition.is_negated}
    return named | {missing.facet for missing in question.missing if missing.facet}


def _is_replaced(clause: Clause, question: Question, own: set[str], table: SearchTable, narrows: bool) -> bool:
    """Whether the new question says something else of what this clause is about. What it rules out is added; so is, where it
    narrows, another value of a facet of which a row has several.
    """
    facets = {condition.facet for condition in clause}
    if not facets & own:
        return False
    if any(condition.is_negated for condition in clause):
        return _is_taken_back(clause, question)
    return not (narrows and all(table.facet(facet).is_array for facet in facets))


def _is_taken_back(clause: Clause, question: Question) -> bool:
    """Whether a value that was ruled out is asked for now."""
    asked_for = {
        (condition.facet, value)
        for other in question.clauses
        for condition in other
        if not condition.is_negated
        for value in condition.values
    }
    return any((condition.facet, value) in asked_for for condition in clause for value in condition.values)
