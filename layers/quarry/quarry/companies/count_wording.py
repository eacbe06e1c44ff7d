"""What was counted, in words: the exact number first. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.companies.contract import Aggregation, Company
from quarry.companies.counting import Counted
from quarry.companies.facets import COMPANIES, STATUS
from quarry.platform.contract import AggregationGroup
from quarry.query.worded import labels
from quarry.retrieval.answers import Group, in_time, ranked
from quarry.retrieval.labels import value_label
from quarry.spans.question import Clause, Condition

GROUPS_MAX = 50
GROUPS_SAID_MAX = 12
RELAXATIONS_SAID_MAX = 3

_CALLED = {
    "startup": ("startup", "startups"),
    "acquired": ("acquired company", "acquired companies"),
    "public": ("public company", "public companies"),
    "closed": ("closed company", "closed companies"),
}


def counted_in_words(counted: Counted) -> str:
    """The answer to what was counted."""
    if not counted.answer.rows:
        return _nothing(counted)
    match counted.wanted.ask.kind:
        case "count":
            said = f"There {'is' if counted.number == 1 else 'are'} **{counted.number:,}** {_called(counted, counted.number)}"
            return f"{said}{_such(counted)}.{_of_any_status(counted)}"
        case "distinct":
            return (
                f"There {_are(counted.number)} **{counted.number:,}** different {_of_facet(counted)}, {_most(counted)}"
            )
        case "groups":
            return _groups(counted)
        case _:
            return _extremes(counted)


def value_in_words(counted: Counted, company: Company) -> str:
    """What a company has of what was asked for: "founded 2021"; empty where it was asked for nothing of each."""
    ask = counted.wanted.ask
    if ask.kind != "extreme" or ask.facet is None:
        return ""
    facet = COMPANIES.facet(ask.facet)
    value = getattr(company, facet.column)
    if facet.kind == "year":
        return labels(COMPANIES, [(Condition(facet.name, (str(value),)),)])[0]
    unit = f"{facet.currency} " if facet.currency else ""
    return facet.wording.format(f"{unit}{value:,}")


def in_order(counted: Counted) -> list[Group]:
    """Years as they passed, where all are asked for; else those with most companies, or fewest, first."""
    ask = counted.wanted.ask
    is_year = ask.facet is not None and COMPANIES.facet(ask.facet).kind == "year"
    if is_year and ask.limit is None:
        return in_time(counted.answer.groups)
    return list(counted.answer.groups)


def aggregation_of(counted: Counted) -> Aggregation:
    """The same as values."""
    told = in_order(counted)[:GROUPS_MAX]
    return Aggregation(
        by=counted.wanted.ask.facet,
        groups=[AggregationGroup(value=group.value, count=group.rows) for group in told],
        total=counted.answer.rows if counted.wanted.ask.kind == "groups" else counted.number,
        other=counted.answer.left_out(told),
        overlapping=counted.answer.is_overlapping,
        query=counted.query,
        sentence=counted_in_words(counted).replace("**", ""),
    )


def _nothing(counted: Counted) -> str:
    said = f"There are **0** {_called(counted, 0)}{_such(counted)}."
    costs = [f"“{each.label}”, {each.rows:,}" for each in counted.relaxations[:RELAXATIONS_SAID_MAX]]
    return f"{said} Without {'; without '.join(costs)}." if costs else said


def _groups(counted: Counted) -> str:
    ask, groups = counted.wanted.ask, ranked(counted.answer.groups, ascending=counted.wanted.ask.ascending)
    if not groups:
        return f"Of the {_all(counted)}, none has {_of_facet(counted, 1)} that is known."
    if ask.limit is None:
        told, rest = in_order(counted)[:GROUPS_SAID_MAX], in_order(counted)[GROUPS_SAID_MAX:]
        more = f" and {len(rest):,} more ({counted.answer.left_out(told):,})" if rest else ""
        overlap = " A company can be in several groups." if counted.answer.is_overlapping else ""
        return f"The {_all(counted)} by {_of_facet(counted, 1)}: {_listed(told)}{more}.{overlap}"
    last = groups[min(ask.limit, len(groups)) - 1].rows
    first = [group for place, group in enumerate(groups) if place < ask.limit or group.rows == last]
    which = "rarest" if ask.ascending else "most common"
    called = _of_facet(counted, len(first))
    said = f"{_listed(first[:GROUPS_SAID_MAX], strongly=True)}: the {which} {called} of the {_all(counted)}."
    rest = groups[len(first) : len(first) + GROUPS_SAID_MAX]
    return f"{said} Then come {_listed(rest)}." if rest else said


def _most(counted: Counted) -> str:
    most = ranked(counted.answer.groups)[:GROUPS_SAID_MAX]
    which = "all told" if len(most) == counted.number else "the most common ones"
    return f"among the {_all(counted)}; {which}: {_listed(most)}."


def _extremes(counted: Counted) -> str:
    said = [f"{company.company_name} ({value_in_words(counted, company)})" for company in counted.companies]
    first = value_in_words(counted, counted.companies[0])
    best = [company for company in counted.companies if value_in_words(counted, company) == first]
    leading = f"**{' and '.join(company.company_name for company in best)}**, {first}"
    ask = counted.wanted.ask
    is_year = ask.facet is not None and COMPANIES.facet(ask.facet).kind == "year"
    which = ("earliest" if is_year else "lowest") if ask.ascending else ("latest" if is_year else "highest")
    label = _of_facet(counted, 1)
    among = f"{_called(counted, 2)}{_such(counted)}"
    head = f"{leading}: the {which} {label} of the {among} of which it is known."
    rest = said[len(best) :]
    return f"{head} Then come {', '.join(rest)}." if rest else head


def _all(counted: Counted) -> str:
    """All companies that were counted: "42 startups in Fintech"."""
    return f"{counted.answer.rows:,} {_called(counted, counted.answer.rows)}{_such(counted)}"


def _called(counted: Counted, number: int) -> str:
    """What they are called by the status that they are to have."""
    statuses = [clause[0].values for clause in counted.clauses if _is_one_status(clause)]
    one, many = _CALLED[statuses[0][0]] if len(statuses) == 1 else ("company", "companies")
    among = " of those shown before" if counted.wanted.among is not None else ""
    return (one if number == 1 else many) + among


def _such(counted: Counted) -> str:
    """What else they are to be like, in words that follow their noun."""
    said = labels(COMPANIES, [clause for clause in counted.clauses if not _is_one_status(clause)])
    return f" {', '.join(said)}" if said else ""


def _is_one_status(clause: Clause) -> bool:
    return len(clause) == 1 and clause[0].facet == STATUS and len(clause[0].values) == 1 and not clause[0].is_negated


def _of_any_status(counted: Counted) -> str:
    """How many there are beside startups, where only these were assumed to be meant."""
    is_assumed = len(counted.clauses) > len(counted.wanted.clauses)
    if not is_assumed or counted.of_any_status == counted.answer.rows:
        return ""
    return f" Counting companies of every status, there {_are(counted.of_any_status)} {counted.of_any_status:,}."


def _of_facet(counted: Counted, number: int = 2) -> str:
    facet = COMPANIES.facet(counted.wanted.ask.facet or "founded_year")
    return facet.label if number == 1 else facet.plural


def _listed(groups: Sequence[Group], *, strongly: bool = False) -> str:
    said = (f"{value_label(group.value, None).replace('_', ' ')} ({group.rows:,})" for group in groups)
    return ", ".join(f"**{each}**" if strongly else each for each in said)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
