"""What a question asks to be reckoned of numbers: a sum or an average, the highest or lowest, of all rows or of each group.

"Average price", "total amount by customer", "the highest salary", "the cheapest product", "how much did we spend", "top 5
customers by revenue". What cannot be read exactly is said to be untellable: no number is better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from quarry.language.nouns import plural, singular
from quarry.language.stemming import stem, stems_of
from quarry.language.tokens import fold, keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import facet_called, spoken_date
from quarry.spans.measures import (
    ADJECTIVES,
    ALREADY_SUMMED,
    BUYERS,
    MONEY_ADJECTIVES,
    MONEY_VERBS,
    PARTICIPLES,
    PAYMENTS,
    QUANTITIES,
    aged_by,
    amount_of_sale,
    compared,
    facets_of_adjective,
    is_additive,
    is_main_amount,
    is_measuring,
    words_of,
    years_of_making,
)
from quarry.spans.mention import Asked, AskedFor, Cue, FacetName, Known, Mention, ParsedQuery, Value, Word
from quarry.spans.overdue import owing
from quarry.spans.quantities import dimension_of
from quarry.spans.question import Ask, Function
from quarry.spans.united_tables import are_called_people, meant_table, named, nearest, nearest_people

TARGET_MENTIONS_MAX = 5
"""So many mentions behind "average" its number is named."""
_BESIDE_MENTIONS_MAX = 2

_SUPERLATIVES: tuple[AskedFor, ...] = ("most", "least", "largest", "smallest")
_LOW: tuple[AskedFor, ...] = ("least", "smallest")
_FUNCTIONS: Mapping[AskedFor, Function] = {"average": "avg", "total": "sum", "largest": "max", "smallest": "min"}
_OF_SPEED = ("fast", "quick", "slow")
_OF_SIZE = ("big", "larg", "large", "small")
_IN_TIME: tuple[AskedFor, ...] = ("first", "last")
_OF_AGE = ("oldest", "youngest", "altest", "jungst", "ancien", "vieux", "jeune")
_IS_A_SUM = ALREADY_SUMMED | frozenset(
    map(stem, "revenue revenues sales turnover takings earnings proceeds income".split())
)
"""What asks by itself for a sum over rows."""
_LITTLE = frozenset(("cheap", "short", "light", "young", "slow", "small", "low", "quick"))
_ALTOGETHER = ("in total", "altogether", "overall")
_HABITUALLY = ("do", "does")
_OF_EVERY = frozenset("per each every".split())
"""What a number is told for, not what rows are ranked by: "the cheapest per day"."""


@dataclass(frozen=True)
class Reckoning:
    """What is asked; None where nothing tells it. `places` are the mentions that say it."""

    ask: Ask | None
    places: tuple[int, ...]


def reckoning_of(parsed: ParsedQuery, table: SearchTable) -> Reckoning | None:
    """What is asked to be reckoned of the numbers of `table`; None where nothing is."""
    if not table.reckons:
        return None
    asked = {mention.value.what for mention in parsed.mentions if isinstance(mention.value, Asked)}
    names_facet = any(isinstance(mention.value, FacetName) for mention in parsed.mentions)
    bills = _bills(parsed)
    reckoned = {"average", "total", "measure", "group", "count", "compare", *_SUPERLATIVES, *_IN_TIME}
    if not (asked & reckoned or ((names_facet or bills is not None) and asked <= {"list"})):
        return None
    if (owed := _owes_most(parsed, table, asked)) is not None:
        return owed
    if bills is not None:
        return _Reader(parsed, table, bills).read()
    if _is_of_money(parsed, table):
        # who spends is named, not what tells how much
        of_money = meant_table(parsed, table, lambda each: any(map(is_main_amount, _numbers(each))))
        return _Reader(parsed, of_money).read()
    return _Reader(parsed, meant_table(parsed, table)).read()


_SUBJECTS = frozenset("i we they you he she".split())


def _bills(parsed: ParsedQuery) -> int | None:
    """The place of what rows are called where it is a verb of money: "what did we invoice"."""
    mentions, said = parsed.mentions, parsed.said
    for place in range(2, len(mentions)):
        is_verb = mentions[place].value == Cue("noun") and stem(said(mentions[place]).lower()) in MONEY_VERBS
        if is_verb and said(mentions[place - 1]).lower() in _SUBJECTS and said(mentions[place - 2]).lower() == "did":
            return place
    return None


def _is_of_money(parsed: ParsedQuery, table: SearchTable) -> bool:
    """Whether a verb asks for money, and no number is named."""
    numbers = {facet.name for each in table.united for facet in _numbers(each)}
    is_named = any(isinstance(each.value, FacetName) and numbers & {*each.value.facets} for each in parsed.mentions)
    return not is_named and any(stem(token.key) in MONEY_VERBS for token in parsed.tokens)


def _owes_most(parsed: ParsedQuery, table: SearchTable, asked: Set[AskedFor]) -> Reckoning | None:
    """ "Who owes the most": whose unpaid amounts come to most, where rows tell of one kind of customers."""
    owed = owing(parsed, table) if asked & {"most"} and not asked - {"most", "list"} else None
    if owed is None:
        return None
    place, rows, _ = owed
    most = next(at for at, each in enumerate(parsed.mentions) if each.value == Asked("most"))
    amounts = [facet for facet in _numbers(rows) if is_main_amount(facet)]
    buyers = [facet for facet in rows.facets if facet.is_listed and singular(keys(facet.label)[-1]) in BUYERS]
    least = min((facet.steps for facet in buyers), default=0)
    buyers = [facet for facet in buyers if facet.steps == least]
    if len(amounts) != 1 or len(buyers) != 1:
        return Reckoning(None, (most,))
    ask = Ask("groups", buyers[0].name, None, False, 1, function="sum", of=amounts[0].name)
    said = [
        each
        for each in parsed.mentions
        if isinstance(each.value, FacetName)
        or (each.value == Cue("noun") and singular(parsed.said(each).lower()) not in rows.nouns)
    ]
    is_named = all(singular(parsed.said(each).lower()) == buyers[0].label.lower() for each in said)
    places = (at for at, each in enumerate(parsed.mentions) if each in said or each.value == Asked("list"))
    return Reckoning(ask, (most, place, *places)) if is_named else Reckoning(None, (most,))


class _Reader:
    def __init__(self, parsed: ParsedQuery, table: SearchTable, bills: int | None = None) -> None:
        self.text = parsed.text
        self.said = parsed.said
        self.asks_who = parsed.asks_who
        self.tokens = parsed.tokens
        self.mentions: Sequence[Mention] = parsed.mentions
        self.table = table
        self.facets = table.by_name
        self.spoken = spoken_date(parsed.mentions, table)
        self.bills = bills
        self.kinds: dict[AskedFor, int] = {}
        self.limit: int | None = None
        for place, mention in enumerate(parsed.mentions):
            if isinstance(mention.value, Asked):
                self.kinds.setdefault(mention.value.what, place)
                self.limit = self.limit or mention.value.number

    def read(self) -> Reckoning | None:
        shares = [place for place, each in enumerate(self.mentions) if self._is_share(each)]
        whole = self._cannot(shares[0]) if shares else self._together()
        if whole is not None:
            return whole
        superlative = next((kind for kind in _SUPERLATIVES if kind in self.kinds), None)
        of_all: tuple[AskedFor, ...] = ("average", "total")
        for what in of_all:
            if what in self.kinds:
                return self._of_all(what, superlative) or self._cannot(self.kinds[what])
        if "statistic" in self.kinds or "compare" in self.kinds:
            # "revenue this year versus last year"
            return self._begins_with_number() if self.kinds.keys() == {"compare"} else None
        if superlative:
            return self._superlative(superlative)
        in_time = next((kind for kind in _IN_TIME if kind in self.kinds), None)
        if in_time:
            return self._in_time(in_time)
        if "measure" in self.kinds:
            return self._how_much(self.kinds["measure"])
        if self.bills is not None:
            return self._what_was_billed(self.bills - len(("what", "did", "we")))
        if "count" in self.kinds and not self.kinds.keys() - {"count", "group"}:
            return self._how_many(self.kinds["count"])
        return None if self.kinds.keys() - {"list", "group"} else self._begins_with_number()

    def _begins_with_number(self) -> Reckoning | None:
        """ "Cost by month", "what is the cost by month"; of what is a sum by its name, also over all: "revenue in 2025"."""
        opening = (Cue("filler"), Asked("list"))
        first = next((place for place, each in enumerate(self.mentions) if each.value not in opening), 0)
        value = self.mentions[first].value
        is_leading = first + 1 < len(self.mentions) and self.mentions[first + 1].value != Cue("noun")
        facet = self._number(value) if isinstance(value, FacetName) and is_leading else None
        is_sum = "group" in self.kinds or not _IS_A_SUM.isdisjoint(stems_of(self.said(self.mentions[first])))
        return self._grouped("sum", facet, (first,), None) if facet and is_sum and is_additive(facet) else None

    def _is_share(self, mention: Mention) -> bool:
        """ "Top 10%"."""
        following = self.text[mention.end : mention.end + 8].lstrip()
        return (
            isinstance(mention.value, Asked) and mention.value.number is not None and following.startswith(("%", "per"))
        )

    # ---- several functions at once ----

    def _together(self) -> Reckoning | None:
        """ "The minimum and maximum weight", "average age and highest salary by team": each function of the number behind it;
        None where no several are asked for.
        """
        asked = [place for place in range(len(self.mentions)) if self._function_at(place)]
        targets = [self._number_after(place) for place in asked]
        if len({self._function_at(place) for place in asked}) < 2 or not all(map(self._are_joined, asked, asked[1:])):
            return None
        named = [target for target in targets if target is not None]
        if len(named) < len(asked) or self.limit is not None:
            return None
        reckoned = [
            (function, facet)
            for place, (_, facet) in zip(asked, named, strict=True)
            if (function := self._function_at(place))
        ]
        if any(function == "sum" and not is_additive(facet, is_asked=True) for function, facet in reckoned):
            return self._cannot(asked[0])
        (function, facet), *others = reckoned
        used = tuple(dict.fromkeys((*asked, *(place for place, _ in named))))
        one = self._grouped(function, facet, used, None)
        if one is None or one.ask is None:
            return self._cannot(asked[0])
        also = tuple((function, facet.name) for function, facet in others)
        return Reckoning(replace(one.ask, also=also), one.places)

    def _function_at(self, place: int) -> Function | None:
        value = self.mentions[place].value
        return _FUNCTIONS.get(value.what) if isinstance(value, Asked) and value.number is None else None

    def _are_joined(self, one: int, other: int) -> bool:
        """Whether two functions are listed, with nothing but the names of their numbers between."""
        between = self.mentions[one + 1 : other]
        said = self.text[self.mentions[one].end : self.mentions[other].start]
        is_listed = "," in said or any(each.value == Cue("and") for each in between)
        return is_listed and all(
            isinstance(each.value, FacetName) or each.value in (Cue("and"), Cue("filler")) for each in between
        )

    # ---- sums and averages ----

    def _of_all(self, what: AskedFor, superlative: AskedFor | None) -> Reckoning | None:
        place = self.kinds[what]
        if what == "average" and self.kinds.get("count") == place + 1:
            # "the average number of seats"
            place = self.kinds.pop("count")
        target = self._number_after(place) or self._number_at(place) or self._number_at(self.kinds.get("total"))
        target = target or (self._of_payments(place) if what == "total" else None)
        if target is None and what == "average" and (target := self._number_before(place)):
            # "how much do they cost on average"
            self.kinds.pop("measure", None)
        if target is None or {"count", "distinct", "exists", "statistic", "compare", "measure"} & self.kinds.keys():
            return None
        used, facet = target
        if superlative and self.kinds[superlative] > place:
            # "the total revenue of the top 3 customers": a sum over groups
            return None
        if what == "total" and place and self.mentions[place - 1].value == Cue("light"):
            # "running total"
            return None
        function: Function = "avg" if what == "average" else "sum"
        if function == "sum" and not is_additive(facet, is_asked=True) and not self._says_sum(place):
            return None
        return self._grouped(function, facet, (place, used), superlative)

    def _says_sum(self, place: int) -> bool:
        """Whether a sum is asked for in so many words, of whatever."""
        return "sum" in stems_of(self.said(self.mentions[place]))

    def _grouped(
        self, function: Function, facet: Facet, used: tuple[int, ...], superlative: AskedFor | None
    ) -> Reckoning | None:
        """Over all rows, or over those of each value of what else is named: by it, or which of them has most."""
        groups = groups_in(self.mentions)
        dimension = self._dimension(used)
        if len(groups) > 1 or (groups and dimension is None):
            return None
        if superlative:
            used = (*used, self.kinds[superlative])
        if dimension is None:
            if superlative:
                return self._extreme(facet, superlative, used) if function == "sum" else None
            return Reckoning(Ask("measure", function=function, of=facet.name), used)
        if not groups and not superlative:
            return None
        place, name = dimension
        limit = (self.limit or 1) if superlative else None
        ask = Ask(
            "groups",
            self._own(name),
            name.grain,
            ascending=superlative in _LOW,
            limit=limit,
            function=function,
            of=facet.name,
        )
        return Reckoning(ask, (*used, place, *groups))

    # ---- the earliest and the latest ----

    def _in_time(self, kind: AskedFor) -> Reckoning | None:
        """ "The newest book", "the first order": the one row, by its date or its year; several without a number are listed."""
        place = self.kinds[kind]
        nouns = [self.said(each).lower() for each in self.mentions if each.value == Cue("noun")]
        is_list = self.limit is None and any(plural(singular(noun)) == noun for noun in nouns)
        if self.table.united or not self.table.reckons or is_list or self.kinds.keys() & {"group", "when", "count"}:
            return None
        facet = self._timed(place)
        if facet is None:
            return self._cannot(place) if self._is_of_people else None
        ask = Ask(
            "extreme", facet.name, ascending=kind == "first", limit=self.limit or 1,
            function="min" if kind == "first" else "max",
        )  # fmt: skip
        return Reckoning(ask, (place,))

    @property
    def _is_of_people(self) -> bool:
        return self.asks_who or are_called_people(self.table)

    def _timed(self, place: int) -> Facet | None:
        """What rows are put in the order of time by: the date of the verb, their age where that is asked for, else their date, or
        their only year.
        """
        if self.spoken is not None:
            return self.spoken
        if any(fold(key).startswith(_OF_AGE) for key in keys(self.said(self.mentions[place]))):
            return aged_by(self.table, of_people=self._is_of_people)
        dated = [facet for facet in self.table.facets if facet.name == self.table.date]
        return next(iter((*dated, *years_of_making(self.table))), None)

    # ---- the highest and the lowest ----

    def _superlative(self, kind: AskedFor) -> Reckoning | None:
        place = self.kinds[kind]
        if by := self._number_grouped_by():
            return self._ranked_by(kind, by)
        if rate := self._rate():
            return self._most_per(kind, *rate)
        if kind in ("largest", "smallest") and (named := self._number_after(place, _BESIDE_MENTIONS_MAX)):
            return self._highest("smallest" if self._says_little(place) else kind, named)
        if kind in ("most", "least") and (named := self._number_after(place, 1)):
            return self._most_of(kind, named)
        adjective = self._adjective(place)
        if adjective is not None:
            return self._quickest(kind, adjective) or self._described(kind, adjective)
        amount = amount_of_sale(self.table) if kind in ("largest", "smallest") else None
        if (
            amount is not None
            and self.mentions[place + 1 : place + 2]
            and self.mentions[place + 1].value == Cue("noun")
        ):
            # "the highest fine"
            return self._extreme(amount, kind, (place,))
        if kind in ("most", "least") and (measured := self._measure_verb(place)):
            # "which observer took the most": the most of what?
            is_of_rows = self._dimension((measured[0],)) is None
            return self._extreme(measured[1], kind, (measured[0],)) if is_of_rows else self._cannot(place)
        verb = self._money_verb()
        money = self._only_money()
        if kind in ("most", "least") and verb is not None:
            found = money and self._grouped("sum", money, (verb,), kind)
            return found if found and found.ask and found.ask.kind == "groups" else self._cannot(place)
        return None

    def _described(self, kind: AskedFor, adjective: tuple[int, str]) -> Reckoning | None:
        """ "The cheapest product", "the least expensive one", "the lowest rated"."""
        place, facet = self.kinds[kind], self._facet_of_adjective(adjective[1])
        if facet is None and adjective[1] in _OF_SIZE:
            facet = amount_of_sale(self.table)
        if facet is None:
            return self._cannot(place) if adjective[1] in MONEY_ADJECTIVES else None
        # "lowest rated" says by itself that it is little
        is_low = kind in _LOW if adjective[1] in PARTICIPLES else (adjective[1] in _LITTLE) != (kind == "least")
        if "group" in self.kinds:
            return self._cannot(place)
        return self._extreme(facet, "smallest" if is_low else "largest", (place, adjective[0]))

    def _quickest(self, kind: AskedFor, adjective: tuple[int, str]) -> Reckoning | None:
        """ "Which smith is fastest": who or what takes the least time on average; None where no group is asked for."""
        durations = [each for each in _numbers(self.table) if dimension_of(each.unit) == "time"]
        dimension = self._dimension((adjective[0],))
        is_of_speed = adjective[1] in _OF_SPEED and not self.table.united and len(durations) == 1
        if not is_of_speed or dimension is None or not self._asks_for(dimension[0]):
            return None
        place, name = dimension
        is_short = (adjective[1] != "slow") == (kind != "least")
        ask = Ask("groups", self._own(name), None, is_short, self.limit or 1, function="avg", of=durations[0].name)
        return Reckoning(ask, (place, adjective[0], self.kinds[kind]))

    def _highest(self, kind: AskedFor, named: tuple[int, Facet]) -> Reckoning | None:
        used, facet = named
        dimension = self._dimension((used,))
        function: Function = "min" if kind == "smallest" else "max"
        if dimension is None:
            return self._cannot(used) if "group" in self.kinds else self._extreme(facet, kind, (used,))
        if "group" in self.kinds:
            return self._grouped(function, facet, (used, self.kinds[kind]), None)
        if not self._asks_for(dimension[0]):
            return self._cannot(used)
        # what several rate is as good as they say on average: nearly all have the highest mark of somebody
        is_rating = facet in facets_of_adjective("rate", (facet,))
        function = "avg" if is_rating else "sum" if is_additive(facet) else function
        return self._grouped(function, facet, (used,), kind)

    def _rate(self) -> tuple[tuple[int, ...], Facet] | None:
        """ "Per day", where a number is called so (`price_per_day`): the places of the words, and the number."""
        said = [token.key for token in self.tokens]
        for facet in _numbers(self.table):
            called = facet.name_words
            tail = called[called.index("per") + 1 :] if "per" in called else ()
            for first in range(1, len(said)) if tail else ():
                if said[first - 1] in _OF_EVERY and (*said[first : first + len(tail)],) == tail:
                    start, end = self.tokens[first - 1].start, self.tokens[first + len(tail) - 1].end
                    return tuple(
                        place for place, each in enumerate(self.mentions) if start <= each.start and each.end <= end
                    ), facet
        return None

    def _most_per(self, kind: AskedFor, used: tuple[int, ...], facet: Facet) -> Reckoning | None:
        """ "The cheapest per day", "which costs the most per day"."""
        place = self.kinds[kind]
        adjective, is_low = self._adjective(place), kind in _LOW
        if adjective is not None:
            if facet not in facets_of_adjective(adjective[1], _numbers(self.table)):
                return self._cannot(place)
            used, is_low = (*used, adjective[0]), (adjective[1] in _LITTLE) != (kind == "least")
        elif verb := self._measure_verb(place):
            used = (*used, verb[0])
        dimension = self._dimension(used)
        if dimension is not None and self._asks_for(dimension[0]):
            return self._cannot(place)
        return self._extreme(facet, "smallest" if is_low else "largest", used)

    def _measure_verb(self, place: int) -> tuple[int, Facet] | None:
        """ "Costs the most", "weighs least": the place of the verb before a superlative, and the only number that it measures."""
        before = place - 1
        while before >= 0 and self.mentions[before].value == Cue("filler"):
            before -= 1
        if before < 0 or not (
            isinstance(self.mentions[before].value, Word) or self.mentions[before].value == Cue("light")
        ):
            return None
        said = self.said(self.mentions[before])
        measured = compared(said, list(_numbers(self.table))) if is_measuring(said) and not self.table.united else []
        return (before, measured[0]) if len(measured) == 1 else None

    def _most_of(self, kind: AskedFor, named: tuple[int, Facet]) -> Reckoning | None:
        """ "Which warehouse has the most stock", "which product has the least stock"."""
        used, facet = named
        dimension = self._dimension((used,))
        if dimension is None:
            return self._extreme_of_people(facet, kind, used)
        if not is_additive(facet) or not self._asks_for(dimension[0]):
            return self._cannot(used)
        return self._grouped("sum", facet, (used,), kind)

    def _extreme_of_people(self, facet: Facet, kind: AskedFor, used: int) -> Reckoning:
        """The row with the most or, where "who" asks for somebody of whom rows tell, who has the most altogether."""
        place = self.kinds.get("list")
        people = nearest_people(self.table.facets) if self.asks_who else []
        if not people:
            return self._extreme(facet, kind, (used,))
        if len(people) > 1 or place is None or not is_additive(facet):
            return self._cannot(used)
        ask = Ask("groups", people[0].name, None, kind in _LOW, self.limit or 1, function="sum", of=facet.name)
        return Reckoning(ask, (used, place, self.kinds[kind]))

    def _ranked_by(self, kind: AskedFor, by: tuple[int, int, Facet]) -> Reckoning | None:
        """ "Top 5 customers by revenue"."""
        group, used, facet = by
        dimension = self._dimension((used,))
        if dimension is None:
            return self._extreme(facet, kind, (used, group))
        if not is_additive(facet):
            return self._cannot(used)
        place, name = dimension
        ask = Ask(
            "groups", self._own(name), name.grain, kind in _LOW, self.limit or 1,
            function="sum", of=facet.name,
        )  # fmt: skip
        return Reckoning(ask, (used, group, place, self.kinds[kind]))

    def _extreme(self, facet: Facet, kind: AskedFor, used: tuple[int, ...]) -> Reckoning:
        ask = Ask(
            "extreme",
            facet.name,
            ascending=kind in _LOW,
            limit=self.limit or 1,
            function="min" if kind in _LOW else "max",
        )
        superlative = next(self.kinds[each] for each in _SUPERLATIVES if each in self.kinds)
        return Reckoning(ask, (*used, superlative))

    # ---- how much, how many ----

    def _how_many(self, place: int) -> Reckoning | None:
        """ "How many units were sold": of a number that counts things, the sum; "how many km", of what is measured so."""
        if measured := self._in_unit(place + 1):
            return self._grouped("sum", measured, (place, place + 1), None)
        named = self._number_after(place, 1)
        if named is None or named[1].kind != "number":
            return None
        if not (_counts_things(named[1]) or (is_additive(named[1], is_asked=True) and self._says_altogether())):
            return None
        return self._grouped("sum", named[1], (place, named[0]), None)

    def _in_unit(self, place: int) -> Facet | None:
        """The only number that is measured in the unit at `place`, and whose sum says something."""
        unit = self._stem_at(place) if place < len(self.mentions) else None
        measured = [
            facet
            for each in self.table.united or (self.table,)
            for facet in _numbers(each)
            if unit and facet.unit and stem(facet.unit) == unit
        ]
        return measured[0] if len(measured) == 1 and is_additive(measured[0], is_asked=True) else None

    def _says_altogether(self) -> bool:
        return any(each.value == Cue("filler") and self.said(each).lower() in _ALTOGETHER for each in self.mentions)

    def _how_much(self, place: int) -> Reckoning | None:
        said = keys(self.said(self.mentions[place]))
        if said == ("how", "long") and len(self.tokens) > len(said) and self.tokens[len(said)].key in _HABITUALLY:
            return self._usually(place)
        if said != ("how", "much") or {"when", "statistic", "compare"} & self.kinds.keys():
            return None
        named = self._number_after(place, 1)
        if named is not None and is_additive(named[1]):
            return self._grouped("sum", named[1], (place, named[0]), None) or self._cannot(place)
        return self._summed(place)

    def _what_was_billed(self, place: int) -> Reckoning | None:
        """ "What did we invoice": the sum; "which customers did we invoice" asks for none."""
        is_what = place >= 0 and self.said(self.mentions[place]).lower() == "what"
        return self._summed(place) if is_what and self.kinds.keys() == {"list"} else None

    def _summed(self, place: int) -> Reckoning | None:
        """What was paid or earned altogether, by a verb of it."""
        verb, money = self._money_verb(), self._only_money()
        if verb is None:
            return None
        spent = tuple(other for other, each in enumerate(self.mentions) if self._stem_at(other) == "money")
        if self.mentions[verb].source != "rule":
            # else what is paid has happened, on whatever date
            spent = (verb, *spent)
        return (money and self._grouped("sum", money, (place, *spent), None)) or self._cannot(place)

    def _usually(self, place: int) -> Reckoning | None:
        """ "How long does it take to mend a boat": the average."""
        behind = range(place + 1, min(len(self.mentions), place + TARGET_MENTIONS_MAX) + 1)
        measured = next((found for other in behind if (found := self._measure_verb(other))), None)
        return self._grouped("avg", measured[1], (place, measured[0]), None) if measured else None

    def _money_verb(self) -> int | None:
        if self.bills is not None:
            return self.bills
        return next((place for place in range(len(self.mentions)) if self._stem_at(place) in MONEY_VERBS), None)

    def _stem_at(self, place: int) -> str | None:
        mention = self.mentions[place]
        if isinstance(mention.value, Word) and not mention.value.is_name:
            return mention.value.stem
        if (
            isinstance(mention.value, Known)
            or mention.value == Cue("light")
            or (isinstance(mention.value, FacetName) and mention.source == "rule")
        ):
            word = self.said(mention)
            return stem(word) if word.islower() and word.isalpha() else None
        return None

    def _only_money(self) -> Facet | None:
        """The amount that rows have, where they have one; of several tables, of the only one that can tell all values said."""
        amounts = {
            each.name: [facet for facet in _numbers(each) if is_main_amount(facet)]
            for each in self.table.united or (self.table,)
        }
        tables: Sequence[SearchTable] = [each for each in self.table.united or (self.table,) if amounts[each.name]]
        if self.bills is not None:
            # of invoices, or of their lines
            bill = singular(self.said(self.mentions[self.bills]).lower())
            own = next((each.source for each in self.table.united if bill in each.nouns), None)
            lines = [each for each in tables if any(own in facet.via for facet in each.facets)]
            tables = [each for each in tables if bill in each.nouns] or lines
            if len(tables) == 1 and tables == lines:
                # what other rows have by that name too may be told of these
                shared = {facet.name for each in self.table.united if each not in tables for facet in each.facets}
                tables = [] if shared & {facet.name for facet in amounts[tables[0].name]} else tables
        elif len(self.table.united) > 1:
            said = named(mention for mention in self.mentions if self._stem_at_verb(mention) is None)
            tables = nearest(tables, said) if said else []
        found = [amounts[each.name] for each in tables]
        return found[0][0] if len(found) == 1 and len(found[0]) == 1 else None

    def _stem_at_verb(self, mention: Mention) -> str | None:
        word = stem(self.said(mention))
        return word if word in MONEY_VERBS else None

    # ---- parts ----

    def _number_after(self, place: int, within: int = TARGET_MENTIONS_MAX) -> tuple[int, Facet] | None:
        """The number that is named behind `place`, within so many mentions, articles and the like not counted."""
        steps = 0
        for other in range(place + 1, len(self.mentions)):
            value = self.mentions[other].value
            if isinstance(value, FacetName) and (facet := self._number(value)):
                return other, facet
            if isinstance(value, Asked) and value.what == "group":
                return None
            is_light = self._says_which(value) or (
                isinstance(value, Cue) and value.what in ("filler", "relates", "negates_one")
            )
            steps += not is_light
            if steps >= within and not is_light:
                return None
        return None

    def _says_which(self, value: Value) -> bool:
        """Whether it is a yes or no, which says of which rows a number is ("billable hours")."""
        facets = {
            facet.name
            for each in self.table.united or (self.table,)
            for facet in each.facets
            if facet.kind == "boolean"
        }
        return isinstance(value, FacetName) and {*value.facets} <= facets

    def _number_before(self, place: int) -> tuple[int, Facet] | None:
        """The number that is named last before `place`, or that a verb there measures."""
        for behind in range(place, max(0, place - TARGET_MENTIONS_MAX), -1):
            value = self.mentions[behind - 1].value
            if isinstance(value, FacetName) and (facet := self._number(value)):
                return behind - 1, facet
            if measured := self._measure_verb(behind):
                return measured
        return None

    def _number_at(self, place: int | None) -> tuple[int, Facet] | None:
        """ "The total of all invoices", where a number is called total."""
        if place is None:
            return None
        said = set(stems_of(self.said(self.mentions[place])))
        named = [facet for facet in _numbers(self.table) if set(stems_of(facet.label)) & said]
        return (place, named[0]) if len(named) == 1 else None

    def _of_payments(self, place: int) -> tuple[int, Facet] | None:
        """ "Total payments": the amount of rows that are amounts themselves."""
        behind = next((each for each in self.mentions[place + 1 : place + 3] if each.value == Cue("noun")), None)
        is_rows = behind is not None and stems_of(self.said(behind))[-1] in PAYMENTS
        amounts = [facet for facet in _numbers(self.table) if facet.kind == "money"]
        return (place, amounts[0]) if is_rows and len(amounts) == 1 and not self.table.united else None

    def _number(self, name: FacetName) -> Facet | None:
        if name.grain:
            return None
        numbers = {facet.name: facet for facet in _numbers(self.table)}
        found = [numbers[facet] for facet in name.facets if facet in numbers]
        # of several tables none is named: any may be meant
        return found[0] if found and not (self.table.united and len(found) > 1) else None

    def _own(self, name: FacetName) -> str:
        """The facet of that name that this table has."""
        return facet_called(name, self.spoken, self.facets)

    def _number_grouped_by(self) -> tuple[int, int, Facet] | None:
        """ "By revenue": the place of the "by", of the name, and the number."""
        place = self.kinds.get("group")
        if place is not None and _OF_EVERY & {*keys(self.said(self.mentions[place]))}:
            return None
        found = self._number_after(place, 1) if place is not None else None
        return (place, *found) if place is not None and found else None

    def _dimension(self, used: Sequence[int]) -> tuple[int, FacetName] | None:
        """What else is named, that rows can be grouped by: that behind "by" or "which", else the first."""
        names = [
            (place, mention.value)
            for place, mention in enumerate(self.mentions)
            if isinstance(mention.value, FacetName) and place not in used and mention.source != "rule"
            and mention.assertion == "affirmed" and self._is_dimension(mention.value) and not self._introduces(place)
        ]  # fmt: skip
        led = [each for each in names if self._asks_for(each[0])]
        return next(iter((*led, *names)), None)

    def _is_dimension(self, name: FacetName) -> bool:
        facet = self.facets.get(self._own(name))
        return bool(name.grain) or (facet is not None and facet.kind not in ("boolean", "number", "money", "date"))

    def _introduces(self, place: int) -> bool:
        """Whether a facet's name only says what the value beside it is ("in the city Porto")."""
        beside = (self.mentions[other] for other in (place - 1, place + 1) if 0 <= other < len(self.mentions))
        return any(
            isinstance(each.value, Known) and self._own_facet(place) in {value.facet for value in each.value.values}
            for each in beside
        )

    def _own_facet(self, place: int) -> str | None:
        value = self.mentions[place].value
        return self._own(value) if isinstance(value, FacetName) else None

    def _asks_for(self, place: int) -> bool:
        """Whether "which", "by" or "top 5" leads to the name at `place`."""
        for other in range(place - 1, max(-1, place - 1 - _BESIDE_MENTIONS_MAX), -1):
            value = self.mentions[other].value
            if isinstance(value, Asked):
                return value.what in ("list", "group", *_SUPERLATIVES)
            if not isinstance(value, Cue) or value.what != "filler":
                return False
        return False

    def _adjective(self, place: int) -> tuple[int, str] | None:
        """What a superlative says most of, as the stem of its adjective: "cheapest" itself, or the word behind "most"."""
        following = place + 1
        said = self._stem_at(following) if following < len(self.mentions) else None
        if self.kinds.keys() & {"most", "least"} and following < len(self.mentions):
            if said is None and isinstance(self.mentions[following].value, FacetName):
                said = stem(self.said(self.mentions[following]))
            return (following, said) if said and said in ADJECTIVES else None
        if said in PARTICIPLES:
            # "highest rated"
            return following, said
        for word in keys(self.said(self.mentions[place])):
            for bare in _positives(word):
                if stem(bare) in ADJECTIVES:
                    return place, stem(bare)
        return None

    def _says_little(self, place: int) -> bool:
        """Whether a superlative is of an adjective that says little of something ("the shortest duration")."""
        said = keys(self.said(self.mentions[place]))
        return any(stem(bare) in _LITTLE for word in said for bare in _positives(word))

    def _facet_of_adjective(self, adjective: str) -> Facet | None:
        if self.table.united:
            return None
        called = facets_of_adjective(adjective, _numbers(self.table))
        return called[0] if len(called) == 1 else None

    def _cannot(self, place: int) -> Reckoning:
        return Reckoning(None, (place,))


