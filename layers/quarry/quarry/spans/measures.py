"""Which number of the rows a comparison speaks of: by what is named beside it, by its unit, or by its adjective."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet
from quarry.spans.quantities import Dimension, dimension_of

ADJECTIVES: Mapping[str, tuple[str, ...]] = {
    "expens": ("price", "cost", "fee", "rate"), "cheap": ("price", "cost", "fee", "rate"),
    "costli": ("price", "cost", "fee", "rate"), "dear": ("price", "cost", "fee", "rate"),
    "long": ("length", "duration", "runtime"), "short": ("length", "duration", "runtime", "height"),
    "quick": ("duration", "runtime"),
    "tall": ("height",), "heavi": ("weight", "mass"), "light": ("weight", "mass"), "old": ("age",), "young": ("age",),
    "deep": ("depth",), "wide": ("width",), "narrow": ("width",), "thick": ("thickness",), "thin": ("thickness",),
    "fast": ("speed",), "slow": ("speed",), "large": ("size",), "larg": ("size",), "big": ("size",), "small": ("size",),
    "rate": ("rating", "stars", "score"), "review": ("rating", "stars", "score"), "paid": ("salary", "wage", "pay"),
}  # fmt: skip
"""Adjectives and participles ("best rated"), by stem, and the nouns of what they say much or little of."""
_ON_TOP = frozenset("freight shipping postage tax vat discount tip".split())
"""Names of money that comes on top of a price: nobody means it by a plain amount."""
SIDE_AMOUNTS = _ON_TOP | frozenset("deposit balance budget refund".split())
"""Names of money that is not what something is paid with."""
SALES = frozenset("order invoice sale purchase booking ticket basket cart checkout receipt".split())
"""What rows are called that tell of what was sold."""
QUANTITIES = frozenset(("quantity", "qty"))
"""What numbers are called that count what a row is of."""
TOTALS = frozenset(("total", "subtotal"))
"""What names a price that is paid for all of a row: it is an amount."""
ALREADY_SUMMED = TOTALS | {"sum"}
AMOUNT_STEMS = frozenset(
    stem(noun)
    for noun in "revenue turnover sales profit valuation valued worth capitalisation capitalization cap arr mrr gmv ebitda "
    "earnings income debt loss price cost budget salary".split()
)
"""The stems of what amounts of money are called: beside one of these, an amount is no other."""
_OF_EACH = frozenset(
    "price rate age score rating percentage percent temperature year margin discount height width depth length".split()
)
"""Names of numbers that a row has by itself: their sum says nothing."""
_PAID_TO_EACH = frozenset("salary wage pay fee duration weight".split())
"""Names of numbers whose sum is told where it is asked for, but not meant by "top 5 by"."""
PAYMENTS = frozenset(
    stem(noun) for noun in "payment donation expense refund deposit contribution fine fee charge earning payout".split()
)
"""What rows are called that are amounts themselves: their total is a sum, where that of orders may be their number."""
MONEY_VERBS = frozenset(stem(verb) for verb in "spend spent pay paid earn earned invoice billed charge charged".split())
MONEY_ADJECTIVES = frozenset(("expens", "cheap", "costli", "dear"))
_SIZES: tuple[tuple[Dimension, ...], ...] = (("bytes", "area"), ("volume",), ("length",))
_DIMENSIONS: Mapping[str, tuple[tuple[Dimension, ...], ...]] = {
    "long": (("time", "length"),), "short": (("time", "length"),), "quick": (("time",),), "heavi": (("mass",),),
    "light": (("mass",),), "tall": (("length",),), "larg": _SIZES, "large": _SIZES, "big": _SIZES, "small": _SIZES,
    "wide": (("length",),), "deep": (("length",),),
}  # fmt: skip
"""What such adjectives measure, where a number's unit says that it is that: any of the first that there are."""
_VERBS: Mapping[str, str] = {
    stem(word): adjective
    for adjective, words in {
        "expens": "cost costs costing priced worth", "paid": "earn earns earned earning",
        "heavi": "weigh weighs weighed weighing",
        "long": "last lasts lasted lasting take takes took taking run runs ran running",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Verbs of measures, by stem, and the adjectives of what they measure."""


MEASURING = frozenset(ADJECTIVES.keys() | _VERBS.keys()) - set(map(stem, "earn earned run ran".split()))
"""The stems of all words that speak of a number without naming it, and of nothing else: who runs something does not last."""


def facets_of_adjective(adjective: str, numbers: Iterable[Facet]) -> list[Facet]:
    """Of some numbers, those that an adjective speaks of: called by its noun alone, else so among other words, else of such a
    unit; of what costs much or little any money, where nothing is called so.
    """
    of, given = ADJECTIVES.get(adjective, ()), list(numbers)
    for noun in of:
        whole = [facet for facet in given if any(keys(name) == (noun,) for name in _names(facet))]
        if whole:
            return whole
    called = [facet for facet in given if {*of} & {key for name in _names(facet) for key in keys(name)}]
    for dimensions in _DIMENSIONS.get(adjective, ()):
        called = called or [facet for facet in given if dimension_of(facet.unit) in dimensions]
    if not called and adjective in MONEY_ADJECTIVES:
        money = [facet for facet in given if facet.kind == "money"]
        called = [facet for facet in money if not is_side_amount(facet)]
        called = called or [facet for facet in money if not _ON_TOP & words_of(facet)]
    return called


def is_side_amount(facet: Facet) -> bool:
    """Whether it is money that is not what something costs: what comes on top of that, or is kept."""
    return bool(SIDE_AMOUNTS & words_of(facet))


def is_additive(facet: Facet, *, is_asked: bool = False) -> bool:
    """Whether the sum over rows says something: of amounts and quantities, not of prices, rates and ages. `is_asked`: the sum is
    asked for in so many words.
    """
    called = words_of(facet)
    return bool(called & ALREADY_SUMMED) or not called & (_OF_EACH if is_asked else _OF_EACH | _PAID_TO_EACH)


def words_of(facet: Facet) -> set[str]:
    """The words of what a number is called, by its name and its label."""
    return {*facet.name_words, *keys(facet.label)}


def compared(words: str, numbers: Sequence[Facet]) -> list[Facet]:
    """Of some numbers, those that a comparison's own words speak of: "longer than", "cost more than"."""
    for word in keys(words):
        for adjective in _adjectives(word):
            if found := facets_of_adjective(adjective, numbers):
                return found
        verb = _VERBS.get(stem(word))
        if verb and (found := facets_of_adjective(verb, numbers)):
            return found
    return []


def _adjectives(word: str) -> Iterator[str]:
    """What a word may be the comparative of: "longer" → "long", "heavier" → "heavi" (a stem); or itself: "expensive"."""
    if stem(word) in MONEY_ADJECTIVES:
        yield stem(word)
    bare = word.removesuffix("er")
    if bare != word:
        for each in (bare, bare + "e", bare[:-1] + "y" if bare.endswith("i") else bare, bare[:-1]):
            if stem(each) in ADJECTIVES:
                yield stem(each)


def _names(facet: Facet) -> tuple[str, ...]:
    return (facet.name.replace("_", " "), facet.label, *facet.words, *facet.units)


def words_measuring(names: Iterable[str]) -> frozenset[str]:
    """The stems of the adjectives and verbs that speak of what numbers of these names tell: "cost" and "expensive" of a price."""
    given = {*names}
    adjectives = {adjective for adjective, nouns in ADJECTIVES.items() if given & {*nouns}}
    dimensions = {dimension_of(name) for name in given} - {None}
    adjectives |= {adjective for adjective, of in _DIMENSIONS.items() if any(dimensions & {*each} for each in of)}
    return frozenset(adjectives | {verb for verb, adjective in _VERBS.items() if adjective in adjectives})
