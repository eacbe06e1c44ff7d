"""Where somebody is or was, and where not: places of the gazetteer, and those that it does not know."""

from __future__ import annotations

import re

from quarry.language.tokens import unique
from quarry.people.places import country_of, country_of_region, known_place
from quarry.people.query.draft import BOTH_REACH, PLACES, Draft, facets_of
from quarry.spans.mention import Cue, Known, Mention, Place, Word

_COMPOUND = re.compile(r"[-‑/]\w{1,20}+")
_AT_WORK = re.compile(r"(?<!\bto )\bwork(?:s|ed|ing)?\s{1,3}$", re.IGNORECASE)
AT_WORK_CHARACTERS_MAX = 20
"""So far before a place "work" stands of which it is the place."""
_DESTINATION = frozenset({"relocate", "relocating", "move", "moving", "shift", "shifting"})


def take_known_place(draft: Draft, place: int, mention: Mention, value: Known) -> None:
    """A value of a place facet. One that nobody can be at, joined to a place by "or", is an alternative to it."""
    wished = [known.value.lower() for known in value.values if known.facet == "preferred_place" and known.is_whole]
    if wished and not _is_done(draft, mention) and facets_of(mention) <= PLACES and known_place(wished[0]) is None:
        # no place that anybody can be at: "remote", but where somebody "worked remotely"
        if mention.assertion in ("affirmed", "required"):
            is_alternative = _is_alternative_to_place(draft, place)
            draft.put("or_preferred_locations" if is_alternative else "preferred_locations", wished, mention)
        else:
            draft.prefer(*wished)
        return
    name = next((known.value for known in value.values if known.facet in PLACES and known.is_whole), None)
    if name is None:
        draft.prefer(*draft.text(mention).lower().split())
    elif (found := known_place(name)) is not None:
        _take(draft, mention, found)
    else:
        take_place_text(draft, mention, name.lower())


def _is_alternative_to_place(draft: Draft, place: int) -> bool:
    """Whether "or" joins it to the place before or behind it."""
    joined, mentions = draft.parsed.mentions[place].joined_by == "or", draft.parsed.mentions
    before = next((each for each in reversed(mentions[:place]) if not isinstance(each.value, Cue)), None)
    behind = next((each for each in mentions[place + 1 :] if not isinstance(each.value, Cue)), None)
    if joined and before is not None and _is_place(before):
        return True
    return behind is not None and behind.joined_by == "or" and _is_place(behind)


def _is_place(mention: Mention) -> bool:
    return isinstance(mention.value, Place) or bool(facets_of(mention) & PLACES)


def _is_done(draft: Draft, mention: Mention) -> bool:
    """Whether it says where somebody works or worked, not where they would ("want to work remotely")."""
    before = draft.parsed.text[max(0, mention.start - AT_WORK_CHARACTERS_MAX) : mention.start]
    return bool(_AT_WORK.search(before)) or draft.text(mention).lower().startswith("worked")


def take_place(draft: Draft, place: int, mention: Mention, value: Place) -> None:
    """A place of the gazetteer, unless it is the end of a name, or where somebody is to go."""
    if _is_part_of_name(draft, place):
        return
    if _DESTINATION & draft.words_before(place, 2):
        wished = any(known.facet == "preferred_place" and known.is_whole for known in value.known)
        if wished and mention.assertion in ("affirmed", "required"):
            draft.put("preferred_locations", [value.name], mention)
        else:
            draft.prefer(draft.text(mention).lower())
    else:
        _take(draft, mention, value)
        if mention.joined_by == "and" and "both" in draft.words_before(place, BOTH_REACH):
            # one of the places is enough for an experience: of the person's words each must hold
            draft.constraints.must.text += [each.name for each in draft.places[-2:]]


def take_place_text(draft: Draft, mention: Mention, text: str) -> None:
    """A place that no gazetteer knows."""
    if mention.assertion == "negated":
        draft.put("location", [text], mention)
    else:
        draft.place_texts.append(text)
        draft.note("must.location_text", text, mention)


def name_with_place(draft: Draft, place: int) -> str:
    """A name with the place that is its end ("Hill School Leeds"), or the number."""
    mention, *following = draft.parsed.mentions[place : place + 2]
    if following and isinstance(following[0].value, Place) and _is_part_of_name(draft, place + 1):
        return draft.parsed.text[mention.start : following[0].end]
    more = _COMPOUND.match(draft.parsed.text, mention.end)
    return draft.text(mention) + (more.group() if more else "")


def _take(draft: Draft, mention: Mention, place: Place) -> None:
    if mention.assertion == "negated":
        draft.put("location", [place.name], mention)
    elif mention.assertion == "preferred":
        draft.prefer(place.name)
    else:
        draft.are_places_apart = draft.are_places_apart or (mention.joined_by is not None and bool(draft.places))
        draft.places.append(place)
        draft.note("must.location_text", place.name, mention)


def _is_part_of_name(draft: Draft, place: int) -> bool:
    """Whether a place is the end of a name that the data does not hold: "Hill School Leeds"."""
    before = draft.parsed.mentions[place - 1] if place else None
    is_name = before is not None and isinstance(before.value, Word) and before.value.is_name
    return is_name and before is not None and draft.parsed.text[before.end : draft.parsed.mentions[place].start] == " "


def put_places(draft: Draft) -> None:
    """One city, country or both go to their fields; several alternatives, a region or an unknown place to the text alone. A city
    that "or" joins to a country is an alternative to it.
    """
    must = draft.constraints.must
    cities = unique(place.name for place in draft.places if _is_city(place))
    if cities:
        draft.place_texts = []  # a part of the city, mostly
    countries = unique(place.name for place in draft.places if place.kind == "country" and not _is_city(place))
    regions = unique(place.name for place in draft.places if place.kind not in ("city", "country"))
    is_one = not (regions or draft.place_texts or (draft.are_places_apart and len(cities) + len(countries) > 1))
    if is_one and len(cities) == 1 and len(countries) <= 1:
        within = next((place.within for place in draft.places if place.kind == "city"), None)
        is_country = within is not None and known_place(within, "country") is not None
        country = within if is_country and not countries else next(iter(countries), None)
        must.city, must.country = cities[0], country
        must.location_text = ", ".join(filter(None, (cities[0], country or _state_needed(cities[0], within))))
    elif is_one and not cities and len(countries) == 1:
        must.country = must.location_text = countries[0]
    else:
        must.location_text = " or ".join((*cities, *regions, *countries, *unique(draft.place_texts))) or None


def _is_city(place: Place) -> bool:
    """Whether it is a city, as a country may be that is one."""
    return place.kind == "city" or (place.kind == "country" and known_place(place.name, "city") is not None)


def _state_needed(city: str, within: str | None) -> str | None:
    """The state that a city is put in, unless it goes without saying: the largest city of the name lies in its country."""
    state = known_place(within, "region") if within else None
    return within if state is not None and country_of_region(state) != country_of(city) else None
