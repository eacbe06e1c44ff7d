"""From mentions to constraints: each mention to the field that it is about, then what several of them say together."""

from __future__ import annotations

from itertools import pairwise

from quarry.language.tokens import tokenise
from quarry.people.contract import Constraints
from quarry.people.embedding_text import confidence, embedding_text_of, search_phrases
from quarry.people.query.dates import each_said, take_dates
from quarry.people.query.draft import ORGANISATIONS, PLACES, Draft, facets_of
from quarry.people.query.experience import take_experience, with_experience
from quarry.people.query.names import take_name, take_names_in_parts, take_unknown_names
from quarry.people.query.organisations import take_current, take_not_current, take_organisation, take_team
from quarry.people.query.places import put_places, take_known_place, take_place
from quarry.people.query.roles import ROLES, put_roles, take_role
from quarry.people.query.salaries import take_amounts, take_salary
from quarry.spans.mention import (
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
    Word,
)
from quarry.spans.question import Question


def constraints_of(parsed: ParsedQuery, question: Question) -> Constraints:
    """The constraints that a question holds, not yet normalised."""
    parsed, text = with_experience(parsed), parsed.text
    draft = Draft(parsed, question, Constraints(query_original=text, query_cleaned=text))
    for place, mention in enumerate(parsed.mentions):
        if mention.assertion != "doubtful" or _is_left(draft, place):
            _take(draft, place, mention)
    _take_former(draft)
    take_names_in_parts(draft)
    _take_conditions(draft)
    take_amounts(draft)
    take_unknown_names(draft)
    _take_excluded_words(draft)
    put_places(draft)
    put_roles(draft)
    constraints = draft.constraints
    constraints.query_embedding_text = embedding_text_of(parsed, question.ask.facet)
    constraints.search_phrases = search_phrases(parsed, constraints, question.ask.facet)
    constraints.confidence_score = confidence(parsed)
    return constraints


def _take_former(draft: Draft) -> None:
    """ "Former captains": what they were, by an experience that has ended."""
    for mention, following in pairwise(draft.parsed.mentions):
        is_former = isinstance(mention.value, Word) and draft.text(mention).lower() in _FORMER
        is_former = is_former or draft.is_of_the_past(following)
        if is_former and facets_of(following) & {"title"} and draft.constraints.must.is_current is None:
            draft.constraints.must.is_current = False
            draft.constraints.should.keywords = [
                each for each in draft.constraints.should.keywords if each not in _FORMER
            ]
            draft.note("must.is_current", "false", mention)


_FORMER = frozenset(("former", "formerly", "ex", "previous", "previously", "erstwhile"))


def _is_left(draft: Draft, place: int) -> bool:
    """Whether it is said that somebody is there no longer."""
    return any(mention.value == Cue("former") for mention in draft.before(place, 1))


def _take(draft: Draft, place: int, mention: Mention) -> None:
    value = mention.value
    if isinstance(value, Known) and not _is_part_of_phrase(draft, place):
        _take_known(draft, place, mention, value)
    elif isinstance(value, Known):
        return
    elif isinstance(value, Place):
        take_place(draft, place, mention, value)
    elif isinstance(value, Duration):
        take_experience(draft, mention, value)
    elif isinstance(value, (Word, Phrase)) and mention.assertion != "negated":
        # a word that the data has no value for raises the rank of who says it
        draft.prefer(*(token.text.lower() for token in tokenise(draft.text(mention))))
    elif isinstance(value, FacetName):
        _take_facet_name(draft, place, mention, value)


def _is_of_more(draft: Draft, place: int) -> bool:
    """Whether what is called so is ruled out with what follows: "no job hoppers", "not in the role of a nurse"."""
    following = next((each for each in draft.parsed.mentions[place + 1 :] if not isinstance(each.value, Cue)), None)
    return following is not None and following.assertion == "negated"


def _is_part_of_phrase(draft: Draft, place: int) -> bool:
    """Whether words that may be a part of a value are ruled out with others as a phrase: of "no night duty", a "Night ward"."""
    mention = draft.parsed.mentions[place]
    known = mention.value.values if isinstance(mention.value, Known) else ()
    if mention.assertion != "negated" or any(each.is_whole for each in known):
        return False
    said = draft.text(mention)
    return any(said != words and said in words for words in draft.question.excluded_words)


def _take_known(draft: Draft, place: int, mention: Mention, value: Known) -> None:
    """A value of the data, by the facets that it is of."""
    facets = facets_of(mention)
    if mention.assertion == "preferred" or (mention.is_latent and mention.assertion != "negated"):
        draft.prefer(draft.text(mention).lower())
    elif facets & ROLES - {"title", "degree"} or not facets & (ORGANISATIONS | PLACES | {"name", "team"}):
        take_role(draft, place, mention, value)
    elif facets & ORGANISATIONS:
        take_organisation(draft, place, mention, value)
    elif "team" in facets:
        take_team(draft, mention, value)
    elif facets & PLACES:
        take_known_place(draft, place, mention, value)
    else:
        take_name(draft, mention, value)


def _take_facet_name(draft: Draft, place: int, mention: Mention, value: FacetName) -> None:
    """ "Currently at …", "now", "active"; a kind of thing that is ruled out ("not at a university")."""
    if "is_current" in value.facets:
        take_current(draft, place, mention)
    elif "title" in value.facets and (
        "between" in draft.words_before(place, 1) or (mention.assertion == "negated" and not _is_of_more(draft, place))
    ):
        take_not_current(draft, mention)  # "without a job", "between jobs"
    elif mention.assertion == "required" and {"degree", "school"} & set(value.facets):
        draft.put("intent_primary", ["education"], mention)
    elif mention.assertion == "negated" and not {"open_to_work", "open_to_contact"} & set(value.facets):
        draft.put("keywords", [draft.text(mention).lower()], mention)


def _take_conditions(draft: Draft) -> None:
    """Dates and amounts, and being open to work, by the conditions that they make."""
    for condition in (condition for clause in draft.question.clauses for condition in each_said(clause)):
        place = draft.said_by(condition.evidence)
        if place is None:
            continue
        mention = draft.parsed.mentions[place]
        if isinstance(condition.range, DateRange):
            take_dates(draft, mention, condition, condition.range)
        elif condition.facet == "salary" and isinstance(condition.range, (MoneyRange, NumberRange)):
            take_salary(draft, mention, condition.range)
        elif condition.facet == "open_to_work" and condition.is_negated:
            draft.constraints.exclude.open_to_work = True
            draft.note("exclude.open_to_work", "true", mention)
        elif condition.facet == "open_to_work":
            draft.constraints.must.open_to_work_only = True
            draft.note("must.open_to_work_only", "true", mention)


def _take_excluded_words(draft: Draft) -> None:
    """Words that are ruled out and are no values, nor names of employers; of a phrase with a value in it, the value is enough."""
    exclude = draft.constraints.exclude
    values = [
        draft.text(mention).lower()
        for mention in draft.parsed.mentions
        if mention.assertion == "negated"
        and isinstance(mention.value, Known)
        and any(each.is_whole for each in mention.value.values)
    ]
    held = {*exclude.keywords, *exclude.company_norm}
    for words in map(str.lower, draft.question.excluded_words):
        if words not in held and not any(value in words for value in values):
            exclude.keywords.append(words)
