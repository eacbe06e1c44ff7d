"""A question about campaigns as it is answered: conditions, words that the copy is to say, a theme that is found by meaning."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from quarry.campaigns.conditions import label_of, labels, within
from quarry.campaigns.contract import ClauseOnWire, ConditionOnWire, Constraints
from quarry.campaigns.facets import RECENT_DAYS
from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.platform.contract import EVIDENCE_MAX
from quarry.spans.mention import Asked, Cue, DateRange, FacetName, Known, Mention, ParsedQuery, Span, Word
from quarry.spans.question import (
    Ask,
    Clause,
    Condition,
    Missing,
    Question,
    Reading,
    evidence_of,
    preferred_in_words,
    without_evidence,
)
from quarry.spans.shares import said_of_rows

CLAUSES_MAX = 13
"""So many conditions of a question hold, each of so many alternatives: with the filters of the page, they fit into one Query."""
EXCLUDED_MAX = 20
"""So many words or phrases that are ruled out are looked for."""

_HAS_LETTERS = re.compile(r"[^\W\d_]")
_ASKED_BY = {"who": "company", "whom": "company", "where": "channel"}
_OF_OTHERS = frozenset((*_ASKED_BY, "what", "whats", "why", "whose", "how"))

_SAYING = frozenset(map(stem, ("mention", "say", "phrase", "word", "slogan", "quote")))


@dataclass(frozen=True)
class CampaignQuestion:
    """What is asked, of which campaigns: all `clauses` must hold; `preferred` ones put campaigns before others. `says` are words
    that the copy must hold, as a search box takes them; `theme` is what the campaigns are about. At most one of the two is given.
    """

    question: Question
    clauses: tuple[Clause, ...] = ()
    says: str = ""
    theme: str = ""
    preferred: tuple[Clause, ...] = ()
    is_of_others: bool = False
    """Whether it asks for something else than campaigns ("who wrote …"), and no field is that."""
    asks_nothing: bool = False
    """Whether it is a greeting or the like."""
    earlier: CampaignQuestion | None = None
    """The one that it takes up."""
    refers: bool = False
    """Whether it speaks of the campaigns that answered that one."""
    share_of: tuple[Clause, ...] | None = None
    """Which campaigns the number is to be a share of; None where it is to be none."""

    @property
    def ask(self) -> Ask:
        return self.question.ask

    @property
    def picks(self) -> bool:
        """Whether it is about those campaigns which an earlier answer showed that no conditions tell from others."""
        earlier = self.earlier
        if earlier is None or (self.theme, self.says) not in (("", ""), (earlier.theme, earlier.says)):
            return False
        return bool(self.question.references) or (self.refers and earlier.is_of_few)

    @property
    def is_of_few(self) -> bool:
        """Whether it is answered by some of the campaigns that meet its conditions."""
        is_limited = self.ask.kind == "extreme" or (self.ask.kind == "rows" and self.ask.limit is not None)
        return is_limited or self.picks

    @property
    def lacked(self) -> tuple[Clause, ...]:
        """What the values that are asked for do not have: any of what is ruled out, else all that is said; nothing where the
        question is of values that have something, or rules out some of these.
        """
        ruled_out = self._ruled_out
        if not self.ask.lacks or self.theme or self.says or any(each.facet == self.ask.facet for each in ruled_out):
            return ()
        return (tuple(replace(each, is_negated=False) for each in ruled_out),) if ruled_out else self.clauses

    @property
    def besides(self) -> tuple[Clause, ...]:
        """The clauses beside those that say what is lacked."""
        ruled_out = self._ruled_out
        return tuple(clause for clause in self.clauses if ruled_out and not ruled_out.keys() >= set(clause))

    @property
    def _ruled_out(self) -> dict[Condition, None]:
        clauses = (clause for clause in self.clauses if all(condition.is_negated for condition in clause))
        return dict.fromkeys(condition for clause in clauses for condition in clause)

    @property
    def own_clauses(self) -> tuple[Clause, ...]:
        """The clauses that the question which it takes up does not have."""
        before = set(map(without_evidence, self.earlier.clauses)) if self.earlier else set()
        return tuple(clause for clause in self.clauses if without_evidence(clause) not in before)

    @property
    def label(self) -> str:
        """The conditions in words that follow "campaigns"."""
        return labels(self.clauses)


def question_of(reading: Reading, today: datetime.date) -> CampaignQuestion:
    """A question as it is answered; `today` is the latest capture."""
    parsed = reading.parsed
    earlier = question_of(reading.taken_up, today) if reading.taken_up else None
    question = _of_company(parsed, _of_recent(parsed, reading.question, today))
    clauses = (*(clause[:CLAUSES_MAX] for clause in question.clauses[:CLAUSES_MAX]), *_unsaid(question.excluded_words))
    phrases = " ".join(f'"{phrase}"' for phrase in question.phrases)
    own_words = [mention for mention in parsed.mentions if isinstance(mention.value, Word)]
    says = phrases
    if not says and question.topic:
        is_inherited = earlier is not None and question.topic == earlier.question.topic
        is_said = bool(earlier and earlier.says) if is_inherited else _asks_for_words(parsed)
        says = question.topic if is_said else ""
    theme = (
        "" if says or (own_words and _names_rows(parsed)) or not _HAS_LETTERS.search(question.topic) else question.topic
    )
    preferred = tuple((each,) for each in preferred_in_words(parsed, question))
    asked = CampaignQuestion(
        question,
        clauses,
        says,
        theme,
        preferred,
        asks_nothing=parsed.asks_nothing,
        earlier=earlier,
        refers=parsed.refers,
        share_of=_share_of(parsed, clauses, question.topic),
    )
    if question.ask.lacks and not (clauses or says or theme):
        untold = Missing(parsed.text.strip(" ?"), Span(0, len(parsed.text)))
        return replace(asked, question=replace(question, unanswerable=(untold,)))
    return _of_something_else(parsed, asked) if not question.follows_up and not says else asked


def with_days(asked: CampaignQuestion, first: datetime.date | None, last: datetime.date | None) -> CampaignQuestion:
    """The question with months of any year as those from the first to the last day that campaigns have."""
    return replace(
        asked,
        clauses=within(asked.clauses, first, last),
        preferred=within(asked.preferred, first, last),
        share_of=None if asked.share_of is None else within(asked.share_of, first, last),
        earlier=asked.earlier and with_days(asked.earlier, first, last),
    )


def _share_of(parsed: ParsedQuery, clauses: Sequence[Clause], topic: str) -> tuple[Clause, ...] | None:
    """The clauses that say which campaigns a share is of ("what percentage of radio spots are playful")."""
    if not any(isinstance(mention.value, Asked) and mention.value.what == "share" for mention in parsed.mentions):
        return None
    said = said_of_rows(parsed, clauses)
    return tuple(clause for clause in clauses if clause not in said) if said or topic else None


def _of_company(parsed: ParsedQuery, question: Question) -> Question:
    """ "How many did the bakery run": the topic is a part of one company's name, and "the" says that one is meant."""
    for before, mention in pairwise(parsed.mentions):
        if not (isinstance(mention.value, Known) and mention.is_latent and parsed.said(mention) == question.topic):
            continue
        companies = {each.value for each in mention.value.values if each.facet == "company" and each.likeness == 1}
        if len(companies) == 1 and "the" in keys(parsed.said(before)):
            named = Condition("company", tuple(companies), evidence=(mention.span,))
            return replace(question, topic="", clauses=(*question.clauses, (named,)))
    return question


