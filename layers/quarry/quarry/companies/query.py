"""What a question asks of the companies: which conditions must hold, what they are to be filed under, and what is left
to be found by words and by meaning.

Pure. The core reads the question; here stands what is peculiar to companies, such as that startups are meant where no
status is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from quarry.companies.contract import STATUSES, Status
from quarry.companies.facets import COMPANIES, NAME_FACETS, STATUS, TAG_FACETS
from quarry.companies.meaning import is_noun, without_names, word_before
from quarry.companies.statuses import asks_for_any_status, is_of_status, of_closing, undated, with_one_status
from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.platform.text import significant_words
from quarry.spans.interpretation import interpret
from quarry.spans.mention import Asked, Cue, Known, Mention, NumberRange, ParsedQuery, Phrase, Word
from quarry.spans.question import Clause, Condition, Missing, Question, Reading, preferred_in_words

CLAUSES_MAX = 12
"""So many conditions must hold, and as many each are assumed, preferred or tags, with so many alternatives each."""
EXCLUDED_MAX = 12
"""So many words or phrases that are ruled out are looked for."""
COUNT_MAX = 20
FEW = {"couple": 2, "few": 3, "handful": 5}

STARTUPS: Clause = (Condition(STATUS, ("startup",), strength="inferred"),)
_WITHIN = frozenset("in within from".split())


@dataclass(frozen=True)
class TagGroup:
    """What words of the question are filed under: any of `conditions`. `is_demanded`: they say what the companies are
    ("insurance startups"), not for whom or how they work.
    """

    name: str
    conditions: tuple[Condition, ...]
    is_demanded: bool = False

    def values(self, facet: str) -> frozenset[str]:
        return frozenset(value for each in self.conditions if each.facet == facet for value in each.values)


@dataclass(frozen=True)
class Sought:
    """What is sought.

    `stated` clauses must hold; `assumed` ones hold as long as something meets them: that startups are meant, and what
    is only likely. `tags` and what is `preferred` speak for a company, and rule none out. `excluded` are words that no
    company may speak of. `topic` is what is to be found by words and by meaning; `is_plain`: tags and nothing else make
    it up. `narrows`: it speaks of what was shown before. `has_more`: it says more conditions than are looked at together.
    """

    question: Question
    stated: tuple[Clause, ...] = ()
    assumed: tuple[Clause, ...] = ()
    tags: tuple[TagGroup, ...] = ()
    preferred: tuple[Clause, ...] = ()
    excluded: tuple[str, ...] = ()
    topic: str = ""
    words: tuple[str, ...] = ()
    is_plain: bool = False
    count: int | None = None
    narrows: bool = False
    has_more: bool = False

    @property
    def clauses(self) -> tuple[Clause, ...]:
        return (*self.stated, *self.assumed)

    @property
    def names_status(self) -> bool:
        return any(condition.facet == STATUS for clause in self.stated for condition in clause)

    @property
    def missing(self) -> tuple[Missing, ...]:
        return tuple(self.question.missing)

    def guessed(self, statuses: Sequence[str]) -> Sought:
        """The same with a model's guess of the statuses instead of startups, where the question names none."""
        known = tuple(status for status in STATUSES if status in {each.strip().lower() for each in statuses})
        if not known or STARTUPS not in self.assumed:
            return self
        guess: Clause = (Condition(STATUS, known, strength="inferred"),)
        return replace(self, assumed=tuple(guess if each == STARTUPS else each for each in self.assumed))

    @property
    def is_stated(self) -> bool:
        """Whether conditions say which companies are meant: more than that startups are."""
        return bool(self.stated or self.excluded or any(not is_of_status(clause) for clause in self.assumed))

    def relaxed(self) -> Sought:
        """The same without what was only assumed of the status, or, where nothing was, without all that was assumed."""
        likely = tuple(clause for clause in self.assumed if not is_of_status(clause))
        return replace(self, assumed=likely if likely != self.assumed else ())

    def bounded(self) -> Sought:
        """The same with each condition once, and with no more of them than are looked at together."""
        each_once = replace(
            self,
            stated=_each_once(self.stated),
            assumed=_each_once(self.assumed),
            preferred=_each_once(self.preferred),
        )
        kept = replace(
            each_once,
            stated=_first(each_once.stated),
            assumed=_first(each_once.assumed),
            preferred=_first(each_once.preferred),
            tags=tuple(
                replace(group, conditions=group.conditions[:CLAUSES_MAX]) for group in each_once.tags[:CLAUSES_MAX]
            ),
            excluded=each_once.excluded[:EXCLUDED_MAX],
        )
        return replace(kept, has_more=kept != each_once)


