"""What we say about campaigns when no model does."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from quarry.campaigns.conditions import PHRASES, labels
from quarry.campaigns.contract import Campaign
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import CampaignSet, Group, Groups, KnownValues, Outcome
from quarry.platform.text import shorten
from quarry.retrieval.named_values import nearest
from quarry.spans.question import Missing

LISTED_CAMPAIGNS = 5
LISTED_OFFERS = 10
LISTED_VALUES = 6
LISTED_GROUPS = 30
COPY_CHARACTERS = 140
RELAXATIONS = 3
SAME_NAME_CUTOFF = 0.7
"""A name this like one that is not known may be meant."""

NO_VALUE = PHRASES.say("none")
"""What the group of campaigns without a value is called."""

_TOLD = "company, brand, channel, offer, value propositions, sentiment, visual style, the day of capture and the copy"


def compose_answer(outcome: Outcome, known: KnownValues) -> str:
    """A plain answer in Markdown: what was asked first, exactly as counted over the whole set."""
    question = outcome.asked.question
    if question.unanswerable and not outcome.unnamed:
        return _unanswerable(question.unanswerable)
    if not outcome.found.total:
        return _nothing(outcome, known)
    text = "\n\n".join([*_dropped(outcome), _answer(outcome)])
    if outcome.asked.is_of_others:
        return f"This is not in the data as such. The campaigns that come nearest:\n\n{text}"
    return f"{_by_words(outcome)}\n\n{text}" if outcome.is_by_words else text


def told(outcome: Outcome) -> str:
    """What was found, in one sentence: the first line of the answer, without the list that follows it."""
    line = _answer(outcome).split("\n", 1)[0]
    return f"{line[:-1]}." if line.endswith(":") else line


# ---- what cannot be told, and what is not there ----


def _unanswerable(unanswerable: Sequence[Missing]) -> str:
    said = " and ".join(f"“{missing.text}”" for missing in unanswerable)
    return f"This is not in the data: {said}. What it tells of a campaign is {_TOLD}."


def _by_words(outcome: Outcome) -> str:
    return (
        f"It is not recorded which campaigns are about “{outcome.asked.theme}”, so this cannot be counted by meaning. "
        "By the words of their copy:"
    )


def _dropped(outcome: Outcome) -> list[str]:
    if outcome.is_beside_theme:
        return [f"Nothing comes near “{outcome.asked.theme}”. Without it:"]
    if not outcome.dropped:
        return []
    return [f"No campaign{labels(outcome.dropped)} was found, which was only guessed from the words; without that:"]


def _nothing(outcome: Outcome, known: KnownValues) -> str:
    """That nothing was found, why, and what each condition costs."""
    if outcome.asked.asks_nothing:
        return f"What would you like to know of the campaigns? What the data tells of each is {_TOLD}."
    if outcome.unnamed:
        return " ".join(_unnamed(missing, known) for missing in outcome.unnamed)
    if outcome.is_by_words:
        theme = outcome.asked.theme
        return f"It is not recorded which campaigns are about “{theme}”, and no copy{_of(outcome)} says these words."
    about = _about(outcome)
    lines = [f"No campaign{about} was found." if about or known else "There are no campaigns."]
    lines += [
        f"- without “{each.label}”: {each.campaigns} campaign{_s(each.campaigns)}"
        for each in outcome.relaxations[:RELAXATIONS]
    ]
    return "\n".join([lines[0], *([""] if lines[1:] else []), *lines[1:]])


def _unnamed(missing: Missing, known: KnownValues) -> str:
    assert missing.facet is not None
    close = nearest(missing.text, known.by_filter.get(missing.facet, ()), SAME_NAME_CUTOFF)
    offered = f" Did you mean {' or '.join(close)}?" if close else ""
    return f"No campaign by “{missing.text}” is here: no {CAMPAIGNS.facet(missing.facet).label} is called so.{offered}"


# ---- what was found ----


def _answer(outcome: Outcome) -> str:
    ask, found = outcome.asked.ask, outcome.found
    if found.more and ask.kind in ("distinct", "groups") and outcome.groups is None:
        many = f"These are {_size(found)}{_about(outcome)}, too many for their values to be counted."
        return f"{many} Narrow them down, by channel or company."
    match ask.kind:
        case "count":
            return _count_answer(outcome)
        case "distinct" | "groups" if outcome.asked.lacked and outcome.groups is not None:
            return _lacking_answer(outcome, outcome.groups)
        case "distinct" if outcome.groups is not None:
            return _distinct_answer(outcome, outcome.groups)
        case "groups" if ask.facet == "offer" and ask.limit is None:
            return _offers_answer(outcome)
        case "groups" if outcome.groups is not None:
            return _groups_answer(outcome, outcome.groups)
        case "extreme":
            return _extreme_answer(outcome)
        case "exists" if not _is_near_only(outcome):
            return f"Yes: {_campaigns_answer(outcome)}"
        case _:
            return _days_answer(outcome) if ask.facet == "capture_date" else _campaigns_answer(outcome)


def _count_answer(outcome: Outcome) -> str:
    found = outcome.found
    verb, noun = ("is", "campaign") if found.total == 1 else ("are", "campaigns")
    lines = [f"There {verb} **{found.size}** {noun}{_about(outcome)}{_share(outcome)}."]
    for field in ("channel", "sentiment"):
        values = found.counts.get(field, {})
        if len(values) > 1:
            lines.append(f"By {CAMPAIGNS.facet(field).label}: {_with_counts(values)}.")
    return "\n\n".join(lines)


def _share(outcome: Outcome) -> str:
    """The share that is asked for, of which campaigns."""
    of, whole = outcome.asked.share_of, outcome.share_of
    if of is None or not whole or outcome.found.more:
        return ""
    exact = 100 * outcome.found.total / whole
    share = f"{exact:.0f}" if exact.is_integer() else f"{exact:.1f}"
    return f": {share} % of the {whole} campaign{_s(whole)}{'' if outcome.asked.picks else labels(of)}"


def _distinct_answer(outcome: Outcome, groups: Groups) -> str:
    had = [group for group in groups.groups if group.campaigns]
    listed = f": {_listed(had)}" if len(had) <= LISTED_GROUPS else ""
    among = f"among the {_size(outcome.found)}{_about(outcome)}"
    return (
        f"There {_are(groups.number)} **{groups.number}** different {_called(outcome, groups.number)} {among}{listed}."
    )


def _groups_answer(outcome: Outcome, groups: Groups) -> str:
    """The values with their numbers; the most common first, by name, where that is asked for."""
    ask, about = outcome.asked.ask, _about(outcome)
    ranked = groups.ranked(ascending=ask.ascending)
    if not ranked:
        return f"The {_size(outcome.found)}{about} have no {_called(outcome, 1)}."
    if ask.limit is None:
        head = f"**{groups.number}** {_called(outcome, groups.number)} of the {_size(outcome.found)}{about}"
        overlap = " A campaign can be in several groups." if groups.is_overlapping else ""
        return f"{head}: {_listed(groups.groups)}.{overlap}"
    first = _with_ties(ranked, ask.limit)
    rest = [group for group in ranked if group not in first][:LISTED_VALUES]
    names = ", ".join(f"**{group.label} ({group.campaigns})**" for group in first)
    which = "rarest" if ask.ascending else "most common"
    lines = [f"{names}: the {which} {_called(outcome, len(first))} of the {_size(outcome.found)}{about}."]
    if rest:
        lines.append(f"Then come {_listed(rest)}.")
    return " ".join(lines)


def _lacking_answer(outcome: Outcome, groups: Groups) -> str:
    """The values that no campaign of a kind has."""
    had, lacking = labels(outcome.asked.lacked), groups.groups
    among = f", among the {_size(outcome.found)}{labels(outcome.clauses)}"
    if not lacking:
        return f"There is no {_called(outcome, 1)} without a campaign{had}{among}."
    return f"**{len(lacking)}** {_called(outcome, len(lacking))} without a campaign{had}{among}: {_listed(lacking)}."


def _with_ties(groups: Sequence[Group], limit: int) -> list[Group]:
    """The first groups, and those that have as many campaigns as the last of them."""
    last = groups[min(limit, len(groups)) - 1].campaigns
    first = list(groups[:limit])
    return first + [group for group in groups[limit:] if group.campaigns == last][:LISTED_GROUPS]


def _extreme_answer(outcome: Outcome) -> str:
    ask, found = outcome.asked.ask, outcome.found
    which = "first" if ask.ascending else "latest"
    days = sorted({each.capture_date for each in found.campaigns if each.capture_date}, reverse=not ask.ascending)
    on = " and ".join(_day(day) for day in days[:LISTED_GROUPS])
    noun = f"campaign{_s(found.total)}"
    head = f"The {which} {noun}{_about(outcome)} {'was' if found.total == 1 else 'were'} captured on {on}:"
    return "\n".join([head, "", *_listed_campaigns(found)])


def _days_answer(outcome: Outcome) -> str:
    found = outcome.found
    days = sorted({each.capture_date for each in found.campaigns if each.capture_date})
    if not days:
        return f"It is not recorded when the {_size(found)}{_about(outcome)} ran."
    on = f"on {_day(days[0])}" if len(days) == 1 else f"between {_day(days[0])} and {_day(days[-1])}"
    head = f"The {_size(found)}{_about(outcome)} {'was' if found.total == 1 else 'were'} captured {on}:"
    return "\n".join([head, "", *_listed_campaigns(found)])


def _offers_answer(outcome: Outcome) -> str:
    found, about = outcome.found, _about(outcome)
    making = [campaign for campaign in found.campaigns if campaign.offer]
    if not making:
        return f"None of the {_size(found)}{about} makes an offer."
    makes = sum(group.campaigns for group in outcome.groups.valued) if outcome.groups else len(making)
    listed = [f"- **{_name(campaign)}** ({campaign.channel}): {campaign.offer}" for campaign in making[:LISTED_OFFERS]]
    head = f"{makes} of the {_size(found)}{about} make{'s' if makes == 1 else ''} an offer:"
    more = [f"and {makes - len(listed)} more."] if makes > len(listed) else []
    return "\n".join([head, "", *listed, *([""] if more else []), *more])


def _campaigns_answer(outcome: Outcome) -> str:
    found, limit = outcome.found, outcome.asked.ask.limit
    shown = min(limit or LISTED_CAMPAIGNS, found.total)
    head = f"{found.size} campaign{_s(found.total)}{_about(outcome)}"
    if _is_near_only(outcome):
        head = f"No copy{_of(outcome)} says “{outcome.asked.theme}”. What comes nearest in meaning: {_size(found)}"
    head += f"; the first {shown}:" if found.total > shown else ":"
    return "\n".join([head[:1].upper() + head[1:], "", *_listed_campaigns(found, shown)])


def _listed_campaigns(found: CampaignSet, limit: int = LISTED_CAMPAIGNS) -> list[str]:
    return [f"- **{_name(campaign)}** ({_facts(campaign)}): {_gist(campaign)}" for campaign in found.campaigns[:limit]]


# ---- words ----


def _about(outcome: Outcome) -> str:
    """The set that was asked for, in words that follow "campaigns"."""
    asked = outcome.asked
    theme = f" about {asked.theme}" if asked.theme and not (outcome.is_by_words or outcome.is_beside_theme) else ""
    says = (
        ""
        if not asked.says or _says_so(outcome)
        else f" saying {asked.says if chr(34) in asked.says else f'“{asked.says}”'}"
    )
    among = " among these" if asked.picks and outcome.clauses else ""
    return labels(outcome.clauses or (() if asked.picks else asked.clauses)) + says + theme + among


def _is_near_only(outcome: Outcome) -> bool:
    return outcome.found.is_near_only and not outcome.is_beside_theme


def _says_so(outcome: Outcome) -> bool:
    """Whether the words that the copy is to say are among the conditions."""
    words = (outcome.asked.says,)
    return any(
        condition.facet == "copy" and condition.values == words for clause in outcome.clauses for condition in clause
    )


def _of(outcome: Outcome) -> str:
    conditions = labels(outcome.asked.clauses)
    return f" of campaigns{conditions}" if conditions else ""


def _called(outcome: Outcome, number: int) -> str:
    """What is grouped by, for so many of it."""
    ask = outcome.asked.ask
    if ask.grain:
        return f"{ask.grain}{_s(number)}"
    facet = CAMPAIGNS.facet(ask.facet or CAMPAIGNS.facets[0].name)
    return facet.label if number == 1 else facet.plural


def _listed(groups: Sequence[Group]) -> str:
    """The first groups with their numbers, and how many are in the others."""
    listed = ", ".join(f"{group.label} ({group.campaigns})" for group in groups[:LISTED_GROUPS])
    rest = groups[LISTED_GROUPS:]
    return f"{listed} and {len(rest)} more ({sum(group.campaigns for group in rest)})" if rest else listed


def _day(day: datetime.date) -> str:
    return PHRASES.writing.date(day)


def _gist(campaign: Campaign) -> str:
    return campaign.offer or shorten(campaign.campaign_text, COPY_CHARACTERS)


def _facts(campaign: Campaign) -> str:
    day = _day(campaign.capture_date) if campaign.capture_date else None
    return ", ".join(filter(None, (campaign.channel, campaign.imagery_sentiment, day)))


def _name(campaign: Campaign) -> str:
    if campaign.brand and campaign.brand != campaign.company:
        return f"{campaign.brand}, {campaign.company}"
    return campaign.company


def _with_counts(values: Mapping[str, int]) -> str:
    listed = [f"{value or NO_VALUE} ({count})" for value, count in list(values.items())[:LISTED_VALUES]]
    rest = list(values.values())[LISTED_VALUES:]
    return ", ".join(listed) + (f" and {len(rest)} more ({sum(rest)})" if rest else "")


def _size(found: CampaignSet) -> str:
    return f"{found.size} campaign{_s(found.total)}"


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