def _of_something_else(parsed: ParsedQuery, asked: CampaignQuestion) -> CampaignQuestion:
    """ "Who advertises on radio" asks for companies, "what does she promise" for the field that it names; of "who wrote it"
    nothing is known, and so of whatever "what", "who" or "why" asks beside campaigns.
    """
    opening = parsed.tokens[0].key if parsed.tokens else ""
    if (
        opening not in _OF_OTHERS
        or asked.ask != Ask()
        or asked.question.unanswerable
        or (opening not in _ASKED_BY and _asks_for_rows(parsed))
    ):
        return asked
    facet = _ASKED_BY.get(opening) or (_last_name(parsed, asked) if opening.startswith("what") else None)
    if facet is None or asked.theme:
        return replace(asked, is_of_others=bool(asked.theme) or opening in ("why", "how"))
    superlative = [each.value.what for each in parsed.mentions if isinstance(each.value, Asked)]
    is_one = "most" in superlative or "least" in superlative
    ask = Ask("groups", facet, ascending="least" in superlative, limit=1 if is_one else None)
    return replace(asked, question=replace(asked.question, ask=ask))


def _asks_for_rows(parsed: ParsedQuery) -> bool:
    """Whether a word for campaigns stands right behind the opening word ("what ads …")."""
    following = (mention for mention in parsed.mentions[1:] if mention.value != Cue("filler"))
    return next(following, parsed.mentions[0]).value == Cue("noun")