def _each_once(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses but for those said before in other places of the question."""
    once: dict[Clause, Clause] = {}
    for clause in clauses:
        once.setdefault(tuple(replace(condition, evidence=()) for condition in clause), clause)
    return tuple(once.values())


def _first(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    return tuple(clause[:CLAUSES_MAX] for clause in clauses[:CLAUSES_MAX])


def sought(reading: Reading, named: Sequence[str] = ()) -> Sought:
    """What the question seeks; `named` are names in it that say whom others are to be like, and nothing else."""
    parsed = without_names(reading.parsed, named) if named else reading.parsed
    question = interpret(parsed, COMPANIES, reading.before) if named else reading.question
    negated = [(each,) for each in question.preferred if each.is_negated]
    clauses = [
        clause
        for clause in with_one_status([*question.clauses, *negated], parsed)
        if not _is_of_tags(clause) or all(_is_ruled_out(parsed, each) for each in clause)
    ]
    clauses = [of_closing(clause, clauses, parsed) for clause in clauses]
    question, clauses = _without_untold(question, clauses, parsed)
    tags = _tag_groups(question, parsed)
    stated = tuple(_without_contradictions((clause for clause in clauses if not _is_inferred(clause)), tags))
    names_status = any(condition.facet == STATUS for clause in clauses for condition in clause)
    inferred = tuple(clause for clause in clauses if _is_inferred(clause))
    assumed = inferred if names_status or asks_for_any_status(parsed) else (*inferred, STARTUPS)
    return Sought(
        question,
        stated=stated,
        assumed=assumed,
        tags=tags,
        preferred=tuple((each,) for each in preferred_in_words(parsed, question) if _is_of_fields(each)),
        excluded=_excluded(question, clauses, parsed),
        topic=question.topic,
        words=_words(question),
        is_plain=bool(tags) and _is_covered(question, tags),
        count=_count(question, parsed),
        narrows=parsed.narrows or (parsed.follows_up and reading.before is not None),
    ).bounded()


def _without_untold(
    question: Question, clauses: Sequence[Clause], parsed: ParsedQuery
) -> tuple[Question, list[Clause]]:
    """The clauses without those that no field tells; of these the question has the words, as what is not known."""
    untold = undated(clauses, parsed)
    said = [Missing(question.text[span.start : span.end], span) for _, span in untold]
    kept = [clause for clause in clauses if all(clause is not other for other, _ in untold)]
    return replace(question, unanswerable=(*question.unanswerable, *said)), kept


def _words(question: Question) -> tuple[str, ...]:
    """The stems of the topic's words as profiles are compared by them: those that say something, and no cue."""
    meant = {each for word in question.topic_words for key in keys(word) for each in (key, stem(key))}
    said = (key for key in keys(question.topic) if key in meant or stem(key) in meant)
    return tuple(dict.fromkeys(significant_words(" ".join(said))))


def _without_contradictions(clauses: Iterable[Clause], tags: Sequence[TagGroup]) -> Iterator[Clause]:
    """The clauses but for a tag that is ruled out and asked for: "fintech other than banks" rules out a part of what both
    are filed under, by its words alone.
    """
    asked_for = {(each.facet, value) for group in tags for each in group.conditions for value in each.values}
    for clause in clauses:
        kept = tuple(
            each
            for each in clause
            if not (each.is_negated and asked_for.intersection((each.facet, value) for value in each.values))
        )
        if kept:
            yield kept


def _is_of_fields(condition: Condition) -> bool:
    return COMPANIES.facet(condition.facet).is_hard and not condition.is_negated


def _is_inferred(clause: Clause) -> bool:
    return any(condition.strength == "inferred" and not condition.is_negated for condition in clause)


def _is_ruled_out(parsed: ParsedQuery, condition: Condition) -> bool:
    """Whether a negated condition rules companies out. What the things that they make, or those whom they serve, are
    not or do not have is no word against a company ("so that the grower needs no herbicide").
    """
    return not condition.is_negated or all(_is_said_of_rows(parsed, span.start) for span in condition.evidence)


def _is_said_of_rows(parsed: ParsedQuery, start: int) -> bool:
    """Whether what is negated from `start` on is said of companies: the negation follows them or what they are filed
    under, and no other word stands between.
    """
    before = [mention for mention in parsed.mentions if mention.start < start]
    is_behind_negation = False
    for mention in reversed(before):
        value = mention.value
        if isinstance(value, Cue):
            negates = value.what.startswith("negates")
            if value.what == "noun" or (negates and _begins_clause(parsed, mention)):
                return True
            is_behind_negation = is_behind_negation or negates
        elif mention.assertion == "negated":
            continue
        elif isinstance(value, (Word, Phrase)):
            return not _before_negation(before)
        elif is_behind_negation:
            return True
    return True


def _begins_clause(parsed: ParsedQuery, mention: Mention) -> bool:
    """Whether a "no" or "not" stands behind a comma: "food, no snacks please" rules out snacks."""
    said = parsed.said(mention).lower()
    before = parsed.text[: mention.start].rstrip().lower().removesuffix("please").rstrip()
    return said in ("no", "not") and before.endswith((",", ";"))


def _before_negation(mentions: Sequence[Mention]) -> bool:
    return any(isinstance(mention.value, Cue) and mention.value.what.startswith("negates") for mention in mentions)


def _excluded(question: Question, clauses: Sequence[Clause], parsed: ParsedQuery) -> tuple[str, ...]:
    """What is ruled out, in words: also what companies may be without being filed under it."""
    text = question.text
    words = [
        words for words in question.excluded_words if (start := text.find(words)) < 0 or _is_said_of_rows(parsed, start)
    ]
    said = [
        question.text[each.start : each.end]
        for clause in clauses
        for condition in clause
        if condition.is_negated and condition.facet in TAG_FACETS
        for each in condition.evidence
    ]
    return tuple(dict.fromkeys((*words, *said)))


def statuses_of(sought: Sought) -> list[Status]:
    """The statuses that the question names."""
    named = {value for clause in sought.clauses for each in clause if each.facet == STATUS for value in each.values}
    return [status for status in STATUSES if status in named]


def referred(question: Question, previous_ids: Sequence[str]) -> list[str]:
    """Of the companies that were shown before, those that the question refers to by their places."""
    places = (place - 1 if place > 0 else len(previous_ids) + place for place in question.references)
    return [previous_ids[place] for place in places if 0 <= place < len(previous_ids)]


def shown_before(question: Question, previous_ids: Sequence[str]) -> list[str]:
    """Of the companies that were shown before, those that the question refers to by their places, or all."""
    return referred(question, previous_ids) or list(previous_ids)


def asks_for_shown(reading: Reading) -> bool:
    """Whether companies that were shown before are asked for by their places, and nothing else ("tell me of the second one")."""
    question, before = reading.question, reading.before
    if not question.references or before is None or question.ask.kind != "rows" or question.topic != before.topic:
        return False
    return not any(condition.evidence for clause in question.clauses for condition in clause)


def names_said(reading: Reading) -> list[str]:
    """The names of companies that all of the question stands for, also where it was mistyped."""
    said = [mention for mention in reading.parsed.mentions if not isinstance(mention.value, Cue)]
    if len(said) != 1 or not isinstance(said[0].value, Known):
        return []
    return [each.value for each in said[0].value.values if each.facet in NAME_FACETS]


def _count(question: Question, parsed: ParsedQuery) -> int | None:
    """How many companies are wanted."""
    count = question.ask.limit
    if count is None:
        said = [token.key for token in parsed.tokens]
        few = (FEW[word] for before, word in pairwise(said) if before == "a" and word in FEW)
        count = next(chain(_counts_of_things(parsed), few), None)
    return None if count is None else max(1, min(COUNT_MAX, count))


def _counts_of_things(parsed: ParsedQuery) -> Iterator[int]:
    """Of "list 12 insurers", "the best two banks"."""
    for before, mention in pairwise(parsed.mentions):
        value = mention.value
        if (
            isinstance(value, NumberRange)
            and mention.is_latent
            and value.least is not None
            and value.least == value.most
        ):
            is_best = parsed.said(before).lower() in ("best", "first", "top")
            if is_best or isinstance(before.value, Asked):
                yield int(value.least)


# ---- tags ----


def _tag_groups(question: Question, parsed: ParsedQuery) -> tuple[TagGroup, ...]:
    """The tags that are named, by the words that name them; those of an earlier question by their values."""
    groups: dict[object, list[Condition]] = {}
    required = [each for clause in question.clauses if _is_of_tags(clause) for each in clause]
    for condition in (*question.preferred, *required):
        if condition.facet in TAG_FACETS and not condition.is_negated:
            values = tuple(value.lower() for value in condition.values)
            groups.setdefault((condition.evidence, () if condition.evidence else values), []).append(condition)
    found = _with_alternatives([_group(conditions, question, parsed) for conditions in groups.values()], question)
    for place in range(len(found) - 1, 0, -1):
        if found[place].is_demanded and _are_joined(found[place - 1], found[place], question):
            found[place - 1] = replace(found[place - 1], is_demanded=True)
    return tuple(found)


def _with_alternatives(groups: Sequence[TagGroup], question: Question) -> list[TagGroup]:
    """The groups, those in one that "or" joins: whoever is filed under one of them lacks nothing."""
    found: list[TagGroup] = []
    for group in groups:
        if found and _words_between(found[-1], group, question) == "or":
            before = found[-1]
            found[-1] = TagGroup(
                f"{before.name} or {group.name}",
                (*before.conditions, *group.conditions),
                is_demanded=before.is_demanded or group.is_demanded,
            )
        else:
            found.append(group)
    return found


def _are_joined(group: TagGroup, other: TagGroup, question: Question) -> bool:
    """Whether nothing but "and" or "or" stands between two tags."""
    return _words_between(group, other, question) in ("and", "or", "&")


def _words_between(group: TagGroup, other: TagGroup, question: Question) -> str | None:
    """What stands between the words that name two tags; None where no words name them."""
    first, second = group.conditions[-1].evidence, other.conditions[0].evidence
    return question.text[first[-1].end : second[0].start].strip(" ,").lower() if first and second else None


def _is_of_tags(clause: Clause) -> bool:
    return all(condition.facet in TAG_FACETS for condition in clause)


def _group(conditions: Sequence[Condition], question: Question, parsed: ParsedQuery) -> TagGroup:
    evidence = conditions[0].evidence
    if not evidence:
        return TagGroup(" ".join(conditions[0].values), tuple(conditions), is_demanded=True)
    name = " ".join(question.text[span.start : span.end] for span in evidence)
    place = next((place for place, each in enumerate(parsed.mentions) if each.start == evidence[-1].start), None)
    following = parsed.mentions[place + 1] if place is not None and place + 1 < len(parsed.mentions) else None
    is_within = place is not None and word_before(parsed, parsed.mentions[place]) in _WITHIN
    return TagGroup(name, tuple(conditions), is_demanded=question.topic == name or is_within or is_noun(following))


def _is_covered(question: Question, tags: Sequence[TagGroup]) -> bool:
    """Whether the topic is made up of tags."""
    named = {stem(key) for group in tags for key in keys(group.name)}
    return bool(question.topic) and all(stem(key) in named for word in question.topic_words for key in keys(word))
