"""What is asked about the rows that meet a question's conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import facet_called, is_dated_verb, is_done_on, is_participle, is_undone, spoken_date
from quarry.spans.dealings import DEALING, SOLD, USING, dealt_with, quantity_of, referred_by
from quarry.spans.measures import facets_of_adjective
from quarry.spans.mention import (
    Asked,
    AskedFor,
    Cue,
    DateRange,
    FacetName,
    Known,
    Mention,
    ParsedQuery,
    Span,
    Word,
)
from quarry.spans.question import Ask, Function, Missing
from quarry.spans.reckoning import reckoning_of
from quarry.spans.united_tables import are_called_people, compared_values, meant_table, nearest_people

BESIDE_MENTIONS_MAX = 4
"""So many mentions further on stands what a "most" or "how many" is about."""

MEASURED_MENTIONS_MAX = 12
"""So many mentions behind "how much" are named as what cannot be told."""

_NEGATIVE = (Cue("negates"), Cue("negates_verb"))
_SUPERLATIVES: tuple[AskedFor, ...] = ("most", "least", "largest", "smallest", "first", "last")
_NUMERIC = ("number", "money")
_KINDS = frozenset(map(stem, ("kind", "type", "sort")))
_MONEY = frozenset(map(stem, ("money", "cash", "capital")))


@dataclass
class Asking:
    """`ask` is None where nothing says what is asked for. `places` are the mentions that say it."""

    ask: Ask | None = None
    unanswerable: list[Missing] = field(default_factory=list)
    places: set[int] = field(default_factory=set)


def asking_of(parsed: ParsedQuery, table: SearchTable, is_evidence: frozenset[int]) -> Asking:
    """`is_evidence`: the places of facet names that say what another mention is, and so are not asked for."""
    return _Reader(parsed, table, is_evidence).read()


class _Reader:
    def __init__(self, parsed: ParsedQuery, table: SearchTable, is_evidence: frozenset[int]) -> None:
        self.parsed = parsed
        self.mentions: Sequence[Mention] = parsed.mentions
        self.table = table
        self.meant = meant_table(parsed, table)
        self.own = self.meant.by_name
        self.spoken = spoken_date(parsed.mentions, table)
        self.is_evidence = is_evidence
        self.asking = Asking()
        self.asked = [
            (place, mention.value) for place, mention in enumerate(parsed.mentions) if isinstance(mention.value, Asked)
        ]

    def read(self) -> Asking:
        compared = compared_values(self.parsed) if self.table.reckons else frozenset()
        if compared:
            self.asking.ask = Ask("groups", self._facet(FacetName(tuple(sorted(compared)))), compares=True)
        elif self.asked:
            self.asking.ask = self._ask()
            self._refuse_groups_without_rows()
        elif (reckoning := reckoning_of(self.parsed, self.table)) is not None and reckoning.ask:
            self._use(*reckoning.places)
            self.asking.ask = reckoning.ask
        elif (opening := self._opening_name()) is not None:
            self.asking.ask = self._list(opening - 1)
        return self.asking

    def _refuse_groups_without_rows(self) -> None:
        """ "Which style has no houses": what no row has is in no group of rows."""
        for place, mention in enumerate(self.mentions[:-1]):
            is_none = mention.value == Cue("negates") and self.mentions[place + 1].value == Cue("noun")
            if is_none and self.asking.ask and self.asking.ask.kind in ("groups", "distinct"):
                self.asking.ask = self._cannot(place, place + 1)

    def _opening_name(self) -> int | None:
        """Where a question begins with the name of a facet in the plural, and says of which rows ("styles of Gothic houses"): its
        place.
        """
        opening = next((place for place, each in enumerate(self.mentions) if each.value != Cue("filler")), None)
        if opening is None or opening + 1 >= len(self.mentions) or opening in self.is_evidence:
            return None
        name, following = self.mentions[opening], self.mentions[opening + 1].value
        if not isinstance(name.value, FacetName) or name.value.grain or name.assertion != "affirmed":
            return None
        said = keys(self.parsed.said(name))
        facets = [self.table.facet(facet) for facet in name.value.facets]
        plurals = {keys(plural) for facet in facets for plural in (facet.plural, *(f"{word}s" for word in facet.words))}
        return opening if said in plurals and following == Cue("relates") else None

    def _ask(self) -> Ask | None:
        """The first of these that is asked for, the most particular first."""
        if (reckoning := reckoning_of(self.parsed, self.table)) is not None:
            self._use(*reckoning.places)
            return reckoning.ask or self._cannot(reckoning.places[0])
        kinds: dict[AskedFor, int] = {asked.what: place for place, asked in reversed(self.asked)}
        if "share" in kinds:
            return Ask("count") if self.table.tells_shares or self.table.reckons else self._cannot(kinds["share"])
        if "statistic" in kinds:
            # an average, a share, a difference: what no row tells, and no count
            return self._cannot(kinds["statistic"])
        if "measure" in kinds:
            return self._measure(kinds["measure"])
        if "when" in kinds:
            return self._when(kinds)
        if "group" in kinds and (grouped := self._group(kinds)):
            return grouped
        return self._superlative_in(kinds) or self._plain(kinds)

    def _superlative_in(self, kinds: Mapping[AskedFor, int]) -> Ask | None:
        for kind in _SUPERLATIVES:
            if kind in kinds and kind in ("most", "least"):
                return self._most(kinds[kind], ascending=kind == "least")
            if kind in kinds:
                return self._superlative(kind, kinds[kind])
        return None

    def _plain(self, kinds: Mapping[AskedFor, int]) -> Ask:
        if "distinct" in kinds or "count" in kinds:
            return self._of_values(self._count(kinds))
        if "list" in kinds:
            return self._of_values(self._list(kinds["list"]))
        return Ask("exists") if "exists" in kinds else Ask()

    def _of_values(self, ask: Ask) -> Ask:
        """The same; where it asks for values, and a "not" stands behind their name before any word for rows, that is of them."""
        if ask.kind not in ("groups", "distinct") or self.table.reckons:
            return ask
        name = next((at for at in sorted(self.asking.places) if isinstance(self.mentions[at].value, FacetName)), None)
        behind = [each.value for each in self.mentions[name + 1 :]] if name is not None else []
        cue = next((each for each in behind if each in _NEGATIVE), None)
        is_of_rows = cue is None or Cue("noun") in behind[: behind.index(cue)]
        return ask if is_of_rows else replace(ask, lacks=True)

    # ---- parts ----

    def _name_after(self, place: int, within: int = BESIDE_MENTIONS_MAX) -> tuple[int, FacetName] | None:
        """The facet that is named behind `place`, before anything else that is said."""
        for other in range(place + 1, min(place + 1 + within, len(self.mentions))):
            value = self.mentions[other].value
            if is_undone(self.mentions[other]):
                # "unassigned tickets"
                continue
            if isinstance(value, FacetName) and other not in self.is_evidence:
                return other, value
            if not isinstance(value, (Asked, Cue)) or (isinstance(value, Cue) and value.what in ("noun", "ends")):
                return None
        return None

    def _asked_name(self) -> tuple[int, FacetName] | None:
        """The facet that "which", "what" or "who" asks for, or that is named first."""
        for place, asked in self.asked:
            found = self._name_after(place) if asked.what in ("list", "distinct", "count", "measure") else None
            # "who observed it most often" does not ask for the date that the verb speaks of
            if found and self.mentions[found[0]].source != "rule":
                return found
        names = (
            (place, mention.value)
            for place, mention in enumerate(self.mentions)
            if isinstance(mention.value, FacetName) and place not in self.is_evidence and mention.assertion != "negated"
            and mention.source != "rule"
        )  # fmt: skip
        named = next(
            ((place, name) for place, name in names if self.table.facet(self._facet(name)).kind != "boolean"), None
        )
        return named or self._who()

    def _who(self) -> tuple[int, FacetName] | None:
        """The only people of whom anybody's rows tell, where "who" asks for somebody."""
        place = next(
            (place for place, asked in self.asked if asked.what == "list" and self._says(place) == "who"), None
        )
        people = nearest_people(self.meant.facets)
        if place is None or not self.table.reckons or len(people) != 1:
            return None
        return place, FacetName((people[0].name,))

    def _says(self, place: int) -> str:
        return self.parsed.said(self.mentions[place]).lower()

    def _facet(self, name: FacetName) -> str:
        """The facet of that name that the rows have which are meant."""
        return facet_called(name, self.spoken, self.own)

    def _use(self, *places: int) -> None:
        self.asking.places.update(places)

    def _limit(self) -> int | None:
        return next((asked.number for _, asked in self.asked if asked.number), None)

    def _cannot(self, place: int, last: int | None = None) -> Ask:
        """Asked for, and no facet tells it."""
        start, end = self.mentions[place].start, self.mentions[place if last is None else last].end
        self.asking.unanswerable.append(Missing(self.parsed.text[start:end], Span(start, end)))
        return Ask()

    # ---- kinds ----

    def _count(self, kinds: Mapping[AskedFor, int]) -> Ask:
        if "distinct" in kinds:
            found = self._name_after(kinds["distinct"])
            if found:
                self._use(found[0])
                return Ask("distinct", self._facet(found[1]), found[1].grain)
            return Ask("count")
        place = kinds["count"]
        found = self._name_after(place)
        if found is None or self.table.facet(self._facet(found[1])).kind == "boolean":
            return Ask("count")
        following = self.mentions[found[0] + 1].value if found[0] + 1 < len(self.mentions) else None
        if isinstance(following, Known) and {each.facet for each in following.values} <= {*found[1].facets}:
            # "how many promise free returns"
            return Ask("count")
        self._use(found[0])
        facet = self.table.facet(self._facet(found[1]))
        if facet.kind in _NUMERIC and not found[1].grain:
            return Ask("rows", facet.name)
        return Ask("distinct", facet.name, found[1].grain)

    def _measure(self, place: int) -> Ask:
        """A quantity, which a facet must hold: the one that is named, or a word of which is the adjective ("how tall")."""
        facet = self._facet_called(place)
        if facet is None:
            return self._cannot(place, min(len(self.mentions) - 1, place + MEASURED_MENTIONS_MAX))
        return Ask("rows", facet.name)

    def _adjectives(self, place: int) -> set[str]:
        """The stems of the words at `place`, a superlative's without its ending."""
        words = {stem(key) for key in keys(self.parsed.said(self.mentions[place]))}
        following = self.mentions[place + 1] if place + 1 < len(self.mentions) else None
        if following and isinstance(following.value, Word) and words & {"most", "least"}:
            words.add(following.value.stem)
        return words | {_positive(word) for word in words}

    def _facet_called(self, place: int) -> Facet | None:
        """The number, amount or date that the words at `place` name ("how tall", "the tallest"), or that is named after."""
        words = self._adjectives(place)
        words |= {_OPPOSITES[word] for word in words if word in _OPPOSITES}
        for facet in self.table.facets:
            if facet.kind in (*_NUMERIC, "date", "year") and words & _stems_of(facet):
                return facet
        for other in range(place + 1, len(self.mentions)):
            value = self.mentions[other].value
            if isinstance(value, FacetName) and not value.grain:
                facet = self.table.facet(self._facet(value))
                if facet.kind in _NUMERIC:
                    self._use(other)
                    return facet
        return None

    def _when(self, kinds: Mapping[AskedFor, int]) -> Ask:
        if self.table.date is None:
            years = [facet.name for facet in self.table.facets if facet.kind in ("date", "year")]
            if not years:
                return self._cannot(kinds["when"])
            return Ask("rows", years[0])
        ascending = "last" not in kinds
        if "first" in kinds or "last" in kinds:
            return self._dated(self.table.date, ascending, self._limit())
        return Ask("rows", self.table.date)

    def _group(self, kinds: Mapping[AskedFor, int]) -> Ask | None:
        """ "By channel"; but "the largest by turnover" asks for the one with the most of it."""
        found = self._name_after(kinds["group"]) or self._name_right_before(kinds["group"])
        if found is None:
            return None
        if "count" in kinds and (counted := self._name_after(kinds["count"])) and counted[1].facets != found[1].facets:
            # "how many styles has each architect": a number of values for each value
            return self._cannot(kinds["count"], counted[0])
        self._use(found[0])
        superlative = next((kind for kind in _SUPERLATIVES if kind in kinds), None)
        if superlative and not found[1].grain and self.table.facet(self._facet(found[1])).kind in _NUMERIC:
            ascending = superlative in ("least", "smallest", "first")
            return Ask("extreme", self._facet(found[1]), ascending=ascending, limit=self._limit() or 1)
        return Ask("groups", self._facet(found[1]), found[1].grain, ascending=False, limit=self._limit())

    def _name_right_before(self, place: int) -> tuple[int, FacetName] | None:
        """ "A style breakdown"."""
        value = self.mentions[place - 1].value if place else None
        return (place - 1, value) if isinstance(value, FacetName) and place - 1 not in self.is_evidence else None

    def _most(self, place: int, ascending: bool) -> Ask:
        """ "Which channel is most common", "who has the most pages", "which year had the fewest books"."""
        after = self._name_after(place, within=2)
        if after and self.table.facet(self._facet(after[1])).kind in _NUMERIC and not after[1].grain:
            self._use(after[0])
            return Ask("extreme", self._facet(after[1]), ascending=ascending, limit=self._limit() or 1)
        if (money := self._money_after(place)) is not None:
            self._use(place + 1)
            return Ask("extreme", money.name, ascending=ascending, limit=self._limit() or 1)
        if (dealt := self._most_dealt_with(place, ascending)) is not None:
            return dealt
        if not ascending and (done := self._most_done()) is not None:
            return done
        unknown = place + 1
        asked_name = self._asked_name()
        if self._is_unknown_measure(unknown, place):
            return self._cannot(place, unknown)
        if asked_name is None:
            noun = self._unknown_noun()
            return Ask("rows", limit=self._limit()) if noun is None else self._cannot(noun)
        self._use(asked_name[0])
        return Ask("groups", self._facet(asked_name[1]), asked_name[1].grain, ascending, limit=self._limit() or 1)

    def _most_dealt_with(self, place: int, ascending: bool) -> Ask | None:
        """ "Which hall is booked most", "the most popular dish", "the best-selling lamp": of rows that rows of another table
        refer to, that with most of these, or, where something is sold, with the largest quantity of it.
        """
        verbs = [other for other, each in enumerate(self.mentions) if self._deals(each)]
        nouns = [at for at, each in enumerate(self.mentions) if each.value == Cue("noun") and at not in verbs]
        if not self.table.reckons or len(nouns) != 1 or (self.parsed.asks_who and not are_called_people(self.meant)):
            return None
        said = {stem(key) for other in (place, *verbs) for key in keys(self._says(other))}
        referring = dealt_with(self.meant, said)
        if referring is None:
            return None
        is_dated = any(isinstance(each.value, DateRange) for each in self.mentions)
        of = referred_by(self.table, self.meant, referring) if is_dated or USING & said else None
        quantity = quantity_of(of[0]) if of and USING & said else None
        if SOLD & said and (ascending or quantity is None):
            # the most of what?
            return self._cannot(place)
        self._use(place, *verbs)
        if of and not ascending and (is_dated or quantity):
            self._use(nouns[0])
            function: Function | None = "sum" if quantity else None
            quantity_name = quantity.name if quantity else None
            return Ask("groups", of[1].name, None, False, self._limit() or 1, function, quantity_name)
        if is_dated:
            # what nobody dealt with then is in no group
            return self._cannot(place)
        function = "min" if ascending else "max"
        return Ask("extreme", referring.name, None, ascending, self._limit() or 1, function)

    def _most_done(self) -> Ask | None:
        """ "Which book was borrowed most", "who borrowed the most books": of rows on whose own date that was done, and which lead
        to those that are named, those of each, or of each of their people.
        """
        verbs = [self.parsed.said(each).lower() for each in self.mentions if is_dated_verb(each)]
        to = self.meant.source
        rows = [
            each
            for each in self.table.united
            if len(verbs) == 1
            and to
            and any(facet.via[-1:] == (to,) for facet in each.facets)
            and is_done_on(verbs[0], each)
        ]
        if self.meant.united or len(rows) != 1:
            return None
        led = [facet for facet in rows[0].facets if facet.via[-1:] == (to,) and facet.label in self.meant.nouns]
        of = nearest_people(rows[0].facets) if self.parsed.asks_who else [each for each in led if each.is_listed]
        if len(of) != 1:
            return None
        self._use(*(at for at, each in enumerate(self.mentions) if each.value == Cue("noun")))
        return Ask("groups", of[0].name, None, False, self._limit() or 1)

    def _deals(self, mention: Mention) -> bool:
        is_free = isinstance(mention.value, Word | Known | FacetName) or mention.value in (Cue("light"), Cue("noun"))
        said = self.parsed.said(mention).lower()
        return is_free and stem(said) in DEALING and (mention.value != Cue("noun") or is_participle(said))

    def _money_after(self, place: int) -> Facet | None:
        """The amount that "the most money" is of: the one that is named, or the only one."""
        following = self.mentions[place + 1].value if place + 1 < len(self.mentions) else None
        if not isinstance(following, Word) or following.stem not in _MONEY:
            return None
        amounts = [facet for facet in self.table.facets if facet.kind == "money" and facet.name in self.own]
        named = {name for each in self.mentions if isinstance(each.value, FacetName) for name in each.value.facets}
        return next(
            iter([each for each in amounts if each.name in named] or (amounts if len(amounts) == 1 else [])), None
        )

    def _unknown_noun(self) -> int | None:
        """ "Which colour is most common", where nothing here is called a colour: the place of the word."""
        for place, asked in self.asked:
            following = self.mentions[place + 1].value if place + 1 < len(self.mentions) else None
            if asked.what == "list" and isinstance(following, Word):
                return place + 1
        return None

    def _is_unknown_measure(self, place: int, most: int) -> bool:
        """ "The most views": a noun of which nothing here tells how many there are; "most common" has its own noun."""
        if place >= len(self.mentions) or not isinstance(self.mentions[place].value, Word):
            return False
        said = keys(self.parsed.said(self.mentions[most]))
        return said[-1:] in (("most",), ("fewest",), ("least",), ("of",)) or said[-1].isdigit()

    def _superlative(self, kind: str, place: int) -> Ask:
        ascending = kind in ("smallest", "first")
        if kind in ("first", "last"):
            if self.table.date is None:
                return self._cannot(place)
            return self._dated(self.table.date, ascending, self._limit() or 1)
        if (rated := self._rated(place, ascending)) is not None:
            return rated
        facet = self._facet_called(place)
        if facet is not None:
            is_low = ascending or bool(self._adjectives(place) & _OPPOSITES.keys())
            return Ask("extreme", facet.name, ascending=is_low, limit=self._limit() or 1)
        after = self._name_after(place, within=2)
        if after:
            # "the biggest publishers" are those with the most rows
            self._use(after[0])
            return Ask("groups", self._facet(after[1]), after[1].grain, ascending, limit=self._limit() or 1)
        sizes = [
            facet
            for facet in self.table.facets
            if facet.kind == "number" and facet.name in self.own and stem("size") in _stems_of(facet)
        ]
        if sizes:
            return Ask("extreme", sizes[0].name, ascending=ascending, limit=self._limit() or 1)
        return self._cannot(place)

    def _rated(self, place: int, ascending: bool) -> Ask | None:
        """ "The best rated dish", where those who rate it do: on average, of the only ones that do so with a number."""
        beside = [other for other in (place - 1, place + 1) if 0 <= other < len(self.mentions)]
        verbs = [other for other in beside if {stem(key) for key in keys(self._says(other))} & {"rate", "review"}]
        nouns = [other for other, each in enumerate(self.mentions) if each.value == Cue("noun")]
        meant = self.meant
        if not verbs or len(nouns) != 1 or meant.united or facets_of_adjective("rate", meant.facets):
            return None
        rating = [
            (of, numbers[0])
            for counted in meant.facets
            if counted.counts and (of := referred_by(self.table, meant, counted))
            if len(numbers := facets_of_adjective("rate", (each for each in of[0].facets if each.is_measurable))) == 1
        ]
        if len(rating) != 1:
            return None
        (_, facet), number = rating[0]
        self._use(place, *verbs, nouns[0])
        return Ask("groups", facet.name, None, ascending, self._limit() or 1, "avg", number.name)

    def _dated(self, date: str, ascending: bool, limit: int | None) -> Ask:
        """The first or last rows by the date that a verb speaks of, else by theirs; of anybody's tables the date is told."""
        function: Function | None = ("min" if ascending else "max") if self.table.reckons else None
        return Ask(
            "extreme", self.spoken.name if self.spoken else date, ascending=ascending, limit=limit, function=function
        )

    def _list(self, place: int) -> Ask:
        found = self._name_after(place)
        if found is None:
            kinds = self._kinds(place)
            return Ask("groups", kinds.name) if kinds else Ask(limit=self._limit())
        facet = self.table.facet(self._facet(found[1]))
        if facet.kind in ("boolean", *_NUMERIC):
            return Ask("rows", facet.name)
        self._use(found[0])
        return Ask("groups", facet.name, found[1].grain)

    def _kinds(self, place: int) -> Facet | None:
        """What tells which "kinds of" rows there are: the facet that is called so."""
        said = {stem(key) for key in keys(self._says(place))} & _KINDS
        own = [facet for facet in self.table.facets if facet.name in self.own and facet.kind == "value"]
        return next((facet for facet in own if said & _stems_of(facet)), None)


def _stems_of(facet: Facet) -> frozenset[str]:
    return frozenset(
        stem(key) for name in (facet.label, facet.plural, *facet.words, *facet.units) for key in keys(name)
    )


def _positive(word: str) -> str:
    """The adjective of a superlative: "tallest" → "tall", "heaviest" → "heavi" (a stem)."""
    for ending, replacement in (("iest", "i"), ("est", "")):
        if word.endswith(ending):
            bare = word.removesuffix(ending) + replacement
            return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "ls" else bare
    return word


_OPPOSITES = {
    "short": "long", "cheap": "expens", "low": "high", "small": "larg", "littl": "big", "light": "heavi", "young": "old",
    "slow": "fast", "thin": "thick", "narrow": "wide", "shallow": "deep", "cold": "hot", "weak": "strong", "earli": "late",
    "quick": "long", "close": "far", "near": "far", "few": "mani", "poor": "rich", "bad": "good",
}  # fmt: skip
"""Stems of adjectives that mean little of something, and of those that mean much of it."""