def _counts_things(facet: Facet) -> bool:
    """Whether a number is of things: a quantity, "units in stock"; of minutes only if it is called that, and nothing else."""
    said = words_of(facet)
    is_called_so = bool(said & (QUANTITIES | {"stock"})) or any(plural(singular(key)) == key for key in said)
    return is_additive(facet) and (facet.unit is None or said == {facet.unit}) and is_called_so


def groups_in(mentions: Sequence[Mention]) -> list[int]:
    """Where the question says by what rows are grouped; "by each" says it once."""
    found: list[int] = []
    last = -1
    for place, mention in enumerate(mentions):
        if isinstance(mention.value, Asked) and mention.value.what == "group":
            if not found or last < place - 1:
                found.append(place)
            last = place
        elif mention.value == Cue("filler") and last == place - 1:
            last = place
    return found


def _numbers(table: SearchTable) -> Iterator[Facet]:
    return (facet for facet in table.facets if facet.is_measurable and facet.kind in ("number", "money"))


_GERMAN = {
    "schwer": "heavy", "leicht": "light", "lang": "long", "kurz": "short", "teuer": "expensive", "billig": "cheap",
    "gunstig": "cheap", "gross": "large", "klein": "small", "schnell": "fast", "langsam": "slow", "breit": "wide", "tief": "deep",
}  # fmt: skip
_GERMAN_SUPERLATIVE = re.compile(r"([a-z]{4,}?)(?:es|s)?t(?:e|en|er|es)")


def _positives(word: str) -> Iterator[str]:
    """What a superlative may be of: "cheapest" → "cheap", "heaviest" → "heavy", "largest" → "large", "biggest" → "big"; of a
    German one, in English.
    """
    german = _GERMAN_SUPERLATIVE.fullmatch(fold(word).replace("ß", "ss"))
    if german and german[1] in _GERMAN:
        yield _GERMAN[german[1]]
    if word.endswith("iest"):
        yield word.removesuffix("iest") + "y"
    if word.endswith("est"):
        bare = word.removesuffix("est")
        yield bare
        yield bare + "e"
        if len(bare) > 2 and bare[-1] == bare[-2]:
            yield bare[:-1]
