"""That something should have been done by now and has not: "overdue", of a row whose due date is past and that is not done;
that what held until a date no longer does: "expired", "out of warranty".
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from quarry.language.stemming import stem, stem_set
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import DUE, is_verb
from quarry.spans.measures import is_side_amount
from quarry.spans.mention import DateRange, Mention, ParsedQuery, Word
from quarry.spans.question import Clause, Condition
from quarry.spans.united_tables import meant_table

_BEING = frozenset("is are be being still".split())
_BEGUN = frozenset(
    map(
        stem,
        """
        billed booked borrowed created filed hired invoiced issued lent loaned made opened ordered placed raised registered
        rented reported requested sent started submitted taken
        """.split(),
    )
)
"""What dates the beginning of what is due, and never that it is done."""


def overdue(parsed: ParsedQuery, table: SearchTable) -> Iterator[tuple[int, list[Clause]]]:
    """The places of the words that say so, each with its clauses; none where the rows meant do not tell it by one date on which
    they are due and one thing that says that they are done.
    """
    places = (
        [place for place, each in enumerate(parsed.mentions) if _says_so(parsed, place, each)] if table.reckons else []
    )
    told = _told(meant_table(parsed, table)) if places else None
    for place in places:
        mention = parsed.mentions[place]
        if told is not None and mention.assertion == "affirmed":
            due, done = told
            evidence = (mention.span,)
            past = DateRange(None, parsed.reference_date - datetime.timedelta(days=1))
            is_open = Condition(done.name, is_negated=True, evidence=evidence)
            if done.kind == "boolean":
                is_open = Condition(done.name, ("true",), is_negated=True, evidence=evidence)
            yield place, [(Condition(due.name, range=past, evidence=evidence),), (is_open,)]


_LAPSED = stem_set("expired lapsed")
_LASTING = frozenset("until till expires expiry expiration expire expired valid".split())
"""In the name of a date they say that something holds until then."""
_LED_BY_MAX = 8
"""So many characters hold "out of", or "under", before what something is out of."""


def lapsed(parsed: ParsedQuery, table: SearchTable) -> Iterator[tuple[tuple[int, ...], list[Clause]]]:
    """The places of the words that say that what holds until the only such date of the rows meant no longer does, or still does
    ("under warranty"), with the clause; none where another time is said.
    """
    if not table.reckons or any(isinstance(each.value, DateRange) for each in parsed.mentions):
        return
    own = meant_table(parsed, table)
    ends = [
        facet
        for facet in own.facets
        if facet.kind == "date" and facet.steps == 0 and not _LASTING.isdisjoint(facet.name_words)
    ]
    if own.united or len(ends) != 1:
        return
    named = [at for at, each in enumerate(parsed.mentions) if ends[0].name in getattr(each.value, "facets", ())]
    for place, mention in enumerate(parsed.mentions):
        led_by = keys(parsed.text[max(0, mention.start - _LED_BY_MAX) : mention.start]) if place in named else ()
        is_over = stem(parsed.said(mention).lower()) in _LAPSED or led_by[-2:] == ("out", "of")
        if not is_over and led_by[-1:] not in (("under",), ("in",)):
            continue
        today = parsed.reference_date
        is_past = is_over != (mention.assertion == "negated")
        when = DateRange(None, today - datetime.timedelta(days=1)) if is_past else DateRange(today, None)
        evidence = tuple(parsed.mentions[at].span for at in (place, *named))
        yield (place, *named), [(Condition(ends[0].name, range=when, evidence=evidence),)]
        return


_OWE = stem("owe")


def owing(parsed: ParsedQuery, table: SearchTable) -> tuple[int, SearchTable, Facet] | None:
    """The place of a verb that says that something is owed, the only table whose rows have one amount and are paid or not, and
    what says that they are; None where that is not clear.
    """
    place = next((at for at, each in enumerate(parsed.mentions) if stem(parsed.said(each).lower()) == _OWE), None)
    if place is None or not table.reckons:
        return None
    paid = [(each, marks[0]) for each in table.united or (table,) if len(marks := _payments(each)) == 1]
    return (place, *paid[0]) if len(paid) == 1 else None


def _payments(table: SearchTable) -> list[Facet]:
    """The dates, or yes and no, that say whether a row's only amount is paid."""
    own = [facet for facet in table.facets if facet.steps == 0 and facet.related is None]
    amounts = [facet for facet in own if facet.kind == "money" and not is_side_amount(facet)]
    return [
        facet
        for facet in own
        if len(amounts) == 1
        and facet.kind in ("date", "boolean")
        and {*keys(facet.label)} - {"is", "on", "at"} in ({"paid"}, {"settled"})
    ]


def unpaid(parsed: ParsedQuery, table: SearchTable) -> Iterator[tuple[int, list[Clause]]]:
    """The place of a verb that says that something is owed, with the clause of rows that are not paid."""
    if (owed := owing(parsed, table)) is not None:
        place, _, paid = owed
        values = ("true",) if paid.kind == "boolean" else ()
        evidence = (parsed.mentions[place].span,)
        yield place, [(Condition(paid.name, values, is_negated=True, evidence=evidence),)]


def _says_so(parsed: ParsedQuery, place: int, mention: Mention) -> bool:
    """Whether it is "overdue" or "past due", or "late" of what still is."""
    if not isinstance(mention.value, Word) or mention.value.is_name:
        return False
    said = keys(parsed.said(mention))
    before = parsed.mentions[place - 1] if place else mention
    is_last = place == len(parsed.mentions) - 1
    return said == ("overdue",) or (
        said == ("late",) and is_last and not _BEING.isdisjoint(keys(parsed.said(before))[-1:])
    )


def _told(table: SearchTable) -> tuple[Facet, Facet] | None:
    """The date on which rows of a table are due, and the date, or the yes or no, that says that they are done."""
    own = [facet for facet in table.facets if facet.steps == 0 and facet.related is None]
    dates = [facet for facet in own if facet.kind == "date"]
    due = [facet for facet in dates if _is_due(facet)]
    done = [facet for facet in dates if facet not in due and _BEGUN.isdisjoint(map(stem, facet.events))]
    if len(done) > 1:
        # the rows' own date is when they began
        done = [facet for facet in done if facet.name != table.date]
    done = done or [facet for facet in own if facet.kind == "boolean" and is_verb(facet.label.split()[-1])]
    return (due[0], done[0]) if not table.united and len(due) == len(done) == 1 else None


def _is_due(facet: Facet) -> bool:
    *before, last = facet.name_words or ("",)
    return bool(DUE & {*facet.events, *before, last}) or (last == "by" and bool(before))