def _last_name(parsed: ParsedQuery, asked: CampaignQuestion) -> str | None:
    """The facet that the question ends with, where no condition says it."""
    last = parsed.mentions[-1]
    if not isinstance(last.value, FacetName) or last.value.grain:
        return None
    said = {span.start for clause in asked.clauses for condition in clause for span in condition.evidence}
    return None if last.start in said else last.value.facets[0]


def _unsaid(excluded: Sequence[str]) -> list[Clause]:
    words = [each for each in excluded if not {stem(key) for key in keys(each)} <= _SAYING][:EXCLUDED_MAX]
    if not words:
        return []
    # one query of the search vector, however many words
    any_of_them = " or ".join(f'"{each}"' if " " in each else each for each in words)
    return [(Condition("copy", (any_of_them,), is_negated=True),)]


def _asks_for_words(parsed: ParsedQuery) -> bool:
    """Whether the question is what the copy says ("mentions", "with the words"), by a verb or noun before the words."""
    words = [place for place, mention in enumerate(parsed.mentions) if isinstance(mention.value, (Word, Known))]
    return any(
        {stem(key) for key in keys(parsed.said(mention))} & _SAYING
        for mention in parsed.mentions[: words[-1] if words else 0]
        if isinstance(mention.value, (Word, Cue))
    )


def _names_rows(parsed: ParsedQuery) -> bool:
    """Whether each word that is left stands right behind a channel, and so only names what runs there ("radio slots")."""
    words = [place for place, mention in enumerate(parsed.mentions) if isinstance(mention.value, Word)]
    return all(place > 0 and _is_behind(parsed.mentions[place - 1], parsed.mentions[place]) for place in words)


def _is_behind(before: Mention, mention: Mention) -> bool:
    is_channel = isinstance(before.value, Known) and any(value.facet == "channel" for value in before.value.values)
    return is_channel and mention.start - before.end == 1 and mention.assertion == "affirmed"


def _of_recent(parsed: ParsedQuery, question: Question, today: datetime.date) -> Question:
    """ "The latest campaigns" are the recent ones; "the latest campaign" is one."""
    ask = question.ask
    if ask.kind != "extreme" or ask.ascending or ask.limit != 1 or any(_is_when(each) for each in parsed.mentions):
        return question
    rows = [mention for mention in parsed.mentions if mention.value == Cue("noun")]
    if not any(parsed.text[mention.end - 1].lower() == "s" for mention in rows):
        return question
    recent = Condition("capture_date", range=DateRange(today - datetime.timedelta(days=RECENT_DAYS), today))
    return replace(question, ask=Ask(), clauses=(*question.clauses, (recent,)))


def _is_when(mention: Mention) -> bool:
    return isinstance(mention.value, Asked) and mention.value.what == "when"


# ---- on the wire ----


def clauses_to_tell(asked: CampaignQuestion, base: Sequence[Clause] = ()) -> list[Clause]:
    """The clauses that each campaign of an answer is said to meet or to miss: those of every search, then the question's."""
    words: list[Clause] = [(Condition("copy", (asked.says,)),)] if asked.says else []
    return [*_required(asked, base), *words, *asked.preferred]


def as_searched(
    asked: CampaignQuestion, clauses: Sequence[Clause], theme: str, words: str, preferred: Sequence[Clause]
) -> CampaignQuestion:
    """The question as a model understood it: by the conditions of its searches, with the words that say them where the reading
    found the same.
    """
    read = {_in_short(clause): clause for clause in asked.clauses}
    return replace(
        asked,
        clauses=tuple(read.get(_in_short(clause), clause) for clause in clauses),
        theme=theme,
        says=words,
        preferred=tuple(preferred),
        question=replace(asked.question, preferred=()),
    )


def _in_short(clause: Clause) -> Clause:
    """What a clause says, however surely and by whatever words."""
    return tuple(replace(condition, evidence=(), strength="stated") for condition in clause)


def _required(asked: CampaignQuestion, base: Sequence[Clause]) -> list[Clause]:
    own = [without_evidence(clause) for clause in asked.clauses]
    return [*(clause for clause in base if clause not in own), *asked.clauses]


def constraints_of(asked: CampaignQuestion, base: Sequence[Clause] = ()) -> Constraints:
    """How a question was read, for whoever asked, with what holds in every search."""
    text, preferred = asked.question.text, [each for clause in asked.preferred for each in clause]
    others = [each for each in asked.question.preferred if each not in preferred]
    evidence = [
        *(each for clause in asked.clauses for condition in clause for each in evidence_of(condition, text)),
        *(each for condition in (*preferred, *others) for each in evidence_of(condition, text, is_preferred=True)),
    ]
    return Constraints(
        conditions=[
            *(_clause_on_wire(clause, "required") for clause in _required(asked, base)),
            *(_clause_on_wire(clause, "preferred") for clause in asked.preferred),
        ],
        theme=asked.theme,
        words=asked.says,
        evidence=evidence[:EVIDENCE_MAX],
    )


def _clause_on_wire(clause: Clause, strength: Literal["required", "preferred"]) -> ClauseOnWire:
    return ClauseOnWire(any_of=[_on_wire(condition) for condition in clause], strength=strength, label=label_of(clause))


def _on_wire(condition: Condition) -> ConditionOnWire:
    days = condition.range if isinstance(condition.range, DateRange) else DateRange()
    return ConditionOnWire.model_validate(
        {
            "field": condition.facet,
            "values": list(condition.values),
            "from": days.first,
            "to": days.last,
            "months": list(days.months),
            "negated": condition.is_negated,
        }
    )


def with_constraints(asked: CampaignQuestion, constraints: Constraints) -> CampaignQuestion:
    """The question with these conditions in place of its own; what it asks about them stays."""
    question = replace(
        asked.question, clauses=(), preferred=(), missing=(), unanswerable=(), topic=constraints.theme, references=()
    )
    given: dict[str, list[Clause]] = {"required": [], "preferred": []}
    for clause in constraints.conditions:
        given[clause.strength].append(tuple(map(_from_wire, clause.any_of)))
    theme = "" if constraints.words else constraints.theme
    return CampaignQuestion(
        question, tuple(given["required"]), constraints.words, theme, preferred=tuple(given["preferred"])
    )


def _from_wire(condition: ConditionOnWire) -> Condition:
    days = DateRange(condition.from_date, condition.to_date, tuple(condition.months))
    return Condition(
        condition.field,
        tuple(condition.values),
        None if days == DateRange() else days,
        is_negated=condition.negated,
    )
